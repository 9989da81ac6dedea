/* Labels in Prometheus' text format. */
#include "server/metrics.h"

#include <stdio.h>

/* Adds one character of a label's value, escaped; returns the number of bytes of p that it took. */
static size_t add_character(struct dg_buffer *b, const char *p)
{
    size_t n = 1;
    if (*p == '\n') {
        dg_buffer_adds(b, "\\n");
        return 1;
    }
    if (*p == '"' || *p == '\\')
        dg_buffer_adds(b, "\\");
    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    dg_buffer_add(b, p, n);
    return n;
}

void dg_metrics_label(char *out, size_t cap, const char *const *names_values)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    size_t end = 0; /* of the labels that fit whole, without the brace */
    for (size_t i = 0; names_values[i] && end + 1 < cap; i += 2) {
        dg_buffer_addf(&b, "%s%s=\"", i > 0 ? "," : "{", names_values[i]);
        for (const char *p = names_values[i + 1]; *p;) {
            size_t before = b.len;
            p += add_character(&b, p);
            if (b.len + sizeof "\"}" <= cap)
                continue;
            b.len = before; /* the value is cut here, and still closed */
            break;
        }
        dg_buffer_adds(&b, "\"");
        if (b.len + sizeof "}" > cap)
            break;
        end = b.len;
    }
    if (b.failed || end == 0)
        snprintf(out, cap, "%s", "");
    else
        snprintf(out, cap, "%.*s}", (int)end, b.data);
    dg_buffer_deinit(&b);
}
