#include "documents/strings/json_bytes.h"

#include "base/json_scan.h"
#include "documents/segments.h"

#include <string.h>

struct dg_json *dg_json_of_file(const char *s, size_t n, struct dg_error *err)
{
    struct dg_error why = {0};
    struct dg_json *json = dg_json_parse(s, n, &why);
    if (!json && why.code == DG_ENOMEM)
        dg_error_set(err, DG_ENOMEM, "%s", why.message);
    else if (!json)
        dg_extract_broken(err, "it is not JSON: %s", why.message);
    return json;
}

/* The byte after white space and either of two signs. */
static size_t skip(const char *s, size_t at, size_t end, const char *signs)
{
    while (at < end && (strchr(" \t\r\n", s[at]) || strchr(signs, s[at])))
        at++;
    return at;
}

static size_t value_end(const char *s, size_t at, size_t end)
{
    size_t depth = 0;
    if (s[at] != '"' && s[at] != '{' && s[at] != '[')
        return at + strcspn(s + at, " \t\r\n,]}");
    do {
        depth += s[at] == '{' || s[at] == '[';
        depth -= s[at] == '}' || s[at] == ']';
        at = s[at] == '"' ? dg_json_scan_string(s, end, at) + 1 : at + 1;
    } while (depth > 0 && at < end);
    return at;
}

bool dg_json_next_member(
    const char *s, struct dg_span object, size_t *at, struct dg_json_member *out)
{
    if (object.begin == object.end || s[object.begin] != '{')
        return false;
    const size_t key = skip(s, *at == object.begin ? *at + 1 : *at, object.end, ",");
    if (s[key] != '"')
        return false;
    const size_t key_end = dg_json_scan_string(s, object.end, key) + 1,
                 value = skip(s, key_end, object.end, ":");
    *out = (struct dg_json_member){{key, key_end}, {value, value_end(s, value, object.end)}};
    *at = out->value.end;
    return true;
}

struct dg_span dg_json_member(const char *s, struct dg_span object, const char *name)
{
    struct dg_json_member m;
    for (size_t at = object.begin; dg_json_next_member(s, object, &at, &m);)
        if (dg_json_bytes_are(s, m.key, name))
            return m.value;
    return (struct dg_span){0, 0};
}

bool dg_json_bytes_are(const char *s, struct dg_span value, const char *string)
{
    const size_t n = strlen(string);
    return value.end - value.begin == n + 2 && s[value.begin] == '"' &&
           memcmp(s + value.begin + 1, string, n) == 0;
}
