#include "server/http/form.h"

#include "text/utf8.h"

#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int dg_form_escape(const char *s)
{
    const int high = s[0] == '%' ? hex(s[1]) : -1, low = high >= 0 ? hex(s[2]) : -1;
    return low >= 0 ? high << 4 | low : -1;
}

/* Decode s[n] into out[cap], which may be s itself; returns the bytes written, cap at most. */
static size_t decode(const char *s, size_t n, char *out, size_t cap)
{
    size_t to = 0;
    for (size_t i = 0; i < n && to < cap; i++) {
        const int byte = i + 2 < n ? dg_form_escape(s + i) : -1;
        out[to++] = byte >= 0 ? (char)byte : s[i] == '+' ? ' ' : s[i];
        i += byte >= 0 ? 2 : 0;
    }
    return to;
}

static void decode_buffer(const char *s, size_t n, struct dg_buffer *out)
{
    dg_buffer_reset(out);
    dg_buffer_add(out, s, n);
    if (out->failed)
        return;
    out->len = decode(out->data, n, out->data, n);
    out->data[out->len] = '\0';
}

int dg_form_add(
    struct dg_json *object, const char *name, const char *value, size_t len, struct dg_error *err)
{
    struct dg_json *before = dg_json_get(object, name), *v = dg_json_new_string(value, len);
    int rc;
    if (!before) {
        rc = dg_json_set_take(object, name, v);
    } else if (dg_json_typeof(before) == DG_JSON_ARRAY) {
        rc = dg_json_append_take(before, v);
    } else {
        struct dg_json *list = dg_json_new_array();
        rc = dg_json_append_take(list, dg_json_copy(before));
        rc |= dg_json_append_take(list, v);
        rc |= dg_json_set_take(object, name, list);
    }
    return rc ? dg_error_set(err, DG_ENOMEM, "no memory for a form") : DG_OK;
}

/* One "name=value". */
static int read_one(const char *s, size_t n, struct dg_json *object, struct dg_buffer *name,
    struct dg_buffer *value, struct dg_error *err)
{
    const char *equals = memchr(s, '=', n);
    const size_t name_len = equals ? (size_t)(equals - s) : n;
    struct dg_error why = {0};
    decode_buffer(s, name_len, name);
    decode_buffer(equals ? equals + 1 : "", equals ? n - name_len - 1 : 0, value);
    if (name->failed || value->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for a form");
    if (name->len == 0 && value->len == 0)
        return DG_OK; /* "a=b&&c=d" */
    if (name->len > 0 && dg_utf8_check(name->data, name->len, &why) != DG_OK)
        return dg_error_field(
            err, DG_EINVAL, "body", "the name of a parameter is not UTF-8: %s", why.message);
    const char *key = name->len > 0 ? name->data : "";
    if (value->len > 0 && dg_utf8_check(value->data, value->len, &why) != DG_OK)
        return dg_error_field(err, DG_EINVAL, key, "%.40s is not UTF-8: %s", key, why.message);
    return dg_form_add(object, key, value->len > 0 ? value->data : "", value->len, err);
}

int dg_form_read(const char *s, size_t n, struct dg_json *object, struct dg_error *err)
{
    struct dg_buffer name, value;
    size_t count = 0;
    int rc = DG_OK;
    dg_buffer_init(&name);
    dg_buffer_init(&value);
    for (const char *end = s + n; s < end && rc == DG_OK;) {
        const char *stop = memchr(s, '&', (size_t)(end - s));
        const size_t len = (size_t)((stop ? stop : end) - s);
        rc = ++count > DG_FORM_MAX_PARAMETERS
                 ? dg_error_field(err, DG_ELIMIT, "body", "the form has more than %d parameters",
                       DG_FORM_MAX_PARAMETERS)
                 : read_one(s, len, object, &name, &value, err);
        s += len + (stop ? 1 : 0);
    }
    dg_buffer_deinit(&name);
    dg_buffer_deinit(&value);
    return rc;
}

bool dg_form_find(const char *s, size_t n, const char *name, char *out, size_t cap)
{
    const size_t len = strlen(name);
    for (const char *end = s + n; s < end;) {
        const char *stop = memchr(s, '&', (size_t)(end - s));
        const size_t one = (size_t)((stop ? stop : end) - s);
        const char *equals = memchr(s, '=', one);
        if (equals && decode(s, (size_t)(equals - s), out, cap - 1) == len &&
            memcmp(out, name, len) == 0) {
            const size_t begin = (size_t)(equals + 1 - s);
            out[decode(equals + 1, one - begin, out, cap - 1)] = '\0';
            if (out[0] != '\0')
                return true;
        }
        s += one + (stop ? 1 : 0);
    }
    return false;
}
