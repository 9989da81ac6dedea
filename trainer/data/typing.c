#include "trainer/data/typing.h"

#include "base/alloc.h"
#include "text/letter_case.h"
#include "text/words.h"
#include "trainer/data/random.h"
#include "trainer/data/reserved.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Of a word that may get a typo: a shorter one may become another word. */
enum { LEAST_LETTERS = 4 };
enum { MAX_LETTERS = 64 };

struct typing {
    const struct dg_recipe_noise *how;
    const char *language;
    uint64_t random;
};

static double draw(struct typing *t)
{
    return dg_random_share(dg_random_next(&t->random));
}

/* A random index below n. */
static size_t choose(struct typing *t, size_t n)
{
    return (size_t)(draw(t) * (double)n);
}

static bool is_language(const char *code, const char *wanted)
{
    return !strncmp(code, wanted, 2) && !isalpha((unsigned char)code[2]);
}

/* The letter keys, row by row from the left. */
static const char *const *keyboard(const char *language)
{
    static const char *const qwerty[] = {"qwertyuiop", "asdfghjkl", "zxcvbnm", NULL},
                             *const qwertz[] = {"qwertzuiop", "asdfghjkl", "yxcvbnm", NULL},
                             *const azerty[] = {"azertyuiop", "qsdfghjklm", "wxcvbn", NULL};
    return is_language(language, "de") ? qwertz : is_language(language, "fr") ? azerty : qwerty;
}

/* Returns a letter beside the given one on the keyboard, in the same case; 0: the letter has no key
 * of its own. */
static char neighbour(struct typing *t, char letter)
{
    const char small = (char)tolower((unsigned char)letter);
    for (const char *const *row = keyboard(t->language); *row; row++) {
        const char *at = isalpha((unsigned char)small) ? strchr(*row, small) : NULL;
        if (!at)
            continue;
        const bool left = at != *row && (!at[1] || choose(t, 2));
        const char other = left ? at[-1] : at[1];
        return small == letter ? other : (char)toupper((unsigned char)other);
    }
    return 0;
}

/* Sets at[] to the offset of each letter and then the word's end; returns the number of letters. */
static size_t cut_letters(const char *s, size_t n, size_t at[MAX_LETTERS + 1])
{
    size_t letters = 0;
    for (size_t i = 0; i < n && letters < MAX_LETTERS; i++)
        if (((unsigned char)s[i] & 0xC0) != 0x80)
            at[letters++] = i;
    at[letters] = n;
    return letters;
}

enum slip { SWAPPED, LEFT_OUT, DOUBLED, NEIGHBOUR, SLIPS };

/* Appends the word s[n] with one typo. */
static void add_slip(struct typing *t, const char *s, size_t n, struct dg_buffer *out)
{
    size_t at[MAX_LETTERS + 1];
    const size_t letters = cut_letters(s, n, at);
    enum slip slip = (enum slip)choose(t, SLIPS);
    const size_t i = choose(t, slip == SWAPPED ? letters - 1 : letters);
    const char other = slip == NEIGHBOUR && at[i + 1] - at[i] == 1 ? neighbour(t, s[at[i]]) : 0;
    if (slip == NEIGHBOUR && !other)
        slip = LEFT_OUT;
    dg_buffer_add(out, s, at[i]);
    const char *letter = s + at[i], *rest = s + at[i + 1];
    const size_t bytes = at[i + 1] - at[i];
    if (slip == SWAPPED) {
        dg_buffer_add(out, rest, at[i + 2] - at[i + 1]);
        dg_buffer_add(out, letter, bytes);
        rest = s + at[i + 2];
    } else if (slip == DOUBLED) {
        dg_buffer_add(out, letter, bytes);
        dg_buffer_add(out, letter, bytes);
    } else if (slip == NEIGHBOUR) {
        dg_buffer_add(out, &other, 1);
    }
    dg_buffer_add(out, rest, n - (size_t)(rest - s));
}

static void add_slips(struct typing *t, const char *s, size_t n, struct dg_buffer *out)
{
    size_t done = 0, begin = 0, at[MAX_LETTERS + 1];
    bool alone;
    for (size_t end; (end = dg_word_next(s, n, done, &begin, &alone)) > 0; done = end) {
        dg_buffer_add(out, s + done, begin - done);
        if (cut_letters(s + begin, end - begin, at) >= LEAST_LETTERS && draw(t) < t->how->typos)
            add_slip(t, s + begin, end - begin, out);
        else
            dg_buffer_add(out, s + begin, end - begin);
    }
    dg_buffer_add(out, s + done, n - done);
}

/* Leaves blanks out, but not beside a reserved piece. */
static void merge_words(struct typing *t, const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        const bool inside =
            i > 0 && i + 1 < n && !dg_reserved_is(s[i - 1]) && !dg_reserved_is(s[i + 1]);
        if (s[i] != ' ' || !inside || draw(t) >= t->how->merges)
            dg_buffer_add(out, s + i, 1);
    }
}

/* Writes everything in lower case (one in two), only the first letter in lower case, or each word
 * with a capital. */
static int change_case(
    struct typing *t, const char *s, size_t n, struct dg_buffer *out, struct dg_error *err)
{
    const size_t kind = choose(t, 4), first = dg_letter_case_first_letter(s, n);
    size_t done = 0, begin = 0;
    bool alone;
    int rc = 0;
    if (kind < 2)
        return dg_letter_case_lower(t->language, s, n, out, err);
    if (kind == 2) {
        rc = dg_letter_case_lower(t->language, s, first, out, err);
        dg_buffer_add(out, s + first, n - first);
        return rc;
    }
    for (size_t end; !rc && (end = dg_word_next(s, n, done, &begin, &alone)) > 0; done = end) {
        const size_t letter = dg_letter_case_first_letter(s + begin, end - begin);
        dg_buffer_add(out, s + done, begin - done);
        rc = dg_letter_case_upper(t->language, s + begin, letter, out, err);
        dg_buffer_add(out, s + begin + letter, end - begin - letter);
    }
    dg_buffer_add(out, s + done, n - done);
    return rc;
}

int dg_typing(const struct dg_recipe_noise *how, const char *language, const char *s, size_t n,
    uint64_t key, struct dg_buffer *out, struct dg_error *err)
{
    struct typing t = {how, language, key};
    struct dg_buffer cased, slipped;
    dg_buffer_init(&cased);
    dg_buffer_init(&slipped);
    int rc = 0;
    if (draw(&t) < how->letter_case)
        rc = change_case(&t, s, n, &cased, err);
    else
        dg_buffer_add(&cased, s, n);
    if (!rc && cased.len)
        add_slips(&t, cased.data, cased.len, &slipped);
    if (!rc && slipped.len)
        merge_words(&t, slipped.data, slipped.len, out);
    dg_alloc_check(!cased.failed && !slipped.failed && !out->failed, "noise");
    dg_buffer_deinit(&cased);
    dg_buffer_deinit(&slipped);
    return rc;
}
