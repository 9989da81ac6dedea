/* Hours beside numbers: 9 a.m., 9:30 pm, 21 Uhr, 9 h 30. Any thread. */
#ifndef DG_TEXT_NUMBERS_CLOCK_H
#define DG_TEXT_NUMBERS_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

enum dg_clock {
    /* not an hour, or an hour of an unknown half of the day */
    DG_CLOCK_NONE,
    /* an hour before noon; an hour after noon, on a clock of twelve hours */
    DG_CLOCK_AM,
    DG_CLOCK_PM,
    /* an hour on a clock of 24 hours */
    DG_CLOCK_DAY,
};

/* True if s[n] has a word for a part of the day ("abends", "du soir"), so that its hours may be
 * those of a half. */
bool dg_clock_has_daytime(const char *s, size_t n);

/* The minutes and the sign after an hour. */
struct dg_clock_signs {
    /* the two digits of its minutes; NULL: there are none */
    const char *minutes;
    /* bytes of the sign that says which hour it is ("p.m", "Uhr"), after the minutes; empty: there
     * is none, or it is before them ("9 h 30") */
    size_t sign, sign_end;
};

/* True if the number at s[begin] is the minutes of an hour before it: "9:30", "9.30", "9 h 30". */
bool dg_clock_is_minutes(const char *s, size_t begin);

/* What s[n] says of the number at s[begin, end) by the sign of an hour after it, or after its
 * minutes. *out: the minutes and the sign. */
enum dg_clock dg_clock_read(
    const char *s, size_t n, size_t begin, size_t end, struct dg_clock_signs *out);

/* False if hours x and y, each at most 24, are certainly different ones. */
bool dg_clock_same(int x, enum dg_clock of_x, int y, enum dg_clock of_y);

#endif
