#include "server/api/files.h"

#include "documents/extract.h"
#include "server/uploads/uploads.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct dg_json *dg_file_suffixes(const struct dg_app *app)
{
    struct dg_json *list = dg_json_new_array();
    const char *s;
    for (size_t i = 0; app->uploader && (s = dg_extract_suffix_at(i)); i++)
        dg_json_append_take(list, dg_json_new_string(s, strlen(s)));
    return list;
}

int dg_file_form_read(const struct dg_http_request *q, struct dg_json **fields,
    struct dg_multipart_file *file, struct dg_error *err)
{
    *file = (struct dg_multipart_file){0};
    *fields = dg_json_new_object();
    if (!*fields)
        return dg_error_set(err, DG_ENOMEM, "no memory for a form");
    if (!dg_multipart_is(q->type))
        return dg_error_field(
            err, DG_EINVAL, "body", "the request must be a form with a file, multipart/form-data");
    return dg_multipart_read(q->type, q->body, q->body_len, "file", *fields, file, err);
}

/* Maximum bytes of a document's name, without its suffix, in the name of its translation. */
#define MOST_STEM 120
#define NAME_SIZE 160

/* The name of the translated file: "report.docx" in German is "report_de.docx". Signs of ASCII that
 * some system does not allow in names become "_". */
static void download_name(const struct dg_upload *u, char out[NAME_SIZE])
{
    const char *suffix = dg_extract_suffix(u->name);
    size_t n = strlen(u->name), len = strlen(suffix ? suffix : "");
    n = n > len ? n - len : n;
    if (n > MOST_STEM)
        for (n = MOST_STEM; n > 0 && ((unsigned char)u->name[n] & 0xC0) == 0x80;)
            n--;
    snprintf(out, NAME_SIZE, "%.*s_%.20s%s", (int)n, u->name, u->target, suffix ? suffix : "");
    for (char *s = out; *s; s++)
        if ((unsigned char)*s < 0x80 && !isalnum((unsigned char)*s) && !strchr("._- ", *s))
            *s = '_';
}

/* Tells a browser the file's name: in ASCII, with "_" for other characters, and then for a name
 * that has some as RFC 6266 wants it. */
static void reply_name(struct dg_http_reply *r, const struct dg_upload *u)
{
    char name[NAME_SIZE], plain[NAME_SIZE], coded[3 * NAME_SIZE];
    size_t n = 0, at = 0;
    bool ascii = true;
    for (download_name(u, name); name[n]; n++) {
        const unsigned char c = (unsigned char)name[n];
        ascii = ascii && c < 0x80;
        plain[n] = c < 0x80 && c != ' ' ? name[n] : '_';
        at += (size_t)snprintf(
            coded + at, sizeof coded - at, c < 0x80 && c != ' ' ? "%c" : "%%%02X", c);
    }
    plain[n] = '\0';
    if (ascii || dg_utf8_check(name, n, NULL) != DG_OK)
        dg_http_reply_header(r, "Content-Disposition", "attachment; filename=\"%s\"", plain);
    else
        dg_http_reply_header(r, "Content-Disposition",
            "attachment; filename=\"%s\"; filename*=UTF-8''%s", plain, coded);
}

int dg_file_reply(const struct dg_app *app, const struct dg_upload *upload, struct dg_http_reply *r,
    struct dg_error *err)
{
    struct dg_buffer file;
    dg_buffer_init(&file);
    int rc = dg_uploader_read(app->uploader, upload->id, &file, err);
    if (rc == DG_OK) {
        r->status = 200;
        r->content_type = dg_extract_media_type(upload->name);
        r->body = dg_buffer_take(&file, &r->body_len);
        reply_name(r, upload);
        dg_http_reply_header(r, "Cache-Control", "no-store");
    }
    dg_buffer_deinit(&file);
    return rc;
}
