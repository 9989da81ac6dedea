/* DESIGN. A single work on the executor does everything, one document after another: it begins a
 * document, and ends it when its texts are over. One thread, door, checks the documents that arrive
 * and adds them to the file, under file_lock, and posts the work. Writing may wait for seconds
 * while another program has the file locked. Reading never does, in WAL mode, so it has the file
 * open a second time, under a lock that nobody holds while writing. Of several servers with the
 * same file, one is in charge: it translates. The others take documents and give them out. */
#include "server/uploads/uploads_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/access/gate.h"
#include "server/config.h"
#include "server/uploads/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARRIVED 128        /* documents that wait to be checked */
#define FIRST_NS 5000000000ull /* before the first check: the clock may be set soon after boot */

void dg_uploader_log(const char *what, const struct dg_error *err)
{
    dg_log(DG_LOG_ERROR, "documents: %s message=\"%s\"", what, err->message);
}

int dg_uploader_follow_clock(struct dg_uploader *u, struct dg_error *err)
{
    const int64_t step = dg_clock_step(&u->clock);
    u->step_s += step;
    u->began_s += step;
    if (step != 0)
        dg_log(DG_LOG_WARN, "documents: the wall clock was set by_seconds=%" PRId64, step);
    if (!u->in_charge)
        return DG_OK;
    const struct dg_uploads_clock clock = {u->step_s, (int64_t)dg_clock_wall_s(), u->began_s};
    int rc = dg_uploads_date(u->store, &clock, err);
    if (rc == DG_OK)
        u->step_s = 0;
    return rc;
}

/* ---- open, close ---- */

int dg_uploader_open(struct dg_app *app, struct dg_uploader **out, struct dg_error *err)
{
    const struct dg_executor_options door = {
        .name = "documents", .threads = 1, .max_ready = MAX_ARRIVED};
    struct dg_uploader *u = calloc(1, sizeof *u);
    if (!u)
        return dg_error_set(err, DG_ENOMEM, "no memory for documents");
    u->app = app;
    dg_buffer_init(&u->kept);
    u->work = (struct dg_work){.run = dg_uploader_work, .arg = u};
    dg_watches_init(&u->watches);
    pthread_mutex_init(&u->file_lock, NULL);
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->idle, NULL);
    dg_clock_step(&u->clock);
    u->began_s = (int64_t)dg_clock_wall_s();
    u->expire_at_ns = dg_clock_ns() + FIRST_NS;
    int rc = dg_uploads_open(app->config.documents, &u->store, err);
    if (rc == DG_OK)
        rc = dg_uploads_open(app->config.documents, &u->read, err);
    if (rc == DG_OK)
        rc = dg_executor_open(&door, &u->door, err);
    if (rc != DG_OK) {
        dg_uploader_close(u);
        return rc;
    }
    *out = u;
    return DG_OK;
}

void dg_uploader_start(struct dg_uploader *u)
{
    dg_executor_post(u->app->executor, &u->work);
}

void dg_uploader_stop(struct dg_uploader *u)
{
    if (!u)
        return;
    pthread_mutex_lock(&u->lock);
    atomic_store(&u->stopped, true);
    pthread_mutex_unlock(&u->lock);
    dg_watches_close(&u->watches);
    /* Wait for the current document: threads that are about to be stopped still plan its texts. */
    pthread_mutex_lock(&u->lock);
    while (u->busy)
        pthread_cond_wait(&u->idle, &u->lock);
    pthread_mutex_unlock(&u->lock);
}

void dg_uploader_close(struct dg_uploader *u)
{
    if (!u)
        return;
    dg_executor_close(u->door);
    dg_upload_run_close(u->run); /* the next server queues it again */
    dg_buffer_deinit(&u->kept);
    if (u->store)
        dg_uploader_follow_clock(u, NULL);
    dg_uploads_close(u->read);
    dg_uploads_close(u->store);
    pthread_cond_destroy(&u->idle);
    pthread_mutex_destroy(&u->file_lock);
    pthread_mutex_destroy(&u->lock);
    dg_watches_deinit(&u->watches);
    free(u);
}

uint64_t dg_uploader_failures(const struct dg_uploader *u)
{
    return dg_uploads_failures(u->store) + dg_uploads_failures(u->read);
}

/* ---- clients ---- */

bool dg_uploader_post(struct dg_uploader *u, struct dg_work *work)
{
    return dg_executor_post(u->door, work);
}

int dg_uploader_fits(const struct dg_uploader *u, const char *name, size_t n, struct dg_error *err)
{
    const struct dg_server_config *c = &u->app->config;
    const size_t most = (size_t)c->max_body_bytes;
    if (n <= most || dg_extract_packed(name) || !dg_extract_suffix(name))
        return DG_OK;
    return dg_error_field(err, DG_ELIMIT, "file",
        "the file has %zu bytes, the limit is %zu for this kind of file, and %zu for packed kinds "
        "such as .docx and .epub",
        n, most, dg_server_config_document_bytes(c));
}

int dg_uploader_add(struct dg_uploader *u, const struct dg_upload_order *o, struct dg_upload *made,
    struct dg_error *err)
{
    const size_t name_len = strlen(o->name);
    memset(made, 0, sizeof *made);
    /* A name that was cut would lack its suffix, and perhaps a part of its last character. */
    if (name_len >= sizeof made->name)
        return dg_error_field(err, DG_EINVAL, "file",
            "the document's name has %zu bytes, the limit is %zu", name_len, sizeof made->name - 1);
    memcpy(made->name, o->name, name_len);
    snprintf(made->owner, sizeof made->owner, "%s", o->owner);
    /* Whoever stops the server waits for the documents in line. */
    if (atomic_load(&u->stopped))
        return dg_error_set(err, DG_ECANCELED, "the server is stopping");
    int rc = dg_upload_check(u->app, o, made, err);
    if (rc == DG_OK)
        rc = dg_gate_use(u->app->auth, o->visit, made->characters, err);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&u->file_lock);
    rc = dg_uploader_follow_clock(u, err);
    made->created_s = (int64_t)dg_clock_wall_s();
    if (rc == DG_OK)
        rc = dg_uploads_add(u->store, o->bytes, o->n, u->app->config.documents_bytes, made, err);
    pthread_mutex_unlock(&u->file_lock);
    if (rc == DG_OK)
        dg_executor_post(u->app->executor, &u->work);
    return rc;
}

int dg_uploader_get(struct dg_uploader *u, const char *id, struct dg_upload *out,
    struct dg_upload_progress *progress, struct dg_error *err)
{
    struct dg_upload_progress now = {0};
    pthread_mutex_lock(&u->lock);
    int rc = dg_uploads_get(u->read, id, out, err);
    if (rc == DG_OK && u->run && strcmp(u->running, id) == 0)
        now = (struct dg_upload_progress){
            dg_upload_run_share(u->run), (double)(dg_clock_ns() - u->began_ns) * 1e-9};
    pthread_mutex_unlock(&u->lock);
    if (progress)
        *progress = now;
    return rc;
}

int dg_uploader_read(
    struct dg_uploader *u, const char *id, struct dg_buffer *file, struct dg_error *err)
{
    pthread_mutex_lock(&u->lock);
    int rc = dg_uploads_read(u->read, id, file, err);
    pthread_mutex_unlock(&u->lock);
    return rc;
}

int dg_uploader_remove(struct dg_uploader *u, const char *id, struct dg_error *err)
{
    pthread_mutex_lock(&u->file_lock);
    int rc = dg_uploads_remove(u->store, id, err);
    pthread_mutex_unlock(&u->file_lock);
    if (rc == DG_OK) {
        dg_watches_wake(&u->watches, id, NULL);
        dg_uploader_end_removed(u);
    }
    return rc;
}

void dg_uploader_undo(struct dg_uploader *u, const char *id)
{
    struct dg_error err = {0};
    if (dg_uploader_remove(u, id, &err) != DG_OK)
        dg_uploader_log("cannot be removed", &err);
}

int dg_uploader_watch(struct dg_uploader *u, const char *id, struct dg_http_exchange *x,
    const atomic_bool *gone, struct dg_error *err)
{
    struct dg_upload upload;
    int rc = dg_watches_add(&u->watches, id, x, gone, err);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&u->lock);
    bool over =
        dg_uploads_get(u->read, id, &upload, NULL) == DG_OK && upload.state >= DG_UPLOAD_DONE;
    pthread_mutex_unlock(&u->lock);
    if (over) /* perhaps before it was watched */
        dg_watches_wake(&u->watches, id, x);
    return DG_OK;
}

void dg_uploader_unwatch(struct dg_uploader *u, struct dg_http_exchange *x)
{
    dg_watches_wake(&u->watches, NULL, x);
}
