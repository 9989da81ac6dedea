/* DESIGN. A single work on the executor does everything, one document after another: it begins a
 * document, and ends it when its texts are over. One thread, door, checks the documents that arrive
 * and adds them to the file, under file_lock, and posts the work. Writing may wait for seconds
 * while another program has the file locked. Reading never does, in WAL mode, so it has the file
 * open a second time, under a lock that nobody holds while writing. */
#include "server/uploads/uploads.h"

#include "base/clock.h"
#include "base/clock_step.h"
#include "base/log.h"
#include "server/access/gate.h"
#include "server/uploads/check.h"
#include "server/uploads/run.h"
#include "server/uploads/watches.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARRIVED 128          /* documents that wait to be checked */
#define RETRY_NS 1000000000ull   /* if the feeder is full, or the file cannot be read or written */
#define EXPIRE_NS 60000000000ull /* between two checks for expired documents */
#define FIRST_NS 5000000000ull   /* before the first check: the clock may be set soon after boot */

struct dg_uploader {
    struct dg_uploader_options options;
    struct dg_work work;
    struct dg_executor *door;
    struct dg_watches watches;
    atomic_bool over, stopped;
    uint64_t expired_ns; /* only for the work */
    /* only for the work: the outcome of the document `running` could not be written, so the
     * document must be translated again */
    bool unsettled;
    pthread_mutex_t file_lock;
    /* guarded by file_lock */
    struct dg_uploads *store;
    /* both clocks, at the last check of the wall clock */
    struct dg_clock_step clock;
    int64_t began_s;      /* time of opening, by the wall clock as it is set now */
    int64_t step_s;       /* seconds the clock was set by, not yet in the file */
    pthread_mutex_t lock; /* taken last */
    pthread_cond_t idle;  /* busy has become false */
    /* guarded by lock */
    struct dg_uploads *read;   /* the same file, only for reading */
    bool busy;                 /* a document is being read or translated */
    struct dg_upload_run *run; /* made and closed by the work alone */
    char running[DG_UPLOAD_ID];
    uint64_t began_ns;
};

/* ---- the work ---- */

/* Sets busy, but not to true once the server is stopping, and returns it. */
static bool set_busy(struct dg_uploader *u, bool busy)
{
    pthread_mutex_lock(&u->lock);
    u->busy = busy && !atomic_load(&u->stopped);
    busy = u->busy;
    pthread_cond_broadcast(&u->idle);
    pthread_mutex_unlock(&u->lock);
    return busy;
}

static void texts_over(void *arg)
{
    struct dg_uploader *u = arg;
    atomic_store(&u->over, true);
    dg_executor_post(u->options.app->executor, &u->work);
}

static void log_error(const char *what, const struct dg_error *err)
{
    dg_log(DG_LOG_ERROR, "documents: %s message=\"%s\"", what, err->message);
}

static void retry(struct dg_uploader *u)
{
    dg_executor_post_at(u->options.app->executor, &u->work, dg_clock_ns() + RETRY_NS);
}

/* Notes the document that is being translated; run NULL: that is to be settled. */
static void set_running(struct dg_uploader *u, struct dg_upload_run *run, const char *id)
{
    pthread_mutex_lock(&u->lock);
    u->run = run;
    u->began_ns = dg_clock_ns();
    snprintf(u->running, sizeof u->running, "%s", id);
    pthread_mutex_unlock(&u->lock);
}

/* Write the document's outcome to the file: translated, put back, or failed, because of why or
 * because the translation could not be written. A lock passes: it fails no document. */
static void settle(
    struct dg_uploader *u, const char *id, const struct dg_buffer *file, const struct dg_error *why)
{
    struct dg_error err = {0}, again = {0};
    bool later = why->code == DG_ECANCELED || why->code == DG_EAGAIN;
    pthread_mutex_lock(&u->file_lock);
    int rc = later ? dg_uploads_put_back(u->store, id, &err)
             : why->code != DG_OK
                 ? dg_uploads_done(u->store, id, "", 0, why->message, &err)
                 : dg_uploads_done(u->store, id, file->data, file->len, NULL, &err);
    if (rc != DG_OK && rc != DG_EAGAIN && !later)
        rc = dg_uploads_done(u->store, id, "", 0, err.message, &again);
    pthread_mutex_unlock(&u->file_lock);
    u->unsettled = rc != DG_OK;
    if (u->unsettled)
        set_running(u, NULL, id);
    if (err.code != DG_OK)
        log_error("cannot be written", &err);
    if (!later && !u->unsettled)
        dg_watches_wake(&u->watches, id, NULL);
}

/* Put the unsettled document back. False: the file still cannot be written. */
static bool settle_again(struct dg_uploader *u)
{
    struct dg_error err = {0};
    if (!u->unsettled)
        return true;
    pthread_mutex_lock(&u->file_lock);
    u->unsettled = dg_uploads_put_back(u->store, u->running, &err) != DG_OK;
    pthread_mutex_unlock(&u->file_lock);
    if (u->unsettled)
        retry(u);
    return !u->unsettled;
}

static void end_run(struct dg_uploader *u)
{
    struct dg_buffer file;
    struct dg_error why = {0};
    char id[DG_UPLOAD_ID];
    dg_buffer_init(&file);
    pthread_mutex_lock(&u->lock);
    struct dg_upload_run *run = u->run;
    snprintf(id, sizeof id, "%s", u->running);
    u->run = NULL;
    pthread_mutex_unlock(&u->lock);
    dg_upload_run_result(run, &file, &why);
    settle(u, id, &file, &why);
    dg_upload_run_close(run);
    dg_buffer_deinit(&file);
    atomic_store(&u->over, false);
    set_busy(u, false);
}

/* Begin the next document. False: there is none, or it must wait. */
static bool begin_run(struct dg_uploader *u)
{
    struct dg_upload next;
    struct dg_upload_run *run = NULL;
    struct dg_buffer file;
    struct dg_error err = {0};
    dg_buffer_init(&file);
    if (!settle_again(u))
        return false;
    pthread_mutex_lock(&u->file_lock);
    int rc = dg_uploads_next(u->store, &next, &file, &err);
    pthread_mutex_unlock(&u->file_lock);
    if (rc != DG_OK) {
        if (rc != DG_ENOTFOUND) {
            log_error("cannot be read", &err);
            retry(u);
        }
        dg_buffer_deinit(&file);
        return false;
    }
    /* An accepted document is translated, even if --max-batch-characters has been lowered since. */
    const struct dg_extract_limits limits = dg_upload_limits(DG_UPLOAD_MOST_BYTES);
    const struct dg_upload_run_options start = {
        .upload = &next, .limits = &limits, .over = texts_over, .arg = u};
    /* Without the lock: texts_over may be called before this returns; only this work reads
     * u->over. */
    rc = dg_upload_run_start(u->options.app, &start, &file, &run, &err);
    if (rc != DG_OK) {
        settle(u, next.id, NULL, &err);
        if (rc == DG_EAGAIN)
            retry(u);
        return rc != DG_EAGAIN;
    }
    set_running(u, run, next.id);
    return true;
}

/* Follow steps of the wall clock since the last check, so that documents keep their ages. Called
 * before a document is added, and before expired ones are dropped. file_lock held. */
static int follow_clock(struct dg_uploader *u, struct dg_error *err)
{
    const int64_t step = dg_clock_step(&u->clock);
    u->step_s += step;
    u->began_s += step;
    if (step != 0)
        dg_log(DG_LOG_WARN, "documents: the wall clock was set by_seconds=%" PRId64, step);
    const struct dg_uploads_clock clock = {u->step_s, (int64_t)dg_clock_wall_s(), u->began_s};
    int rc = dg_uploads_date(u->store, &clock, err);
    if (rc == DG_OK)
        u->step_s = 0;
    return rc;
}

static void expire(struct dg_uploader *u)
{
    struct dg_error err = {0};
    uint64_t now = dg_clock_ns();
    if (now - u->expired_ns < EXPIRE_NS)
        return;
    u->expired_ns = now;
    pthread_mutex_lock(&u->file_lock);
    int rc = follow_clock(u, &err);
    if (rc == DG_OK)
        rc = dg_uploads_expire(u->store, (int64_t)dg_clock_wall_s() - u->options.keep_s, &err);
    pthread_mutex_unlock(&u->file_lock);
    if (rc != DG_OK)
        log_error("cannot be dropped", &err);
}

static void work(void *arg)
{
    struct dg_uploader *u = arg;
    expire(u);
    if (u->run && atomic_load(&u->over))
        end_run(u);
    while (!u->run && set_busy(u, true) && begin_run(u))
        ;
    if (!u->run)
        set_busy(u, false);
    if (!atomic_load(&u->stopped))
        dg_executor_post_at(u->options.app->executor, &u->work, u->expired_ns + EXPIRE_NS);
}

/* ---- open, close ---- */

int dg_uploader_open(
    const struct dg_uploader_options *options, struct dg_uploader **out, struct dg_error *err)
{
    const struct dg_executor_options door = {
        .name = "documents", .threads = 1, .max_ready = MAX_ARRIVED};
    struct dg_uploader *u = calloc(1, sizeof *u);
    if (!u)
        return dg_error_set(err, DG_ENOMEM, "no memory for documents");
    u->options = *options;
    u->work = (struct dg_work){.run = work, .arg = u};
    dg_watches_init(&u->watches);
    pthread_mutex_init(&u->file_lock, NULL);
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->idle, NULL);
    dg_clock_step(&u->clock);
    u->began_s = (int64_t)dg_clock_wall_s();
    u->expired_ns = dg_clock_ns() - EXPIRE_NS + FIRST_NS;
    int rc = dg_uploads_open(options->path, &u->store, err);
    if (rc == DG_OK)
        rc = dg_uploads_open(options->path, &u->read, err);
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
    dg_executor_post(u->options.app->executor, &u->work);
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
    dg_upload_run_close(u->run); /* it is queued again when the file is next opened */
    if (u->store)
        follow_clock(u, NULL);
    dg_uploads_close(u->store);
    dg_uploads_close(u->read);
    pthread_cond_destroy(&u->idle);
    pthread_mutex_destroy(&u->file_lock);
    pthread_mutex_destroy(&u->lock);
    dg_watches_deinit(&u->watches);
    free(u);
}

/* ---- clients ---- */

bool dg_uploader_post(struct dg_uploader *u, struct dg_work *work)
{
    return dg_executor_post(u->door, work);
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
    int rc = dg_upload_check(u->options.app, o, made, err);
    if (rc == DG_OK)
        rc = dg_gate_use(u->options.app->auth, o->visit, made->characters, err);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&u->file_lock);
    rc = follow_clock(u, err);
    made->created_s = (int64_t)dg_clock_wall_s();
    if (rc == DG_OK)
        rc = dg_uploads_add(u->store, o->bytes, o->n, u->options.most_bytes, made, err);
    pthread_mutex_unlock(&u->file_lock);
    if (rc == DG_OK)
        dg_executor_post(u->options.app->executor, &u->work);
    return rc;
}

int dg_uploader_get(struct dg_uploader *u, const char *id, struct dg_upload *out,
    struct dg_upload_progress *progress, struct dg_error *err)
{
    *progress = (struct dg_upload_progress){0};
    pthread_mutex_lock(&u->lock);
    int rc = dg_uploads_get(u->read, id, out, err);
    if (rc == DG_OK && u->run && strcmp(u->running, id) == 0)
        *progress = (struct dg_upload_progress){
            dg_upload_run_share(u->run), (double)(dg_clock_ns() - u->began_ns) * 1e-9};
    pthread_mutex_unlock(&u->lock);
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
    if (rc == DG_OK)
        dg_watches_wake(&u->watches, id, NULL);
    return rc;
}

void dg_uploader_undo(struct dg_uploader *u, const char *id)
{
    struct dg_error err = {0};
    if (dg_uploader_remove(u, id, &err) != DG_OK)
        log_error("cannot be removed", &err);
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
