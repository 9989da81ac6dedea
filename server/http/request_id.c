#include "server/http/request_id.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool id_char(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("-_.:/+=@", c) != NULL);
}

void dg_request_id_choose(const char *given, uint64_t seed, uint64_t counter, char *out, size_t cap)
{
    size_t n = 0;
    while (given && n < cap - 1 && id_char(given[n]))
        n++;
    if (given && n > 0 && given[n] == '\0') {
        memcpy(out, given, n + 1);
        return;
    }
    uint64_t z = seed + counter * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull; /* splitmix64 */
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    snprintf(out, cap, "%016llx", (unsigned long long)(z ^ (z >> 31)));
}

/* True for n lower-case hexadecimal digits; zeros: they may all be 0. */
static bool is_hex(const char *s, size_t n, bool zeros)
{
    return strspn(s, "0123456789abcdef") >= n && (zeros || strspn(s, "0") < n);
}

void dg_trace_parent_choose(const char *given, char out[DG_TRACE_PARENT_BYTES])
{
    bool good = given && strlen(given) == DG_TRACE_PARENT_BYTES - 1 &&
                strncmp(given, "00-", 3) == 0 && is_hex(given + 3, 32, false) && given[35] == '-' &&
                is_hex(given + 36, 16, false) && given[52] == '-' && is_hex(given + 53, 2, true);
    memcpy(out, good ? given : "", good ? DG_TRACE_PARENT_BYTES : 1);
}

void dg_trace_id(const char *parent, char out[33])
{
    snprintf(out, 33, "%.32s", parent[0] != '\0' ? parent + 3 : "-");
}
