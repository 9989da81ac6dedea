#include "server/api/documents.h"

#include "base/fields.h"
#include "documents/extract.h"
#include "server/access/gate.h"
#include "server/api/answer.h"
#include "server/api/files.h"
#include "server/api/mixed.h"
#include "server/api/routes.h"
#include "server/api/side.h"
#include "server/http/reply.h"
#include "server/uploads/uploads.h"

#include <string.h>

static bool is_off(struct dg_app *app, struct dg_http_exchange *x)
{
    if (!app->uploader)
        dg_reply_with_error(x, 403, "forbidden",
            "documents are disabled on this server (--documents enables them)");
    return !app->uploader;
}

static void fail(struct dg_http_reply *r, const struct dg_error *err)
{
    if (err->code == DG_ENOTFOUND && strcmp(err->field, "id") == 0)
        dg_reply_error(r, 404, "not_found", "id", err->message);
    else if (err->code == DG_ENOTFOUND && strcmp(err->field, "glossary") == 0)
        dg_reply_error(r, 400, "invalid_request", "glossary", err->message);
    else
        dg_reply_failure(r, err);
}

static struct dg_json *describe(const struct dg_upload *u, double share)
{
    static const char *const names[] = {[DG_UPLOAD_QUEUED] = "queued",
        [DG_UPLOAD_RUNNING] = "translating",
        [DG_UPLOAD_DONE] = "done",
        [DG_UPLOAD_FAILED] = "failed"};
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "id", u->id);
    dg_json_set_string(o, "name", u->name);
    dg_json_set_string(o, "source", u->source);
    dg_json_set_string(o, "target", u->target);
    if (u->glossary[0] != '\0')
        dg_json_set_string(o, "glossary", u->glossary);
    if (u->rerank)
        dg_json_set_take(o, "rerank", dg_json_new_bool(true));
    dg_json_set_string(o, "status", names[u->state]);
    dg_json_set_real(o, "progress", u->state == DG_UPLOAD_DONE ? 1 : share);
    dg_json_set_int(o, "characters", u->characters);
    dg_answer_time(o, "created", u->created_s, "Z");
    if (u->state == DG_UPLOAD_FAILED)
        dg_json_set_string(o, "message", u->message);
    return o;
}

static const struct dg_field rerank_field = {
    .name = "rerank", .kind = DG_FIELD_BOOL, DG_FIELD_AT(struct dg_upload_order, rerank)};

static int read_fields(const struct dg_json *o, struct dg_upload_order *order, struct dg_error *err)
{
    static const char *const fields[] = {"source", "target", "glossary", "rerank", NULL};
    const char *rerank = NULL;
    int rc = dg_json_only(o, NULL, fields, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(o, NULL, "source", &order->source, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(o, NULL, "target", &order->target, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(o, NULL, "glossary", &order->glossary, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(o, NULL, "rerank", &rerank, err);
    if (rc == DG_OK && rerank)
        rc = dg_field_set(&rerank_field, "rerank", rerank, order, err);
    if (rc == DG_OK && (!order->source || !order->target))
        rc = dg_error_field(err, DG_EINVAL, order->source ? "target" : "source", "%s is missing",
            order->source ? "target" : "source");
    if (rc == DG_OK && strcmp(order->source, DG_SOURCE_AUTO) == 0)
        order->source = NULL;
    return rc;
}

static int take(const struct dg_side *s, struct dg_upload *made, struct dg_error *err)
{
    struct dg_multipart_file file;
    struct dg_json *fields = NULL;
    int rc = dg_file_form_read(s->request, &fields, &file, err);
    struct dg_upload_order order = {
        .name = file.name, .bytes = file.data, .n = file.n, .owner = s->owner, .visit = s->visit};
    if (rc == DG_OK)
        rc = read_fields(fields, &order, err);
    if (rc == DG_OK && !file.name[0])
        rc = dg_error_field(err, DG_EINVAL, "file", "file is missing, or has no name");
    if (rc == DG_OK && !dg_extract_suffix(file.name))
        rc = dg_extract_unknown(file.name, err);
    if (rc == DG_OK)
        rc = dg_uploader_fits(s->app->uploader, file.name, file.n, err);
    if (rc == DG_OK)
        rc = dg_uploader_add(s->app->uploader, &order, made, err);
    dg_json_free(fields);
    return rc;
}

static void answer_document(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_upload made;
    struct dg_error err = {0};
    if (take(s, &made, &err) != DG_OK) {
        fail(r, &err);
        return;
    }
    dg_reply_json_take(r, 201, describe(&made, 0));
    if (r->status == 503)
        dg_uploader_undo(s->app->uploader, made.id);
}

void dg_api_documents(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    if (is_off(app, x))
        return;
    if (!dg_multipart_is(dg_http_request(x)->type)) {
        dg_reply_error(&r, 415, "unsupported_media_type", "Content-Type",
            "Content-Type must be multipart/form-data");
        dg_http_reply_take(x, &r);
        return;
    }
    dg_side_run_document(app, x, answer_document);
}

/* Finds the document that a path names, if it has this owner. DG_ENOTFOUND. */
static int find(struct dg_app *app, const char *path, const char *owner, struct dg_upload *u,
    struct dg_upload_progress *progress, struct dg_error *err)
{
    char id[DG_UPLOAD_ID];
    dg_routes_id(path, id, sizeof id);
    int rc = dg_uploader_get(app->uploader, id, u, progress, err);
    if (rc == DG_OK && strcmp(u->owner, owner) != 0)
        rc = dg_error_field(err, DG_ENOTFOUND, "id", "no such document");
    return rc;
}

/* Finds the document that the request asks for; false: x has its error reply. */
static bool look_up(struct dg_app *app, struct dg_http_exchange *x, struct dg_upload *u,
    struct dg_upload_progress *progress)
{
    char owner[DG_GATE_OWNER];
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    if (is_off(app, x))
        return false;
    dg_gate_owner(app->auth, x, owner);
    if (find(app, dg_http_request(x)->path, owner, u, progress, &err) == DG_OK)
        return true;
    fail(&r, &err);
    dg_http_reply_take(x, &r);
    return false;
}

static void answer_removal(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_upload u;
    struct dg_error err = {0};
    int rc = find(s->app, s->request->path, s->owner, &u, NULL, &err);
    if (rc == DG_OK)
        rc = dg_uploader_remove(s->app->uploader, u.id, &err);
    if (rc == DG_OK)
        r->status = 204;
    else
        fail(r, &err);
}

void dg_api_document(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_upload u;
    struct dg_upload_progress progress;
    if (dg_http_request(x)->method[0] == 'D') {
        if (!is_off(app, x))
            dg_side_run_document(app, x, answer_removal);
        return;
    }
    if (!look_up(app, x, &u, &progress))
        return;
    dg_reply_with_take(x, 200, describe(&u, progress.share));
}

void dg_api_document_result(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_upload u;
    struct dg_error err = {0};
    struct dg_http_reply r = {0};
    if (!look_up(app, x, &u, NULL))
        return;
    if (u.state != DG_UPLOAD_DONE)
        dg_reply_error(&r, 404, "not_found", "id",
            u.state == DG_UPLOAD_FAILED ? "the document could not be translated"
                                        : "the document is not translated yet");
    else if (dg_file_reply(app, &u, &r, &err) != DG_OK)
        fail(&r, &err);
    dg_http_reply_take(x, &r);
}
