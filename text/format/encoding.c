#include "text/format/encoding.h"

#include <string.h>

/* How c is written; NULL: as c itself. */
static const char *reference_of(enum dg_encoding encoding, char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '"': return encoding >= DG_ENCODING_DOUBLE_QUOTED ? "&quot;" : NULL;
    case '\'': return encoding >= DG_ENCODING_SINGLE_QUOTED ? "&#39;" : NULL;
    default: break;
    }
    if (encoding != DG_ENCODING_UNQUOTED)
        return NULL;
    switch (c) {
    case ' ': return "&#32;";
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    case '\r': return "&#13;";
    case '>': return "&gt;";
    case '=': return "&#61;";
    case '`': return "&#96;";
    default: return NULL;
    }
}

void dg_encoding_add(enum dg_encoding encoding, const char *s, size_t n, struct dg_buffer *out)
{
    size_t from = 0;
    for (size_t i = 0; i < n && encoding != DG_ENCODING_PLAIN; i++) {
        const char *reference = reference_of(encoding, s[i]);
        if (!reference)
            continue;
        dg_buffer_add(out, s + from, i - from);
        dg_buffer_adds(out, reference);
        from = i + 1;
    }
    dg_buffer_add(out, s + from, n - from);
}
