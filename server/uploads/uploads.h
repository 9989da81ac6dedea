/* Documents that clients send: kept in a file (store/uploads.h), translated one after another as
 * bulk work, and kept until they expire. A document interrupted by a restart starts again. Any
 * thread. */
#ifndef DG_SERVER_UPLOADS_UPLOADS_H
#define DG_SERVER_UPLOADS_UPLOADS_H

#include "server/app.h"
#include "server/http/http.h"
#include "store/uploads.h"

struct dg_uploader;

struct dg_uploader_options {
    struct dg_app *app;
    const char *path;
    /* documents, from when they were sent; what somebody sets the wall clock to does not count */
    int64_t keep_s;
    /* of all files that are kept */
    int64_t most_bytes;
};

/* DG_EFORMAT, DG_EUNSUP, DG_EIO: as dg_uploads_open. */
int dg_uploader_open(
    const struct dg_uploader_options *options, struct dg_uploader **out, struct dg_error *err);
/* Start with the stored documents: the models are loaded. */
void dg_uploader_start(struct dg_uploader *u);
/* Translate no more, and wake all waiting exchanges: the queue was stopped, the planner was not.
 * Returns once nothing is under way. NULL is fine. */
void dg_uploader_stop(struct dg_uploader *u);
/* Nothing works for it any more. NULL is fine. */
void dg_uploader_close(struct dg_uploader *u);

/* A document of a client: its name, its bytes and its languages (as this server has them; source
 * NULL: to be found out). x: the exchange that sent it, whose key pays. */
struct dg_upload_order {
    /* [n] */
    const char *name, *bytes;
    size_t n;
    const char *source, *target;
    /* one of the server, by its name, or of the key, by its id; NULL: none */
    const char *glossary;
    struct dg_http_exchange *x;
};

/* Take it. DG_EUNSUP, DG_EINVAL, DG_ELIMIT (field file): it cannot be translated; DG_ENOTFOUND: no
 * model for its languages, or, as DG_EINVAL, field glossary: no such glossary, none for them;
 * DG_EQUOTA; DG_EAGAIN: too many are kept. HTTP thread. */
int dg_uploader_add(struct dg_uploader *u, const struct dg_upload_order *order,
    struct dg_upload *made, struct dg_error *err);

/* Of one that is translated now; else 0. */
struct dg_upload_progress {
    /* of it that is done, 0 to 1 */
    double share;
    /* since it was begun */
    double seconds;
};

/* How it is. DG_ENOTFOUND. */
int dg_uploader_get(struct dg_uploader *u, const char *id, struct dg_upload *out,
    struct dg_upload_progress *progress, struct dg_error *err);
/* Its translation. DG_ENOTFOUND, also where it is not done. */
int dg_uploader_read(
    struct dg_uploader *u, const char *id, struct dg_buffer *file, struct dg_error *err);

/* Drop it; the answer of one that is being translated is thrown away. DG_ENOTFOUND. */
int dg_uploader_remove(struct dg_uploader *u, const char *id, struct dg_error *err);
/* Drop it because its client was refused after all, and has no id. What fails is logged. */
void dg_uploader_undo(struct dg_uploader *u, const char *id);

/* Wake the exchange when the document is done or failed, or the server stops, to answer it later.
 * False: too many wait. */
bool dg_uploader_watch(struct dg_uploader *u, const char *id, struct dg_http_exchange *x);
/* Its client has gone: wake it now, if it waits. */
void dg_uploader_unwatch(struct dg_uploader *u, struct dg_http_exchange *x);

#endif
