#include "text/format/encoding.h"

#include "text/format/yaml_plain.h"

/* The character reference that writes c; NULL: c as itself. */
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

/* How c is written; NULL: as c itself. */
static const char *written(enum dg_encoding encoding, char c)
{
    switch (encoding) {
    case DG_ENCODING_PLAIN:
    case DG_ENCODING_YAML_UNQUOTED: return NULL;
    case DG_ENCODING_YAML_SINGLE: return c == '\'' ? "''" : NULL;
    case DG_ENCODING_TOML_LITERAL: return c == '\'' ? "’" : NULL;
    case DG_ENCODING_ESCAPED_DOUBLE: return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
    case DG_ENCODING_ESCAPED_SINGLE: return c == '\'' ? "\\'" : c == '\\' ? "\\\\" : NULL;
    case DG_ENCODING_ESCAPED_BRACKETS:
        return c == '(' ? "\\(" : c == ')' ? "\\)" : c == '\\' ? "\\\\" : NULL;
    default: return reference_of(encoding, c);
    }
}

bool dg_encoding_is_markup(enum dg_encoding encoding)
{
    return encoding >= DG_ENCODING_MARKUP && encoding <= DG_ENCODING_UNQUOTED;
}

bool dg_encoding_needs_quotes(enum dg_encoding encoding, const char *s, size_t n)
{
    return encoding == DG_ENCODING_YAML_UNQUOTED && n > 0 && !dg_yaml_plain_fits(s, n, false);
}

void dg_encoding_add(enum dg_encoding encoding, const char *s, size_t n, struct dg_buffer *out)
{
    size_t from = 0;
    for (size_t i = 0; i < n && encoding != DG_ENCODING_PLAIN; i++) {
        const char *as = written(encoding, s[i]);
        if (!as)
            continue;
        dg_buffer_add(out, s + from, i - from);
        dg_buffer_adds(out, as);
        from = i + 1;
    }
    dg_buffer_add(out, s + from, n - from);
}
