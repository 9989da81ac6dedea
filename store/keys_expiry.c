/* Parses when keys expire, as people write it. */
#include "store/keys.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_S 86400
#define LONGEST_S (1000ll * 366 * DAY_S)

/* "30d" or "12h" in seconds; 0: neither. */
static int64_t read_span(const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return 0;
    const long long n = strtoll(text, &end, 10);
    const int64_t unit = strcmp(end, "d") == 0 ? DAY_S : strcmp(end, "h") == 0 ? 3600 : 0;
    return unit > 0 && n > 0 && n <= LONGEST_S / unit ? n * unit : 0;
}

/* The end of a day, or a time, in UTC, as seconds since the epoch; 0: neither. */
static int64_t read_time(const char *text)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"};
    for (int i = 0; i < 2; i++) {
        struct tm tm = {0};
        char again[32];
        const char *end = strptime(text, forms[i], &tm);
        if (!end || *end != '\0')
            continue;
        const time_t at = timegm(&tm);
        /* A date that does not exist, such as 02-30, is normalised to another one. */
        strftime(again, sizeof again, forms[i], &tm);
        return strcmp(again, text) == 0 ? (int64_t)at + (i == 0 ? DAY_S : 0) : 0;
    }
    return 0;
}

int dg_keys_expiry_read(const char *text, int64_t now_s, int64_t *expires_s, struct dg_error *err)
{
    *expires_s = 0;
    if (strcmp(text, "never") == 0)
        return DG_OK;
    const int64_t span = read_span(text), at = span > 0 ? now_s + span : read_time(text);
    if (at == 0)
        return dg_error_field(err, DG_EINVAL, "expires",
            "\"%.40s\" is not an expiry: 2027-01-31, 2027-01-31T12:00:00Z, 30d, 12h or never",
            text);
    if (at <= now_s)
        return dg_error_field(err, DG_EINVAL, "expires", "\"%.40s\" is past", text);
    *expires_s = at;
    return DG_OK;
}
