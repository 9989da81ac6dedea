/* Facts about JSON text from one quick pass, before it is parsed. Nothing is allocated or checked;
 * for text that is not JSON the answers mean nothing. Any thread. */
#ifndef DG_BASE_JSON_SCAN_H
#define DG_BASE_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Index of the closing quote of the string that opens at s[at]; n if there is none. */
size_t dg_json_scan_string(const char *s, size_t n, size_t at);

/* Index at which the value of this key in the object s[n] begins. n: the key is absent, or written
 * with escapes. */
size_t dg_json_scan_key(const char *s, size_t n, const char *key);

/* The integer under this key of the object s[n]. -1: it is absent, or not in the usual form: the
 * key without escapes, the value of digits alone. */
int64_t dg_json_scan_int(const char *s, size_t n, const char *key);

#endif
