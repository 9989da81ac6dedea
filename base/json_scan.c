#include "base/json_scan.h"

#include <stdbool.h>
#include <string.h>

#define MOST_DIGITS 18 /* an int64_t holds any number of this many digits */

size_t dg_json_scan_string(const char *s, size_t n, size_t at)
{
    for (size_t i = at + 1; i < n; i++) {
        const char *quote = memchr(s + i, '"', n - i);
        if (!quote)
            return n;
        /* After an odd number of backslashes, the quote is a character of the string. No backslash
         * is examined twice, because each count stops at the previous quote. */
        const size_t begin = i;
        size_t slashes = 0;
        i = (size_t)(quote - s);
        while (i - slashes > begin && s[i - slashes - 1] == '\\')
            slashes++;
        if (slashes % 2 == 0)
            return i;
    }
    return n;
}

static size_t skip_space(const char *s, size_t n, size_t at)
{
    while (at < n && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r'))
        at++;
    return at;
}

/* The integer at s[at], or -1. */
static int64_t read_int(const char *s, size_t n, size_t at)
{
    int64_t value = 0;
    const size_t begin = at;
    while (at < n && s[at] >= '0' && s[at] <= '9' && at - begin < MOST_DIGITS)
        value = 10 * value + (s[at++] - '0');
    const size_t end = skip_space(s, n, at);
    return at > begin && end < n && (s[end] == ',' || s[end] == '}') ? value : -1;
}

size_t dg_json_scan_key(const char *s, size_t n, const char *key)
{
    const size_t len = strlen(key);
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '{' || s[i] == '[') {
            depth++;
        } else if (s[i] == '}' || s[i] == ']') {
            depth--;
        } else if (s[i] == '"') {
            const size_t end = dg_json_scan_string(s, n, i);
            const bool is_key =
                depth == 1 && end - i - 1 == len && memcmp(s + i + 1, key, len) == 0;
            const size_t colon = is_key ? skip_space(s, n, end + 1) : n;
            if (colon < n && s[colon] == ':') /* else it is a value */
                return skip_space(s, n, colon + 1);
            i = end;
        }
    }
    return n;
}

int64_t dg_json_scan_int(const char *s, size_t n, const char *key)
{
    return read_int(s, n, dg_json_scan_key(s, n, key));
}
