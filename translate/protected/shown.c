#include "translate/protected/shown.h"

#include "text/scan.h"

size_t dg_shown_source(const struct dg_shown *shown, size_t begin, size_t at, bool after)
{
    size_t source = begin, from = 0;
    for (size_t i = 0; i < shown->n_marks; i++) {
        const struct dg_mark *mark = &shown->marks[i];
        size_t end = mark->at + mark->len;
        if (end > at || (end == at && mark->len == 0 && !after))
            break;
        source = mark->end;
        from = end;
    }
    return source + (at - from);
}

bool dg_shown_touches_word(const struct dg_shown *shown, size_t at, bool before)
{
    if (before && at == 0)
        return false;
    const int32_t c =
        before ? dg_scan_prev(shown->text, 0, &at) : dg_scan_peek(shown->text, at, shown->len);
    return dg_scan_is_letter(c) || (c >= '0' && c <= '9');
}
