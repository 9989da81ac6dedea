#include "server/api/files.h"

#include "documents/extract.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

int dg_file_form_read(const struct dg_http_exchange *x, struct dg_json **fields,
    struct dg_multipart_file *file, struct dg_error *err)
{
    const struct dg_http_request *q = dg_http_request(x);
    *file = (struct dg_multipart_file){0};
    *fields = dg_json_new_object();
    if (!*fields)
        return dg_error_set(err, DG_ENOMEM, "no memory for a form");
    if (!dg_multipart_is(q->type))
        return dg_error_field(
            err, DG_EINVAL, "body", "the request must be a form with a file, multipart/form-data");
    return dg_multipart_read(q->type, q->body, q->body_len, "file", *fields, file, err);
}

/* The name of the translated file: "report.docx" in German is "report_de.docx"; characters that a
 * header cannot hold become "_". */
static void download_name(const struct dg_upload *u, char out[120])
{
    const char *suffix = dg_extract_suffix(u->name);
    size_t n = strlen(u->name), len = strlen(suffix ? suffix : "");
    char stem[64];
    n = n > len ? n - len : n;
    n = n < sizeof stem - 1 ? n : sizeof stem - 1;
    for (size_t i = 0; i < n; i++)
        stem[i] = u->name[i];
    stem[n] = '\0';
    snprintf(out, 120, "%s_%.20s%s", stem, u->target, suffix ? suffix : "");
    for (char *s = out; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("._-", *s))
            *s = '_';
}

void dg_file_reply_take(
    struct dg_http_reply *r, const struct dg_upload *upload, struct dg_buffer *file)
{
    char name[120];
    download_name(upload, name);
    r->status = 200;
    r->content_type = dg_extract_media_type(upload->name);
    r->body = dg_buffer_take(file, &r->body_len);
    dg_http_reply_header(r, "Content-Disposition", "attachment; filename=\"%s\"", name);
    dg_http_reply_header(r, "Cache-Control", "no-store");
}
