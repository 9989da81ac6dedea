/* The documents of a server, as uploads.c (open, close, clients) and work.c (the work) see them.
 * Any thread, by the locks; the work is one on the executor and never runs twice at a time. */
#ifndef DG_SERVER_UPLOADS_UPLOADS_INTERNAL_H
#define DG_SERVER_UPLOADS_UPLOADS_INTERNAL_H

#include "base/clock_step.h"
#include "server/uploads/run.h"
#include "server/uploads/uploads.h"
#include "server/uploads/watches.h"

#include <pthread.h>

struct dg_uploader {
    struct dg_app *app;
    struct dg_work work;
    struct dg_executor *door;
    struct dg_watches watches;
    atomic_bool over, stopped;
    uint64_t expire_at_ns; /* only for the work: next check for expired documents */
    /* only for the work: the outcome of the document `running` could not be written yet, such as on
     * a full disk; it is kept here until it can */
    bool unsettled;
    struct dg_buffer kept;
    struct dg_error kept_why;
    /* only for the work: the last access to the file failed, and that was logged */
    bool failing;
    /* only for the work: another server is in charge of the file's documents */
    bool waits;
    pthread_mutex_t file_lock;
    /* guarded by file_lock */
    struct dg_uploads *store;
    /* it translates the file's documents and drops expired ones; set by the work alone */
    bool in_charge;
    /* both clocks, at the last check of the wall clock */
    struct dg_clock_step clock;
    int64_t began_s;      /* time of opening, by the wall clock as it is set now */
    int64_t step_s;       /* seconds the clock was set by, not yet in the file */
    pthread_mutex_t lock; /* taken last, but for those of the run's request */
    pthread_cond_t idle;  /* busy has become false */
    /* guarded by lock */
    struct dg_uploads *read;   /* the same file, only for reading */
    bool busy;                 /* a document is being read or translated */
    struct dg_upload_run *run; /* made and closed by the work alone */
    char running[DG_UPLOAD_ID];
    uint64_t began_ns;
};

/* The work; arg is the dg_uploader. */
void dg_uploader_work(void *arg);
/* Follow steps of the wall clock since the last check, so that documents keep their ages; the
 * server in charge does so in the file. Called before a document is added, and before expired ones
 * are dropped. file_lock held. */
int dg_uploader_follow_clock(struct dg_uploader *u, struct dg_error *err);
/* Ends the run of a document that has been removed from the file, by this server or another. */
void dg_uploader_end_removed(struct dg_uploader *u);
void dg_uploader_log(const char *what, const struct dg_error *err);

#endif
