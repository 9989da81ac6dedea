/* Exchanges that wait for documents: each is woken once. Any thread. Only for server/uploads. */
#ifndef DG_SERVER_UPLOADS_WATCHES_H
#define DG_SERVER_UPLOADS_WATCHES_H

#include "server/http/http.h"
#include "store/uploads.h"

#include <pthread.h>
#include <stdatomic.h>

#define DG_WATCHES_MAX 64

struct dg_watch {
    char id[DG_UPLOAD_ID];
    struct dg_http_exchange *x;
};

struct dg_watches {
    pthread_mutex_t lock;
    /* guarded by lock: [n] */
    struct dg_watch list[DG_WATCHES_MAX];
    size_t n;
    /* guarded by lock: the server stops */
    bool closed;
};

void dg_watches_init(struct dg_watches *w);
void dg_watches_deinit(struct dg_watches *w);
/* Let the exchange wait for this document. gone: its client has left; set before dg_watches_wake is
 * called for that. DG_EAGAIN: too many exchanges are waiting; DG_ECANCELED: closed, or gone. */
int dg_watches_add(struct dg_watches *w, const char *id, struct dg_http_exchange *x,
    const atomic_bool *gone, struct dg_error *err);
/* Wake the exchanges that wait for this document (id NULL: for any); only: just this one, NULL: all
 * of them. */
void dg_watches_wake(struct dg_watches *w, const char *id, const struct dg_http_exchange *only);
/* Wake the exchanges whose documents, by the file, are translated, have failed or are gone. */
void dg_watches_wake_over(struct dg_watches *w, struct dg_uploads *file);
/* Wake all, and let no more wait. */
void dg_watches_close(struct dg_watches *w);

#endif
