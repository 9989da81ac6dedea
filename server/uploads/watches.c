#include "server/uploads/watches.h"

#include <stdio.h>
#include <string.h>

void dg_watches_init(struct dg_watches *w)
{
    w->n = 0;
    w->closed = false;
    pthread_mutex_init(&w->lock, NULL);
}

void dg_watches_deinit(struct dg_watches *w)
{
    pthread_mutex_destroy(&w->lock);
}

int dg_watches_add(struct dg_watches *w, const char *id, struct dg_http_exchange *x,
    const atomic_bool *gone, struct dg_error *err)
{
    int rc = DG_OK;
    pthread_mutex_lock(&w->lock);
    if (w->closed) {
        rc = dg_error_set(err, DG_ECANCELED, "the server is stopping");
    } else if (atomic_load(gone)) {
        rc = dg_error_set(err, DG_ECANCELED, "the client has left");
    } else if (w->n == DG_WATCHES_MAX) {
        rc = dg_error_set(
            err, DG_EAGAIN, "%d clients wait for documents, which is the limit", DG_WATCHES_MAX);
    } else {
        struct dg_watch *one = &w->list[w->n++];
        snprintf(one->id, sizeof one->id, "%s", id);
        one->x = x;
    }
    pthread_mutex_unlock(&w->lock);
    return rc;
}

void dg_watches_wake(struct dg_watches *w, const char *id, const struct dg_http_exchange *only)
{
    struct dg_http_exchange *woken[DG_WATCHES_MAX];
    size_t n = 0, kept = 0;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n; i++) {
        const struct dg_watch *one = &w->list[i];
        if ((!id || strcmp(one->id, id) == 0) && (!only || one->x == only))
            woken[n++] = one->x;
        else
            w->list[kept++] = *one;
    }
    w->n = kept;
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < n; i++)
        dg_http_wake(woken[i]);
}

void dg_watches_wake_over(struct dg_watches *w, struct dg_uploads *file)
{
    struct dg_watch list[DG_WATCHES_MAX];
    struct dg_upload u;
    pthread_mutex_lock(&w->lock);
    const size_t n = w->n;
    memcpy(list, w->list, n * sizeof *list);
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < n; i++) {
        const int rc = dg_uploads_get(file, list[i].id, &u, NULL);
        if (rc == DG_ENOTFOUND || (rc == DG_OK && u.state >= DG_UPLOAD_DONE))
            dg_watches_wake(w, list[i].id, NULL);
    }
}

void dg_watches_close(struct dg_watches *w)
{
    pthread_mutex_lock(&w->lock);
    w->closed = true;
    pthread_mutex_unlock(&w->lock);
    dg_watches_wake(w, NULL, NULL);
}
