/* POST /v2/document and below it: clients send a document, ask for its status with its key, and
 * download the result. */
#include "documents/extract.h"
#include "server/api/deepl/deepl.h"
#include "server/api/files.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/api/side.h"
#include "server/http/reply.h"
#include "server/uploads/uploads.h"

#include <string.h>
#include <strings.h>

static bool is_off(struct dg_app *app, struct dg_http_exchange *x)
{
    if (!app->uploader)
        dg_dialect_reply_error(x, &dg_deepl, 403, NULL, "documents are disabled on this server");
    return !app->uploader;
}

static int read_order(const struct dg_side *s, const struct dg_json *o,
    const struct dg_multipart_file *file, struct dg_arena *arena, struct dg_upload *made,
    struct dg_error *err)
{
    struct dg_upload_order order = {.name = file->name,
        .bytes = file->data,
        .n = file->n,
        .owner = s->owner,
        .visit = s->visit};
    struct dg_error why = {0};
    const char *name = dg_json_string(dg_deepl_option(o, "filename"), NULL);
    const char *format = dg_json_string(dg_deepl_option(o, "output_format"), NULL);
    if (!file->name[0])
        return dg_error_field(err, DG_EINVAL, "file", "Parameter 'file' not specified");
    if (name && dg_extract_suffix(name))
        order.name = name;
    const char *suffix = dg_extract_suffix(order.name);
    if (!suffix)
        return dg_error_field(err, DG_EINVAL, "file", "Invalid file data.");
    if (format && strcasecmp(format, suffix + 1) != 0)
        return dg_deepl_not_supported("output_format", err);
    int rc = dg_deepl_read_languages(s->app->models, arena, o, &order.source, &order.target, err);
    if (rc == DG_OK)
        rc = dg_deepl_check_options(o, dg_parameter_string(o, "target_lang"), err);
    order.glossary = dg_json_string(dg_deepl_option(o, "glossary_id"), NULL);
    if (rc == DG_OK && order.glossary && !order.source)
        rc = dg_error_field(err, DG_EINVAL, "glossary_id",
            "Use of a glossary requires the source_lang parameter to be specified");
    if (rc == DG_OK)
        rc = dg_uploader_fits(s->app->uploader, order.name, order.n, err);
    if (rc != DG_OK)
        return rc;
    rc = dg_uploader_add(s->app->uploader, &order, made, &why);
    if (rc == DG_ENOTFOUND && strcmp(why.field, "glossary") == 0)
        return dg_deepl_not_supported("glossary_id", err);
    *err = why;
    return rc;
}

static void answer_document(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_multipart_file file;
    struct dg_json *fields = NULL;
    struct dg_arena arena;
    struct dg_upload made;
    struct dg_error err = {0};
    dg_arena_init(&arena, 0);
    int rc = dg_file_form_read(s->request, &fields, &file, &err);
    if (rc == DG_OK)
        rc = read_order(s, fields, &file, &arena, &made, &err);
    if (rc == DG_OK) {
        struct dg_json *root = dg_json_new_object();
        dg_json_set_string(root, "document_id", made.id);
        dg_json_set_string(root, "document_key", made.key);
        dg_reply_json_take(r, 200, root);
        if (r->status == 503)
            dg_uploader_undo(s->app->uploader, made.id);
    } else {
        dg_deepl_fail(r, &err);
    }
    dg_json_free(fields);
    dg_arena_deinit(&arena);
}

void dg_deepl_document(struct dg_app *app, struct dg_http_exchange *x)
{
    if (!is_off(app, x))
        dg_side_run_document(app, x, answer_document);
}

/* Finds the document that the path names, if the request has its key. DG_ENOTFOUND. */
static int find(struct dg_app *app, struct dg_http_exchange *x, struct dg_upload *u,
    struct dg_upload_progress *progress, struct dg_error *err)
{
    char id[DG_UPLOAD_ID];
    struct dg_json *fields = NULL;
    dg_routes_id(dg_http_request(x)->path, id, sizeof id);
    int rc = dg_parameters_read(dg_http_request(x), &fields, NULL, err);
    const char *key = dg_parameter_string(fields, "document_key");
    if (rc == DG_OK)
        rc = dg_uploader_get(app->uploader, id, u, progress, err);
    if (rc == DG_OK && (!key || strcmp(key, u->key) != 0))
        rc = dg_error_field(err, DG_ENOTFOUND, "id", "no such document with this key");
    dg_json_free(fields);
    return rc;
}

/* Finds the document that the request asks for; false: x has its error reply. */
static bool look_up(struct dg_app *app, struct dg_http_exchange *x, struct dg_upload *u,
    struct dg_upload_progress *progress)
{
    struct dg_error err = {0};
    if (is_off(app, x))
        return false;
    if (find(app, x, u, progress, &err) == DG_OK)
        return true;
    struct dg_http_reply r = {0};
    dg_deepl_fail_resource(&r, &err);
    dg_http_reply_take(x, &r);
    return false;
}

/* Extrapolated from the progress so far; at least a second. */
static int64_t seconds_left(const struct dg_upload_progress *p)
{
    return p->share > 0.01 ? (int64_t)(p->seconds * (1 - p->share) / p->share) + 1 : 10;
}

void dg_deepl_document_status(struct dg_app *app, struct dg_http_exchange *x)
{
    static const char *const names[] = {[DG_UPLOAD_QUEUED] = "queued",
        [DG_UPLOAD_RUNNING] = "translating",
        [DG_UPLOAD_DONE] = "done",
        [DG_UPLOAD_FAILED] = "error"};
    struct dg_upload u;
    struct dg_upload_progress progress;
    if (!look_up(app, x, &u, &progress))
        return;
    struct dg_json *root = dg_json_new_object();
    dg_json_set_string(root, "document_id", u.id);
    dg_json_set_string(root, "status", names[u.state]);
    if (u.state == DG_UPLOAD_RUNNING)
        dg_json_set_int(root, "seconds_remaining", seconds_left(&progress));
    if (u.state == DG_UPLOAD_DONE)
        dg_json_set_int(root, "billed_characters", u.characters);
    if (u.state == DG_UPLOAD_FAILED)
        dg_json_set_string(root, "error_message", u.message);
    dg_reply_with_take(x, 200, root);
}

void dg_deepl_document_result(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_upload u;
    struct dg_error err = {0};
    struct dg_http_reply r = {0};
    if (!look_up(app, x, &u, NULL))
        return;
    if (u.state != DG_UPLOAD_DONE)
        dg_deepl.refuse(&r, u.state == DG_UPLOAD_FAILED ? 404 : 503,
            u.state == DG_UPLOAD_FAILED ? u.message : "Document is not ready");
    else if (dg_file_reply(app, &u, &r, &err) != DG_OK)
        dg_deepl_fail_resource(&r, &err);
    dg_http_reply_take(x, &r);
}
