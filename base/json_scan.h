/* JSON as bytes, before it is parsed: what one quick pass over a text can tell. Nothing is
 * allocated or checked; of a text that is no JSON the answers mean nothing. Any thread. */
#ifndef DG_BASE_JSON_SCAN_H
#define DG_BASE_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Where the string ends whose opening quote is s[at]: its closing quote, or n. */
size_t dg_json_scan_string(const char *s, size_t n, size_t at);

/* Where the value under this key of the object s[n] begins, if the key is written without escapes.
 * n: it has none. */
size_t dg_json_scan_key(const char *s, size_t n, const char *key);

/* The integer under this key of the object s[n], key and value as they are mostly written: without
 * escapes, in digits alone. -1: it has none, or not so. */
int64_t dg_json_scan_int(const char *s, size_t n, const char *key);

#endif
