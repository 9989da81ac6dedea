/* The work on documents: it begins one, ends it when its texts are over, and drops those that have
 * expired. */
#include "server/uploads/uploads_internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>

/* if the feeder is full, another server translates, or the file cannot be read or written; idle,
 * between two looks for documents that another server has taken */
#define RETRY_NS 1000000000ull
#define EXPIRE_NS 60000000000ull /* between two checks for expired documents */

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
    dg_executor_post(u->app->executor, &u->work);
}

static void retry(struct dg_uploader *u)
{
    dg_executor_post_at(u->app->executor, &u->work, dg_clock_ns() + RETRY_NS);
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

void dg_uploader_end_removed(struct dg_uploader *u)
{
    struct dg_upload ignored;
    pthread_mutex_lock(&u->lock);
    if (u->run && dg_uploads_get(u->read, u->running, &ignored, NULL) == DG_ENOTFOUND)
        dg_upload_run_end(u->run);
    pthread_mutex_unlock(&u->lock);
}

/* Logs the first of several failures in a row: the work retries every second. */
static void note(struct dg_uploader *u, const char *what, const struct dg_error *err)
{
    if (err->code != DG_OK && !u->failing)
        dg_uploader_log(what, err);
    u->failing = err->code != DG_OK;
}

/* Is the document to be translated again, by this server or the next one? */
static bool is_put_back(const struct dg_error *why)
{
    return why->code == DG_ECANCELED || why->code == DG_EAGAIN;
}

static int write_outcome(struct dg_uploader *u, const char *id, const struct dg_buffer *file,
    const struct dg_error *why, struct dg_error *err)
{
    if (is_put_back(why))
        return dg_uploads_put_back(u->store, id, err);
    if (why->code != DG_OK)
        return dg_uploads_done(u->store, id, "", 0, why->message, err);
    return dg_uploads_done(u->store, id, file->data, file->len, NULL, err);
}

/* Write the document's outcome to the file: translated, put back, or failed, because of why or
 * because the translation can never be written. False: it may be written later (a lock, a full
 * disk, a removed file). */
static bool settle_now(
    struct dg_uploader *u, const char *id, const struct dg_buffer *file, const struct dg_error *why)
{
    struct dg_error err = {0}, again = {0};
    pthread_mutex_lock(&u->file_lock);
    int rc = write_outcome(u, id, file, why, &err);
    if (rc != DG_OK && rc != DG_EAGAIN && rc != DG_EIO && !is_put_back(why))
        rc = dg_uploads_done(u->store, id, "", 0, err.message, &again);
    pthread_mutex_unlock(&u->file_lock);
    note(u, "cannot be written", &err);
    if (rc == DG_OK && !is_put_back(why))
        dg_watches_wake(&u->watches, id, NULL);
    return rc == DG_OK;
}

/* Write the outcome now, or keep it, with what `file` holds, for settle_again. */
static void settle(
    struct dg_uploader *u, const char *id, struct dg_buffer *file, const struct dg_error *why)
{
    u->unsettled = !settle_now(u, id, file, why);
    if (!u->unsettled)
        return;
    u->kept_why = *why;
    u->kept = *file;
    dg_buffer_init(file);
    set_running(u, NULL, id);
}

/* Write the outcome that is kept. False: the file still cannot be written. */
static bool settle_again(struct dg_uploader *u)
{
    if (!u->unsettled)
        return true;
    u->unsettled = !settle_now(u, u->running, &u->kept, &u->kept_why);
    if (u->unsettled)
        retry(u);
    else
        dg_buffer_deinit(&u->kept);
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

/* Become the one server that translates the documents of the file. False: another one does, such as
 * one that is about to be replaced by this; exchanges that wait for what it has ended are woken. */
static bool take_over(struct dg_uploader *u)
{
    struct dg_error err = {0};
    if (u->in_charge)
        return true;
    pthread_mutex_lock(&u->file_lock);
    u->in_charge = dg_uploads_take_over(u->store, &err) == DG_OK;
    if (!u->in_charge)
        dg_watches_wake_over(&u->watches, u->store);
    else if (u->waits)
        u->step_s = 0; /* the other server has followed it */
    pthread_mutex_unlock(&u->file_lock);
    if (u->in_charge && u->waits)
        dg_log(DG_LOG_INFO, "documents: translated from now on");
    if (!u->in_charge && !u->waits)
        dg_log(DG_LOG_WARN, "documents: not translated yet message=\"%s\"", err.message);
    u->waits = !u->in_charge;
    if (u->waits)
        retry(u);
    return u->in_charge;
}

/* Begin the next document. False: there is none, or it must wait. */
static bool begin_run(struct dg_uploader *u)
{
    struct dg_upload next;
    struct dg_upload_run *run = NULL;
    struct dg_buffer file;
    struct dg_error err = {0};
    dg_buffer_init(&file);
    if (!take_over(u) || !settle_again(u))
        return false;
    pthread_mutex_lock(&u->file_lock);
    int rc = dg_uploads_next(u->store, &next, &file, &err);
    pthread_mutex_unlock(&u->file_lock);
    if (rc == DG_ENOTFOUND)
        dg_error_clear(&err);
    note(u, "cannot be read", &err);
    if (rc != DG_OK) {
        if (rc != DG_ENOTFOUND)
            retry(u);
        dg_buffer_deinit(&file);
        return false;
    }
    /* Without the lock: texts_over may be called before this returns; only this work reads
     * u->over. */
    rc = dg_upload_run_start(u->app, &next, &file, texts_over, u, &run, &err);
    if (rc != DG_OK) {
        settle(u, next.id, &file, &err);
        dg_buffer_deinit(&file);
        if (rc == DG_EAGAIN)
            retry(u);
        return rc != DG_EAGAIN;
    }
    set_running(u, run, next.id);
    return true;
}

/* Drop the documents that have expired, and wake the exchanges that wait for them. */
static void expire(struct dg_uploader *u)
{
    struct dg_error err = {0};
    const uint64_t now = dg_clock_ns();
    if (!u->in_charge || now < u->expire_at_ns)
        return;
    u->expire_at_ns = now + EXPIRE_NS;
    pthread_mutex_lock(&u->file_lock);
    int rc = dg_uploader_follow_clock(u, &err);
    if (rc == DG_OK)
        rc = dg_uploads_expire(
            u->store, (int64_t)dg_clock_wall_s() - u->app->config.documents_keep_ms / 1000, &err);
    if (rc == DG_OK)
        dg_watches_wake_over(&u->watches, u->store);
    pthread_mutex_unlock(&u->file_lock);
    if (rc != DG_OK)
        dg_uploader_log("cannot be dropped", &err);
}

void dg_uploader_work(void *arg)
{
    struct dg_uploader *u = arg;
    expire(u);
    if (u->run && atomic_load(&u->over))
        end_run(u);
    while (!u->run && set_busy(u, true) && begin_run(u))
        ;
    if (!u->run)
        set_busy(u, false);
    if (!u->in_charge || atomic_load(&u->stopped))
        return;
    dg_uploader_end_removed(u); /* perhaps by another server, or before the run was known */
    if (u->run)
        dg_executor_post_at(u->app->executor, &u->work, u->expire_at_ns);
    else
        retry(u);
}
