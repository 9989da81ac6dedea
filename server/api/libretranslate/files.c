/* POST /translate_file, which answers once the file is translated, and GET /download_file. */
#include "base/clock.h"
#include "documents/extract.h"
#include "server/access/gate.h"
#include "server/api/files.h"
#include "server/api/libretranslate/languages.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/libretranslate/parameters.h"
#include "server/api/mixed.h"
#include "server/http/reply.h"
#include "server/uploads/uploads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NS 3600000000000ull /* longest wait of a client for its document */

/* A document that a client waits for. */
struct waiting {
    struct dg_app *app;
    struct dg_http_exchange *x;
    /* adds the document */
    struct dg_work work;
    char owner[DG_GATE_OWNER];
    struct dg_visit *visit;
    atomic_bool gone;
    /* reason why the document was not added */
    struct dg_error refused;
    /* its file is too large: 413, as for a body, while other limits are 400 in this API */
    bool too_large;
    char id[DG_UPLOAD_ID];
    /* "http://host" or "https://host" */
    char base[300];
};

static void fail(struct dg_http_exchange *x, int code, const char *message)
{
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    dg_error_set(&err, code, "%s", message);
    dg_libretranslate_fail(&r, &err);
    dg_http_reply_take(x, &r);
}

static bool is_off(const struct dg_app *app, struct dg_http_exchange *x)
{
    if (!app->uploader)
        dg_dialect_reply_error(
            x, &dg_libretranslate, 403, NULL, "Files translation are disabled on this server.");
    return !app->uploader;
}

/* The document is refused, is translated, has failed or is gone, or the server is stopping. */
static void finish(void *arg, struct dg_http_exchange *x)
{
    const struct waiting *w = arg;
    struct dg_upload u;
    struct dg_error err = {0};
    if (dg_http_gone(x)) {
        struct dg_http_reply r = {0};
        dg_reply_client_gone(&r);
        dg_http_reply_take(x, &r);
    } else if (w->too_large) {
        dg_dialect_reply_error(x, &dg_libretranslate, 413, NULL, w->refused.message);
    } else if (w->refused.code != DG_OK) {
        fail(x, w->refused.code, w->refused.message);
    } else if (dg_uploader_get(w->app->uploader, w->id, &u, NULL, &err) != DG_OK) {
        fail(x, err.code,
            err.code == DG_ENOTFOUND ? "the document has expired, or was removed" : err.message);
    } else if (u.state == DG_UPLOAD_FAILED) {
        fail(x, DG_EINTERNAL, u.message);
    } else if (u.state != DG_UPLOAD_DONE) {
        dg_uploader_undo(w->app->uploader, u.id);
        fail(x, DG_ECANCELED, "the server is stopping");
    } else {
        struct dg_http_reply r = {0};
        struct dg_json *root = dg_json_new_object();
        char url[400];
        snprintf(
            url, sizeof url, "%s/download_file/%s%s", w->base, u.id, dg_extract_suffix(u.name));
        dg_json_set_string(root, "translatedFileUrl", url);
        dg_reply_json_take(&r, 200, root);
        if (r.status == 503)
            dg_uploader_undo(w->app->uploader, u.id);
        dg_http_reply_take(x, &r);
    }
}

static void gone(void *arg)
{
    struct waiting *w = arg;
    atomic_store(&w->gone, true);
    dg_uploader_unwatch(w->app->uploader, w->x);
}

static void drop(void *arg)
{
    struct waiting *w = arg;
    dg_gate_release(w->visit);
    free(w);
}

static int read_order(const struct waiting *w, const struct dg_json *o,
    const struct dg_multipart_file *file, struct dg_upload *made, struct dg_error *err)
{
    struct dg_models *models = w->app->models;
    struct dg_upload_order order = {.name = file->name,
        .bytes = file->data,
        .n = file->n,
        .owner = w->owner,
        .visit = w->visit};
    const char *source = NULL;
    if (!file->name[0])
        return dg_error_field(err, DG_EINVAL, "file", "Invalid request: missing file parameter");
    int rc = dg_lt_string(o, "source", &source, err);
    if (rc == DG_OK)
        rc = dg_lt_string(o, "target", &order.target, err);
    if (rc == DG_OK && file->n == 0)
        rc = dg_error_field(err, DG_EINVAL, "file", "Invalid request: empty file");
    if (rc == DG_OK && !dg_extract_suffix(file->name))
        rc = dg_error_field(err, DG_EINVAL, "file", "Invalid request: file format not supported");
    if (rc == DG_OK)
        rc = dg_lt_languages(models, &source, &order.target, err);
    if (rc == DG_OK && strcmp(source, DG_SOURCE_AUTO) != 0) {
        order.source = source;
        rc = dg_lt_pair(models, source, order.target, err);
    }
    return rc == DG_OK ? dg_uploader_add(w->app->uploader, &order, made, err) : rc;
}

/* Adds the document, and wakes the exchange when it is translated; at once if it is refused, or if
 * nobody waits any more. On the thread of dg_uploader_post. */
static void add(void *arg)
{
    struct waiting *w = arg;
    struct dg_multipart_file file;
    struct dg_json *fields = NULL;
    struct dg_upload made;
    struct dg_error err = {0};
    int rc = dg_file_form_read(dg_http_request(w->x), &fields, &file, &err);
    if (rc == DG_OK) {
        rc = dg_uploader_fits(w->app->uploader, file.name, file.n, &err);
        w->too_large = rc != DG_OK;
    }
    if (rc == DG_OK)
        rc = read_order(w, fields, &file, &made, &err);
    dg_json_free(fields);
    if (rc == DG_OK) {
        snprintf(w->id, sizeof w->id, "%s", made.id);
        dg_http_drop_body(w->x); /* the wait may take minutes */
        rc = dg_uploader_watch(w->app->uploader, made.id, w->x, &w->gone, &err);
        if (rc == DG_OK)
            return; /* w may be freed already */
        dg_uploader_undo(w->app->uploader, made.id);
    }
    w->refused = err;
    if (rc == DG_EUNSUP)
        w->refused.code = DG_EINVAL;
    dg_http_wake(w->x);
}

/* The address by which the client reached this server, or the proxy before it. */
static void find_base(const struct dg_http_exchange *x, char out[300])
{
    const char *host = dg_http_header(x, "Host"), *scheme = dg_http_header(x, "X-Forwarded-Proto");
    const bool encrypted = dg_http_encrypted(x) || (scheme && !strcmp(scheme, "https"));
    snprintf(out, 300, "%s://%.255s", encrypted ? "https" : "http",
        host && !strpbrk(host, "\"\\/ <>") ? host : "localhost");
}

void dg_libretranslate_file(struct dg_app *app, struct dg_http_exchange *x)
{
    static const struct dg_http_later later = {.finish = finish, .gone = gone, .drop = drop};
    if (is_off(app, x))
        return;
    struct waiting *w = calloc(1, sizeof *w);
    if (!w) {
        fail(x, DG_ENOMEM, "no memory for a request");
        return;
    }
    w->app = app;
    w->x = x;
    w->work = (struct dg_work){.run = add, .arg = w};
    atomic_init(&w->gone, false);
    dg_gate_owner(app->auth, x, w->owner);
    w->visit = dg_gate_hold(x);
    find_base(x, w->base);
    dg_http_later(x, &later, w); /* the exchange owns w from here on */
    dg_http_due(x, dg_clock_ns() + LONGEST_NS);
    if (!dg_uploader_post(app->uploader, &w->work))
        fail(x, DG_EAGAIN, "too many documents are waiting to be checked");
}

void dg_libretranslate_download(struct dg_app *app, struct dg_http_exchange *x)
{
    const char *name = dg_http_request(x)->path + strlen("/download_file/");
    struct dg_upload u;
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    char id[DG_UPLOAD_ID];
    if (is_off(app, x))
        return;
    if (strlen(name) < sizeof id || name[sizeof id - 1] != '.' || strstr(name, "..")) {
        fail(x, DG_EINVAL, "Invalid filename");
        return;
    }
    memcpy(id, name, sizeof id - 1);
    id[sizeof id - 1] = '\0';
    int rc = dg_uploader_get(app->uploader, id, &u, NULL, &err);
    /* NULL: an earlier version cut the name before it was stored. */
    const char *suffix = rc == DG_OK ? dg_extract_suffix(u.name) : NULL;
    if (rc == DG_OK && (!suffix || strcmp(suffix, name + sizeof id - 1) != 0))
        rc = DG_ENOTFOUND;
    if (rc == DG_OK)
        rc = dg_file_reply(app, &u, &r, &err);
    if (rc == DG_ENOTFOUND)
        dg_libretranslate.refuse(&r, 404, "no such file: it has expired, or is not ready yet");
    else if (rc != DG_OK)
        dg_libretranslate_fail(&r, &err);
    dg_http_reply_take(x, &r);
}
