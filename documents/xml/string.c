#include "documents/xml/string.h"

#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CDATA "<![CDATA["

void dg_xml_string_trim(const char *s, size_t *begin, size_t *end)
{
    *begin = dg_scan_skip_ascii_space(s, *begin, *end);
    while (*end > *begin && isspace((unsigned char)s[*end - 1]))
        --*end;
}

bool dg_xml_string_cdata(const char *s, size_t *begin, size_t *end)
{
    size_t from = *begin, to = *end;
    dg_xml_string_trim(s, &from, &to);
    if (!dg_scan_begins(s, from, to, CDATA))
        return false;
    from += strlen(CDATA);
    if (dg_scan_find(s, from, to, "]]>") + 3 != to)
        return false;
    *begin = from;
    *end = to - 3;
    return true;
}

/* Appends the character that the reference s[at, end), from "&" to ";", stands for. */
static bool add_reference(const char *s, size_t at, size_t end, struct dg_buffer *out)
{
    static const char *const names[][2] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i][0]) == end - at && memcmp(s + at, names[i][0], end - at) == 0) {
            dg_buffer_adds(out, names[i][1]);
            return true;
        }
    if (end - at < 4 || s[at + 1] != '#')
        return false;
    const bool hex = s[at + 2] == 'x';
    dg_utf8_add((uint32_t)strtoul(s + at + 2 + hex, NULL, hex ? 16 : 10), out);
    return true;
}

bool dg_xml_string_read(const char *s, size_t n, bool keeps_lines, struct dg_buffer *out)
{
    if (memchr(s, '<', n))
        return false;
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (s[i] == '&') {
            end = dg_scan_after(s, i, n, ";");
            if (!add_reference(s, i, end, out))
                return false;
        } else if (!keeps_lines && isspace((unsigned char)s[i])) {
            end = dg_scan_skip_ascii_space(s, end, n);
            dg_buffer_adds(out, " ");
        } else {
            dg_buffer_add(out, s + i, 1);
        }
    }
    return true;
}
