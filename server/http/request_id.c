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
