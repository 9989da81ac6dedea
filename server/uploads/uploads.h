/* Documents that clients send: kept in a file (store/uploads.h), translated one after another as
 * bulk work, and kept until they expire. A document interrupted by a restart starts again. Any
 * thread. */
#ifndef DG_SERVER_UPLOADS_UPLOADS_H
#define DG_SERVER_UPLOADS_UPLOADS_H

#include "base/executor.h"
#include "server/app.h"
#include "server/http/http.h"
#include "store/uploads.h"

#include <stdatomic.h>

struct dg_uploader;
struct dg_visit;

/* Open the file of --documents. DG_EFORMAT, DG_EUNSUP, DG_EIO: as dg_uploads_open. */
int dg_uploader_open(struct dg_app *app, struct dg_uploader **out, struct dg_error *err);
/* Start translating the stored documents, or wait until another server with the same file stops;
 * the models must be loaded. */
void dg_uploader_start(struct dg_uploader *u);
/* Translate no more, and wake all waiting exchanges. Called when the queue has stopped and the
 * planner has not. Returns once no document is in progress. NULL is fine. */
void dg_uploader_stop(struct dg_uploader *u);
/* Close it; nothing may work for it any more. NULL is fine. */
void dg_uploader_close(struct dg_uploader *u);
/* How often the file could not be read or written, other than by a lock. Any thread. */
uint64_t dg_uploader_failures(const struct dg_uploader *u);

/* A client's document: its name, its bytes and its languages (as served codes; source NULL: to be
 * detected). */
struct dg_upload_order {
    /* [n] */
    const char *name, *bytes;
    size_t n;
    const char *source, *target;
    /* the name of one of the server's, or the id of one of the key's; NULL: none */
    const char *glossary;
    /* read the answers back */
    bool rerank;
    /* the key's id, "": none (dg_gate_owner), and what is charged for the document */
    const char *owner;
    struct dg_visit *visit;
};

/* Run work on the one thread on which documents are added: a small file can take seconds to read.
 * Works wait in line. False: the line is full. Work is carried out even if the server stops. */
bool dg_uploader_post(struct dg_uploader *u, struct dg_work *work);

/* Check the size of a file of this name: the bytes of packed kinds are mostly pictures, which cost
 * no work; those of other kinds are text. DG_ELIMIT (field file). */
int dg_uploader_fits(const struct dg_uploader *u, const char *name, size_t n, struct dg_error *err);
/* Store a document that fits, for translation. DG_EUNSUP, DG_EINVAL, DG_ELIMIT (field file): it
 * cannot be translated, or its name has DG_UPLOAD_NAME bytes or more; DG_ENOTFOUND: no model for
 * its languages, or, like DG_EINVAL, with field glossary: no such glossary, or none for these
 * languages; DG_EUNSUP (field rerank): the model cannot read answers back; DG_EQUOTA; DG_EAGAIN:
 * too many are stored; DG_ECANCELED: the server stops. On the thread of dg_uploader_post. */
int dg_uploader_add(struct dg_uploader *u, const struct dg_upload_order *order,
    struct dg_upload *made, struct dg_error *err);

/* Progress of a document that is being translated; otherwise 0. */
struct dg_upload_progress {
    /* share that is done, 0 to 1 */
    double share;
    /* since its translation began */
    double seconds;
};

/* Get a document and its progress (may be NULL), without waiting for a write. DG_ENOTFOUND. */
int dg_uploader_get(struct dg_uploader *u, const char *id, struct dg_upload *out,
    struct dg_upload_progress *progress, struct dg_error *err);
/* Read a document's translation, likewise. DG_ENOTFOUND, also if it is not done. */
int dg_uploader_read(
    struct dg_uploader *u, const char *id, struct dg_buffer *file, struct dg_error *err);

/* Remove a document; if it is being translated, the translation is cancelled. May wait for seconds,
 * so not on an HTTP thread. DG_ENOTFOUND. */
int dg_uploader_remove(struct dg_uploader *u, const char *id, struct dg_error *err);
/* Remove a document because its client was refused after all and does not know its id. Failures are
 * logged. */
void dg_uploader_undo(struct dg_uploader *u, const char *id);

/* Wake the exchange, for its reply, when the document is done, has failed, has been removed or has
 * expired, or when the server stops. gone: its client has left. DG_EAGAIN: too many exchanges are
 * waiting; DG_ECANCELED: the server has stopped already, or the client has left. */
int dg_uploader_watch(struct dg_uploader *u, const char *id, struct dg_http_exchange *x,
    const atomic_bool *gone, struct dg_error *err);
/* The exchange's client has left, and `gone` is set: wake the exchange now, if it is waiting. */
void dg_uploader_unwatch(struct dg_uploader *u, struct dg_http_exchange *x);

#endif
