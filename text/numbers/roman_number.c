#include "text/numbers/roman_number.h"

#include <stdbool.h>
#include <string.h>

static int digit_value(char c)
{
    switch (c) {
    case 'I': return 1;
    case 'V': return 5;
    case 'X': return 10;
    case 'L': return 50;
    case 'C': return 100;
    default: return 0;
    }
}

/* True if s[begin..end) is empty or a French ordinal ending after a Roman numeral ("XVIIIe",
 * "Ier"). */
static bool ends_ordinal(const char *s, size_t begin, size_t end)
{
    static const char *const ends[] = {"", "e", "E", "er", "ER", "re", "RE", "ème", "ÈME"};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (strlen(ends[k]) == end - begin && memcmp(s + begin, ends[k], end - begin) == 0)
            return true;
    return false;
}

int dg_roman_number_value(const char *s, size_t n)
{
    int sum = 0;
    size_t i = 0;
    for (int d; i < n && (d = digit_value(s[i])) > 0; i++)
        sum += i + 1 < n && digit_value(s[i + 1]) > d ? -d : d;
    return (i > 1 || sum <= 10) && ends_ordinal(s, i, n) ? sum : 0;
}
