/* Hours of an English, German or French text: 9:30 a.m., 14 Uhr, 9 h 30, both of "14-18 Uhr". Any
 * thread. */
#ifndef DG_TEXT_NUMBERS_HOURS_H
#define DG_TEXT_NUMBERS_HOURS_H

#include "text/numbers/clock.h"
#include "text/word_language.h"

/* A text of n bytes. English says the half of the day ("p.m."), the others count to 24. */
struct dg_hours_text {
    const char *s;
    size_t n;
    enum dg_word_language language;
};

enum dg_hour_kind {
    /* with a sign of its own: 6 p.m. */
    DG_HOUR_SIGNED,
    /* the first of two hours with one sign: the 2 of 2-6 p.m. */
    DG_HOUR_FIRST,
    /* without a sign: 2:30, at 6 (English) */
    DG_HOUR_UNSIGNED,
    /* with a colon and nothing after it, as a small model writes: "at 2:" */
    DG_HOUR_BROKEN,
};

struct dg_hour {
    enum dg_hour_kind kind;
    /* bytes of its number; where its minutes end; bytes of the sign after them, "p.m" */
    size_t begin, end, number_end, sign, sign_end;
    int value;
    enum dg_clock clock;
    bool has_minutes;
    /* two digits; 00 without minutes */
    char minutes[2];
    /* the hour on a clock of 24 hours; -1 for 18 p.m.; "2:30" is taken for 2 at night */
    int day;
};

/* Find the next hour from byte `at` on. False: there is none. */
bool dg_hours_next(const struct dg_hours_text *t, size_t at, struct dg_hour *out);

#endif
