#include "server/http/multipart.h"

#include "server/http/form.h"
#include "server/http/http.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

#define MOST_PARTS 64
#define LONGEST_HEAD 4096

static int wrong(struct dg_error *err, const char *why)
{
    return dg_error_field(err, DG_EINVAL, "body", "the form is not multipart/form-data: %s", why);
}

bool dg_multipart_is(const char *type)
{
    return dg_http_is_type(type, "multipart/form-data");
}

/* True if at s[i] a quoted value goes on with an escaped quotation mark. */
static bool is_escape(const char *s, size_t n, size_t i)
{
    return s[i] == '\\' && i + 1 < n && s[i + 1] == '"';
}

/* Copy the value of `name` among a header's parameters to out; false: there is none. */
static bool parameter(const char *s, size_t n, const char *name, char *out, size_t cap)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') /* a value, which may have a ";" */
            for (i++; i < n && s[i] != '"'; i++)
                i += is_escape(s, n, i);
        if (i >= n || s[i] != ';')
            continue;
        size_t at = i + 1;
        while (at < n && strchr(" \t", s[at]))
            at++;
        if (n - at <= len || strncasecmp(s + at, name, len) != 0 || s[at + len] != '=')
            continue;
        at += len + 1;
        const bool quoted = at < n && s[at] == '"';
        size_t to = 0;
        for (at += quoted; at < n && to + 1 < cap; at++) {
            if (quoted ? s[at] == '"' : strchr("; \t", s[at]) != NULL)
                break;
            at += quoted && is_escape(s, n, at);
            out[to++] = s[at];
        }
        out[to] = '\0';
        return true;
    }
    return false;
}

struct form {
    const char *field;
    struct dg_json *object;
    struct dg_multipart_file *file;
};

static const char *without_folders(const char *name)
{
    for (const char *s = name; *s; s++)
        if (*s == '/' || *s == '\\')
            name = s + 1;
    return name;
}

/* Find the line "Content-Disposition" in a part's head. */
static bool disposition(const char *head, size_t n, const char **line, size_t *len)
{
    static const char name[] = "content-disposition:";
    for (size_t at = 0; at < n;) {
        const char *end = memmem(head + at, n - at, "\r\n", 2);
        size_t to = end ? (size_t)(end - head) : n;
        if (to - at > sizeof name - 1 && strncasecmp(head + at, name, sizeof name - 1) == 0) {
            *line = head + at;
            *len = to - at;
            return true;
        }
        at = to + 2;
    }
    return false;
}

/* Decode an RFC 5987 value, utf-8''a%20b, in place; false: another charset, or malformed. */
static bool decode_extended(char *s)
{
    static const char charset[] = "utf-8'";
    const size_t n = sizeof charset - 1;
    const char *from = strncasecmp(s, charset, n) == 0 ? strchr(s + n, '\'') : NULL;
    char *to = s;
    while (from && *++from) {
        const bool escape = *from == '%';
        const int byte = escape ? dg_form_escape(from) : (unsigned char)*from;
        if (byte <= 0)
            return false;
        *to++ = (char)byte;
        from += escape ? 2 : 0;
    }
    *to = '\0';
    return from && dg_utf8_check(s, strlen(s), NULL) == DG_OK;
}

/* Copy the part's file name to out, without folders, "" if it is empty; false: the part is no
 * file. */
static bool file_name(const char *line, size_t len, char out[256])
{
    char extended[3 * 256];
    const bool plain = parameter(line, len, "filename", out, 256);
    const char *base = plain ? without_folders(out) : NULL;
    if (parameter(line, len, "filename*", extended, sizeof extended) && decode_extended(extended) &&
        strlen(without_folders(extended)) < 256)
        base = without_folders(extended);
    if (base)
        memmove(out, base, strlen(base) + 1);
    return base;
}

static int add_part(const struct form *f, const char *head, size_t n_head, const char *data,
    size_t n, struct dg_error *err)
{
    char name[128], file[256];
    const char *line;
    size_t len;
    if (!disposition(head, n_head, &line, &len) || !parameter(line, len, "name", name, sizeof name))
        return wrong(err, "a part has no name");
    if (file_name(line, len, file)) {
        if (strcmp(name, f->field) == 0 && f->file && !f->file->name[0]) {
            if (dg_utf8_check(file, strlen(file), NULL) != DG_OK)
                return wrong(err, "a file's name is not UTF-8");
            strcpy(f->file->name, file);
            f->file->data = data;
            f->file->n = n;
        }
        return DG_OK;
    }
    if (!f->object)
        return DG_OK;
    if (dg_utf8_check(name, strlen(name), NULL) != DG_OK || dg_utf8_check(data, n, NULL) != DG_OK)
        return dg_error_field(err, DG_EINVAL, "body", "a field of the form is not UTF-8");
    return dg_form_add(f->object, name, data, n, err);
}

int dg_multipart_read(const char *type, const char *body, size_t n, const char *field,
    struct dg_json *object, struct dg_multipart_file *file, struct dg_error *err)
{
    const struct form f = {field, object, file};
    char boundary[80] = "\r\n--";
    size_t at = 0;
    if (!parameter(type, strlen(type), "boundary", boundary + 4, sizeof boundary - 4) ||
        !boundary[4])
        return wrong(err, "its Content-Type has no boundary");
    const size_t len = strlen(boundary);
    /* No line end precedes the first boundary if it opens the body. */
    if (n < len - 2 || memcmp(body, boundary + 2, len - 2) != 0) {
        const char *first = memmem(body, n, boundary, len);
        if (!first)
            return wrong(err, "it does not begin with its boundary");
        at = (size_t)(first - body) + 2;
    }
    at += len - 2;
    for (int parts = 0; !(n - at >= 2 && memcmp(body + at, "--", 2) == 0); parts++) {
        if (parts == MOST_PARTS)
            return dg_error_field(
                err, DG_ELIMIT, "body", "the form has more than %d parts", MOST_PARTS);
        const char *head = memmem(body + at, n - at, "\r\n", 2);
        const char *data = head ? memmem(head, n - (size_t)(head - body), "\r\n\r\n", 4) : NULL;
        if (!data || data - head > LONGEST_HEAD)
            return wrong(err, "the headers of a part do not end");
        data += 4;
        const char *end = memmem(data - 2, n - (size_t)(data - 2 - body), boundary, len);
        if (!end)
            return wrong(err, "it ends before its last boundary");
        int rc = add_part(&f, head + 2, (size_t)(data - 2 - (head + 2)), data,
            end > data ? (size_t)(end - data) : 0, err);
        if (rc != DG_OK)
            return rc;
        at = (size_t)(end - body) + len;
    }
    return DG_OK;
}
