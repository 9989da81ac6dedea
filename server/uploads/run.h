/* One document in translation: a request without an exchange, with one item per text. One thread at
 * a time. Only for server/uploads. */
#ifndef DG_SERVER_UPLOADS_RUN_H
#define DG_SERVER_UPLOADS_RUN_H

#include "server/app.h"
#include "store/uploads.h"

struct dg_upload_run;

/* Start to translate a document, which is copied, with its file, which is taken in every case.
 * Another thread calls over(arg) once, when no thread works on the document any more. DG_EAGAIN:
 * try again later; other errors as dg_extract_open. */
int dg_upload_run_start(struct dg_app *app, const struct dg_upload *upload, struct dg_buffer *file,
    void (*over)(void *arg), void *arg, struct dg_upload_run **out, struct dg_error *err);
/* The share that is done, 0 to 1. Any thread. */
double dg_upload_run_share(const struct dg_upload_run *run);
/* Cancel the run: it is over soon, as when the server stops. Any thread, until it is closed. */
void dg_upload_run_end(struct dg_upload_run *run);
/* The translation, once the run is over. DG_ECANCELED: it ended early, or the server stopped. */
int dg_upload_run_result(struct dg_upload_run *run, struct dg_buffer *out, struct dg_error *err);
void dg_upload_run_close(struct dg_upload_run *run); /* NULL is fine */

#endif
