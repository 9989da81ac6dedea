#include "base/log_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct out {
    char *to;
    size_t n;
    enum dg_log_format format;
};

/* Keys whose values are text even if they look like a number: an id of digits alone would otherwise
 * be a number in one line and a string in the next, and lose digits in readers that have doubles.
 */
static const char *const text_keys[] = {"id", "key", "name", "trace", "version", "worker"};

static const char *level_name(enum dg_log_level level)
{
    switch (level) {
    case DG_LOG_DEBUG: return "debug";
    case DG_LOG_INFO: return "info";
    case DG_LOG_WARN: return "warn";
    default: return "error";
    }
}

/* UTC with milliseconds, RFC 3339. */
static void format_time(const struct timespec *now, char *out, size_t cap)
{
    struct tm tm;
    char day[32];
    gmtime_r(&now->tv_sec, &tm);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, cap, "%s.%03dZ", day, (int)(now->tv_nsec / 1000000));
}

/* The event is the text before the first key=value, that is before the word with the first '='. */
static size_t event_length(const char *text)
{
    size_t n = strcspn(text, "=");
    if (text[n] == '\0')
        return n;
    while (n > 0 && text[n - 1] != ' ')
        n--;
    return n > 0 ? n - 1 : 0;
}

/* ---- values ---- */

/* Bytes of the UTF-8 character at s, or 0 if it is not valid UTF-8: the text may have been cut
 * within a character, or come from a file name. */
static size_t character_at(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    size_t size = c < 0x80                ? 1
                  : c >= 0xc2 && c < 0xe0 ? 2
                  : c >= 0xe0 && c < 0xf0 ? 3
                  : c >= 0xf0 && c < 0xf5 ? 4
                                          : 0;
    if (size == 0 || size > n)
        return 0;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    unsigned char second = (unsigned char)s[size > 1];
    bool overlong = (c == 0xe0 && second < 0xa0) || (c == 0xf0 && second < 0x90);
    bool beyond = (c == 0xed && second > 0x9f) || (c == 0xf4 && second > 0x8f);
    return overlong || beyond ? 0 : size;
}

/* Append, but keep the last bytes free for closing the line; false: it does not fit. */
static bool add(struct out *o, const char *s, size_t n)
{
    if (n > DG_LOG_LINE - 8 - o->n)
        return false;
    memcpy(o->to + o->n, s, n);
    o->n += n;
    return true;
}

static void add_string(struct out *o, const char *s, size_t n)
{
    bool fits = add(o, "\"", 1);
    for (size_t i = 0; i < n && fits;) {
        size_t size = character_at(s + i, n - i);
        if (s[i] == '"' || s[i] == '\\')
            fits = add(o, s[i] == '"' ? "\\\"" : "\\\\", 2);
        else
            fits = size > 0 ? add(o, s + i, size) : add(o, "?", 1);
        i += size > 0 ? size : 1;
    }
    o->to[o->n++] = '"';
}

/* Is it a number as JSON writes one? */
static bool is_number(const char *s, size_t n)
{
    size_t i = n > 0 && s[0] == '-', digits = strspn(s + i, "0123456789");
    if (digits == 0 || (s[i] == '0' && digits > 1))
        return false;
    i += digits;
    if (i < n && s[i] == '.') {
        digits = strspn(s + i + 1, "0123456789");
        i += 1 + digits;
    }
    return i == n && digits > 0 && n < 20;
}

static bool is_text_key(const char *key, size_t n)
{
    for (size_t i = 0; i < sizeof text_keys / sizeof *text_keys; i++)
        if (strlen(text_keys[i]) == n && memcmp(text_keys[i], key, n) == 0)
            return true;
    return false;
}

/* Does a value of logfmt need quotation marks? */
static bool needs_quotes(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == ' ' || s[i] == '"' || s[i] == '=' || (unsigned char)s[i] >= 0x80)
            return true;
    return n == 0;
}

static void add_pair(
    struct out *o, const char *key, size_t key_n, const char *s, size_t n, bool quoted)
{
    const bool json = o->format == DG_LOG_JSON;
    const bool bare = json ? is_number(s, n) && !is_text_key(key, key_n) : !needs_quotes(s, n);
    add(o, json ? ",\"" : " ", json ? 2 : 1);
    add(o, key, key_n);
    add(o, json ? "\":" : "=", json ? 2 : 1);
    if (quoted || !bare)
        add_string(o, s, n);
    else if (!add(o, s, n))
        add(o, "0", 1);
}

/* ---- the line ---- */

#define KEY_BYTES 40

/* Does a key and its '=' begin here? */
static bool is_key(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n <= KEY_BYTES && s[n] == '=';
}

/* The end of a quoted value, whose inner quotes are not escaped: the first quote followed by the
 * line's end or by another key. */
static const char *quoted_end(const char *s)
{
    const char *last = s + strlen(s);
    for (const char *p = s; *p; p++)
        if (*p == '"' && (p[1] == '\0' || (p[1] == ' ' && is_key(p + 2))))
            return p;
    return last;
}

static void add_pairs(struct out *o, const char *s)
{
    while (*s == ' ')
        s++;
    while (is_key(s) && o->n < DG_LOG_LINE / 8 * 7) {
        const char *const key = s;
        const size_t key_n = strcspn(s, "=");
        s += key_n + 1;
        if (*s == '"') {
            const char *end = quoted_end(s + 1);
            add_pair(o, key, key_n, s + 1, (size_t)(end - s - 1), true);
            s = *end ? end + 1 : end;
        } else {
            size_t n = 0;
            while (s[n] && !(s[n] == ' ' && is_key(s + n + 1)))
                n++;
            add_pair(o, key, key_n, s, n, false);
            s += n;
        }
        while (*s == ' ')
            s++;
    }
}

size_t dg_log_line(char out[DG_LOG_LINE], enum dg_log_format format, enum dg_log_level level,
    const struct timespec *now, const char *text)
{
    const bool json = format == DG_LOG_JSON;
    const size_t event = event_length(text);
    char stamp[64];
    format_time(now, stamp, sizeof stamp);
    const int n = snprintf(out, DG_LOG_LINE,
        json ? "{\"ts\":\"%s\",\"level\":\"%s\",\"event\":" : "ts=%s level=%s event=", stamp,
        level_name(level));
    struct out o = {out, (size_t)n, format};
    add_string(&o, text, event);
    add_pairs(&o, text + event);
    if (json)
        out[o.n++] = '}';
    memcpy(out + o.n, "\n", 2);
    return o.n + 1;
}
