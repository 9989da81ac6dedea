#include "documents/utf16.h"

#include "text/scan.h"
#include "text/utf8.h"

#include <stdint.h>

enum dg_utf16_order dg_utf16_mark(const char *s, size_t n)
{
    const unsigned char *b = (const unsigned char *)s;
    if (n < 2)
        return DG_UTF16_NONE;
    if (b[0] == 0xFE && b[1] == 0xFF)
        return DG_UTF16_BIG;
    const bool wide = n >= 4 && b[2] == 0 && b[3] == 0; /* UTF-32, or U+0000, which no text has */
    return b[0] == 0xFF && b[1] == 0xFE && !wide ? DG_UTF16_LITTLE : DG_UTF16_NONE;
}

/* The unit at byte i. */
static uint32_t unit_at(enum dg_utf16_order order, const char *s, size_t i)
{
    const unsigned char a = (unsigned char)s[i], b = (unsigned char)s[i + 1];
    return order == DG_UTF16_BIG ? (uint32_t)a << 8 | b : (uint32_t)b << 8 | a;
}

int dg_utf16_read(enum dg_utf16_order order, const char *s, size_t n, char **out, size_t *len,
    struct dg_error *err)
{
    struct dg_buffer text = {0};
    *len = 0;
    *out = NULL;
    if (n % 2 != 0)
        return dg_error_field(err, DG_EINVAL, "file",
            "the file has a UTF-16 byte order mark but ends in half a character");
    for (size_t i = 2; i < n; i += 2) {
        uint32_t c = unit_at(order, s, i);
        const uint32_t low = i + 2 < n ? unit_at(order, s, i + 2) : 0;
        if (c >= 0xD800 && c < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += 2;
        } else if (c >= 0xD800 && c < 0xE000) {
            dg_buffer_deinit(&text);
            return dg_error_field(err, DG_EINVAL, "file",
                "the file has a UTF-16 byte order mark but half a character at byte %zu", i);
        }
        dg_utf8_add(c, &text);
    }
    *out = dg_buffer_take(&text, len);
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a file of %zu bytes", n);
}

static void put_unit(enum dg_utf16_order order, uint32_t u, struct dg_buffer *out)
{
    const char high = (char)(u >> 8), low = (char)(u & 0xFF);
    const char big[2] = {high, low}, little[2] = {low, high};
    dg_buffer_add(out, order == DG_UTF16_BIG ? big : little, 2);
}

void dg_utf16_write(enum dg_utf16_order order, const char *s, size_t n, struct dg_buffer *out)
{
    put_unit(order, 0xFEFF, out);
    for (size_t i = 0; i < n;) {
        uint32_t c = (uint32_t)dg_scan_next(s, n, &i);
        if (c >= 0x10000) {
            put_unit(order, 0xD800 + ((c - 0x10000) >> 10), out);
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        put_unit(order, c, out);
    }
}
