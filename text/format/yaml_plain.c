#include "text/format/yaml_plain.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* True if s[n] is one of these words, in small letters, in capitals or with one capital. */
static bool is_constant(const char *s, size_t n)
{
    static const char *const words[] = {
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", "=", "<<"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t k = 0, capitals = 0;
        while (k < n && words[i][k] == tolower((unsigned char)s[k]))
            capitals += isupper((unsigned char)s[k++]) != 0;
        if (k == n && !words[i][k] &&
            (capitals == 0 || capitals == n || (capitals == 1 && isupper((unsigned char)s[0]))))
            return true;
    }
    return false;
}

/* True for numbers and dates: 12, 0x1F, 1e3, 1_000, 190:20, .inf, 2001-12-14T21:59:43Z. */
static bool is_number(const char *s, size_t n)
{
    size_t i = n > 0 && strchr("+-", s[0]), digits = 0;
    if (n - i == 4 && s[i] == '.' &&
        (strncasecmp(s + i + 1, "inf", 3) == 0 || strncasecmp(s + i + 1, "nan", 3) == 0))
        return true;
    if (i == n || !(isdigit((unsigned char)s[i]) || s[i] == '.'))
        return false;
    for (; i < n; i++) {
        digits += isdigit((unsigned char)s[i]) != 0;
        if (!isxdigit((unsigned char)s[i]) && !strchr("_.:,+-xoTtZz", s[i]))
            return false;
    }
    return digits > 0;
}

/* True for :name. */
static bool is_symbol(const char *s, size_t n)
{
    return n > 1 && s[0] == ':' && !memchr(s, ' ', n);
}

bool dg_yaml_plain_is_string(const char *s, size_t n)
{
    return n > 0 && !is_constant(s, n) && !is_number(s, n) && !is_symbol(s, n);
}

bool dg_yaml_plain_fits(const char *s, size_t n, bool flow)
{
    if (!dg_yaml_plain_is_string(s, n) || strchr("-?:,[]{}#&*!|>'\"%@` \t.", s[0]) ||
        strchr(" \t:", s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++) {
        const bool space = i + 1 < n && strchr(" \t", s[i + 1]);
        if ((s[i] == ':' && (space || flow)) || (i > 0 && s[i] == '#' && strchr(" \t", s[i - 1])) ||
            (flow && strchr(",[]{}", s[i])))
            return false;
    }
    return true;
}
