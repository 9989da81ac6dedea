/* One document while it is translated: a request without an exchange, an item a text. One thread at
 * a time. Only for server/uploads. */
#ifndef DG_SERVER_UPLOADS_RUN_H
#define DG_SERVER_UPLOADS_RUN_H

#include "documents/extract.h"
#include "server/app.h"
#include "store/uploads.h"

struct dg_upload_run;

struct dg_upload_run_options {
    /* the document, copied, and how much of it may be read */
    const struct dg_upload *upload;
    const struct dg_extract_limits *limits;
    /* called once with arg, by another thread, when nothing works on the document any more */
    void (*over)(void *arg);
    void *arg;
};

/* Begin to translate file, which is taken in every case. DG_EAGAIN: not now; else as
 * dg_extract_open. */
int dg_upload_run_start(struct dg_app *app, const struct dg_upload_run_options *o,
    struct dg_buffer *file, struct dg_upload_run **out, struct dg_error *err);
/* How much of it is done, 0 to 1. Any thread. */
double dg_upload_run_share(const struct dg_upload_run *run);
/* Once it is over: its translation. DG_ECANCELED: the server stopped during it. */
int dg_upload_run_result(struct dg_upload_run *run, struct dg_buffer *out, struct dg_error *err);
void dg_upload_run_close(struct dg_upload_run *run); /* NULL is fine */

#endif
