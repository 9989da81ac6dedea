/* Steps over UTF-8, and classes of code points for sentence splitting. Any thread.
 * Ill-formed bytes are skipped one by one and belong to no class. */
#ifndef DG_TEXT_SCAN_H
#define DG_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at s[*i] (negative when ill-formed); moves *i after it. *i < n. */
int32_t dg_scan_next(const char *s, size_t n, size_t *i);
/* The code point that ends at s[*i], not looking before `start`; moves *i to its begin. *i >
 * start. */
int32_t dg_scan_prev(const char *s, size_t start, size_t *i);
/* The code point at i, or 0 when i is not below end. */
int32_t dg_scan_peek(const char *s, size_t i, size_t end);

bool dg_scan_is_space(
    int32_t c); /* white space of any kind, line ends and the byte-order mark too */
bool dg_scan_is_line_end(int32_t c);   /* LF, CR, VT, FF, NEL, U+2028, U+2029 */
bool dg_scan_is_terminator(int32_t c); /* . ! ? and their equivalents in every script, and U+2026 */
bool dg_scan_is_close(int32_t c);      /* quotes and brackets, opening or closing */
bool dg_scan_is_opener(
    int32_t c); /* brackets and quotes that open ("“" too, though German closes with it) */
bool dg_scan_is_attached(int32_t c); /* combining marks, joiners, variation selectors */
/* True if a joiner (U+200C, U+200D) between these characters changes how they are written: letters,
 * their marks, digits, emoji. 0: none; a virama (such as U+0D4D) may be joined with nothing. */
bool dg_scan_joins(int32_t before, int32_t after);
bool dg_scan_is_letter(int32_t c);
bool dg_scan_is_digit(int32_t c);
bool dg_scan_is_upper(int32_t c); /* upper or title case */
bool dg_scan_is_lower(int32_t c);
bool dg_scan_is_uncased(int32_t c); /* a letter of a script without case, such as CJK */
/* of a script without blanks between words, such as Thai, Chinese or kana, not Korean */
bool dg_scan_is_unspaced(int32_t c);
bool dg_scan_is_full_width(int32_t c); /* a full-width form, which contains its own space */
/* Columns that a terminal shows the character in: 2 for wide ones, such as CJK; 0 for marks that
 * combine. */
size_t dg_scan_columns(int32_t c);

/* True if s[n] has the ASCII letters of `part`, in either case, also within a word. */
bool dg_scan_has(const char *s, size_t n, const char *part);
/* Index of their first occurrence in s[at, end); `end`: none. at <= end. */
size_t dg_scan_find_letters(const char *s, size_t at, size_t end, const char *part);

/* True if s[at, end) begins with these bytes. at <= end. */
bool dg_scan_begins(const char *s, size_t at, size_t end, const char *with);
/* Index of the first occurrence of `what` in s[at, end), and the index after it; `end`: none. */
size_t dg_scan_find(const char *s, size_t at, size_t end, const char *what);
size_t dg_scan_after(const char *s, size_t at, size_t end, const char *what);

/* First byte at or after i that is not white space, at most `end`; and the end of s[begin..end)
 * without trailing white space. */
size_t dg_scan_skip_space(const char *s, size_t i, size_t end);
size_t dg_scan_trim_space(const char *s, size_t begin, size_t end);
/* dg_scan_skip_space for the white space of a file's syntax, which is ASCII; and for digits. */
size_t dg_scan_skip_ascii_space(const char *s, size_t i, size_t end);
size_t dg_scan_skip_ascii_digits(const char *s, size_t i, size_t end);

#endif
