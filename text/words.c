#include "text/words.h"

#include "text/scan.h"

#include <string.h>

static bool in_word(int32_t c)
{
    return dg_scan_is_letter(c) || dg_scan_is_attached(c);
}

/* True if c joins the word beside it to something else; 0 is the text's end. */
static bool ties(int32_t c)
{
    return dg_scan_is_digit(c) || c == 0x2019 || (c > 0 && c < 0x80 && strchr("'-_@/\\&+#", c));
}

size_t dg_word_next(const char *s, size_t n, size_t from, size_t *begin, bool *alone)
{
    int32_t before = 0;
    for (size_t i = from; i < n;) {
        size_t at = i;
        int32_t c = dg_scan_next(s, n, &i);
        if (!dg_scan_is_letter(c)) {
            before = c;
            continue;
        }
        size_t end = i;
        while (i < n && in_word(dg_scan_next(s, n, &i)))
            end = i;
        if (at == from && from > 0) {
            size_t back = at;
            before = dg_scan_prev(s, 0, &back);
        }
        *begin = at;
        *alone = !ties(before) && !ties(dg_scan_peek(s, end, n));
        return end;
    }
    return 0;
}
