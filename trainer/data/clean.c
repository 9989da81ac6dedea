#include "trainer/data/clean.h"

#include "base/alloc.h"
#include "text/detect/langcheck.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[DG_N_DROPS] = {"kept", "not_utf8", "control_characters", "empty",
    "too_short", "too_long", "length_ratio", "identical", "no_letters", "language", "overlap",
    "near_copy", "duplicate", "unrelated", "too_many_tokens", "token_ratio", "weight_zero"};

const char *dg_drop_name(enum dg_drop why)
{
    return names[why];
}

enum class { PLAIN, SPACE, INVISIBLE, BAD };

static enum class class_of(int32_t c) {
    /* U+200C and U+200D stay: joiners change how Persian and Indic words are spelt. */
    if (c == 0xAD || c == 0x200B || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
        c == 0x2060 || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF) return INVISIBLE;
    if (dg_scan_is_space(c)) return SPACE;
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0xFFFD && c <= 0xFFFF) ? BAD : PLAIN;
}

/* Collapses white space and removes invisible characters, in place (the text only shrinks). Returns
 * the new length; SIZE_MAX: a character that is not allowed. */
static size_t squeeze(char *s, size_t n)
{
    size_t out = 0;
    bool space = false;
    for (size_t i = 0; i < n;) {
        size_t begin = i;
        switch (class_of(dg_scan_next(s, n, &i))) {
        case SPACE: space = out > 0; break;
        case BAD: return SIZE_MAX;
        case PLAIN:
            if (space)
                s[out++] = ' ';
            space = false;
            memmove(s + out, s + begin, i - begin);
            out += i - begin;
            break;
        default: break;
        }
    }
    return out;
}

/* True if s[n] is printable ASCII with single spaces, as most English lines are: it then needs none
 * of the work below. */
static bool is_plain(const char *s, size_t n)
{
    bool space = true;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c >= 0x7F || (c == ' ' && space))
            return false;
        space = c == ' ';
    }
    return n == 0 || !space;
}

int dg_clean_line(
    const char *line, size_t n, struct dg_buffer *out, enum dg_drop *why, struct dg_error *err)
{
    *why = DG_KEEP;
    if (is_plain(line, n)) {
        dg_buffer_add(out, line, n);
        dg_alloc_check(!out->failed, "a line");
        return 0;
    }
    if (dg_utf8_check(line, n, NULL)) {
        *why = DG_DROP_UTF8;
        return 0;
    }
    char *text = NULL;
    size_t len = 0;
    int rc = dg_utf8_nfc(line, n, &text, &len, err);
    if (rc)
        return rc;
    len = squeeze(text, len);
    if (len == SIZE_MAX)
        *why = DG_DROP_CONTROL;
    else
        dg_buffer_add(out, text, len);
    free(text);
    dg_alloc_check(!out->failed, "a line");
    return 0;
}

/* True if longer / shorter, both with `slack` added, exceeds the limit; a limit of 0 is off. */
static bool unbalanced(size_t a, size_t b, size_t slack, double limit)
{
    double shorter = (double)((a < b ? a : b) + slack), longer = (double)((a < b ? b : a) + slack);
    return limit > 0 && longer > limit * shorter;
}

enum dg_drop dg_clean_pair(const struct dg_recipe_cleaning *c, const struct dg_recipe_pair *pair,
    const char *source, size_t source_len, const char *target, size_t target_len)
{
    size_t s = dg_utf8_count(source, source_len), t = dg_utf8_count(target, target_len);
    if (s == 0 || t == 0)
        return DG_DROP_EMPTY;
    if (s < (size_t)c->min_chars || t < (size_t)c->min_chars)
        return DG_DROP_SHORT;
    if (s > (size_t)c->max_chars || t > (size_t)c->max_chars)
        return DG_DROP_LONG;
    if (unbalanced(s, t, 8, c->max_char_ratio))
        return DG_DROP_RATIO;
    if (c->drop_identical && source_len == target_len && memcmp(source, target, source_len) == 0)
        return DG_DROP_IDENTICAL;
    if (c->require_letters &&
        (!dg_utf8_has_letter(source, source_len) || !dg_utf8_has_letter(target, target_len)))
        return DG_DROP_LETTERS;
    if (c->language_check && (dg_langcheck_wrong(source, source_len, pair->source_lang) ||
                                 dg_langcheck_wrong(target, target_len, pair->target_lang)))
        return DG_DROP_LANGUAGE;
    return DG_KEEP;
}

enum dg_drop dg_clean_tokens(
    const struct dg_recipe_cleaning *c, size_t source_len, size_t target_len)
{
    if (source_len > (size_t)c->max_tokens || target_len > (size_t)c->max_tokens)
        return DG_DROP_TOKENS;
    return unbalanced(source_len, target_len, 4, c->max_token_ratio) ? DG_DROP_TOKEN_RATIO
                                                                     : DG_KEEP;
}
