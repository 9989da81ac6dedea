/* Weights loaded into memory: loads them, and frees what a model has copied. */
#include "base/clock.h"
#include "weights/disk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct dg_weights_memory {
    double load_seconds;
    /* some memory was freed */
    atomic_bool spent;
    /* there is a follower (dg_weights_follow); set before a second thread exists */
    bool followed;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    /* bytes that the follower has read; guarded by lock */
    size_t read;
    /* [tensor_count * DG_MAX_FORMS] forms whose data stay */
    bool kept[];
};

static struct dg_weights_memory *memory_new(size_t tensors)
{
    struct dg_weights_memory *m = calloc(1, sizeof *m + tensors * DG_MAX_FORMS * sizeof m->kept[0]);
    if (!m)
        return NULL;
    atomic_init(&m->spent, false);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->moved, NULL);
    return m;
}

void dg_weights_memory_free(struct dg_weights_memory *m)
{
    if (!m)
        return;
    pthread_cond_destroy(&m->moved);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

int dg_weights_load(const char *path, struct dg_weights **out, struct dg_error *err)
{
    struct dg_map map = {0};
    struct dg_weights *w = NULL;
    uint64_t start = dg_clock_ns();
    int rc = dg_file_load(path, &map, err);
    if (rc)
        return rc;
    rc = dg_weights_open_memory(map.data, map.size, &w, err);
    if (!rc)
        rc = dg_weights_verify(w, err);
    if (!rc && !(w->memory = memory_new(w->header.tensor_count)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %u tensors", w->header.tensor_count);
    if (rc) {
        dg_error_prefix(err, "%s", path);
        dg_weights_close(w);
        dg_file_unmap(&map);
        return rc;
    }
    w->map = map;
    w->memory->load_seconds = (double)(dg_clock_ns() - start) / 1e9;
    *out = w;
    return 0;
}

double dg_weights_load_seconds(const struct dg_weights *w)
{
    return w->memory ? w->memory->load_seconds : 0;
}

const void *dg_weights_loaded(const struct dg_weights *w)
{
    const struct dg_weights_memory *m = w->memory;
    return m && (m->followed || !atomic_load(&m->spent)) ? w->data : NULL;
}

/* The `kept` flag of the form that a byte belongs to; NULL: none. */
static bool *kept_at(const struct dg_weights *w, const void *data)
{
    const uintptr_t at = (uintptr_t)data;
    for (size_t i = 0; w->memory && i < w->header.tensor_count; i++)
        for (size_t k = 0; k < w->tensors[i].n_stored; k++) {
            const uintptr_t from = (uintptr_t)w->tensors[i].stored[k].data;
            if (from && at >= from && at < from + w->tensors[i].bytes[k])
                return &w->memory->kept[i * DG_MAX_FORMS + k];
        }
    return NULL;
}

void dg_weights_keep(const struct dg_weights *w, const void *data)
{
    bool *kept = kept_at(w, data);
    if (kept)
        *kept = true;
}

/* Free the whole pages within data[n], as other data shares the partial ones; first wait until the
 * follower has read them. */
static void let_go(const struct dg_weights *w, const void *data, size_t n)
{
    struct dg_weights_memory *m = w->memory;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)data + page - 1) / page * page,
                    to = ((uintptr_t)data + n) / page * page;
    if (from >= to)
        return;
    if (m->followed) {
        pthread_mutex_lock(&m->lock);
        while (m->read < to - (uintptr_t)w->data)
            pthread_cond_wait(&m->moved, &m->lock);
        pthread_mutex_unlock(&m->lock);
    }
    atomic_store(&m->spent, true);
    madvise((void *)from, to - from, MADV_DONTNEED);
}

void dg_weights_spent(const struct dg_weights *w, const void *data, size_t n)
{
    const bool *kept = kept_at(w, data);
    if (kept && !*kept)
        let_go(w, data, n);
}

void dg_weights_release(const struct dg_weights *w, const struct dg_tensor *t)
{
    struct dg_tensor *own = &w->tensors[t - w->tensors];
    for (size_t k = 0; w->memory && k < own->n_stored; k++) {
        if (w->memory->kept[(size_t)(t - w->tensors) * DG_MAX_FORMS + k] || !own->stored[k].data)
            continue;
        let_go(w, own->stored[k].data, own->bytes[k]);
        own->stored[k].data = NULL;
    }
}

void dg_weights_follow(const struct dg_weights *w)
{
    if (w->memory)
        w->memory->followed = true;
}

void dg_weights_followed(const struct dg_weights *w, size_t n)
{
    struct dg_weights_memory *m = w->memory;
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->read = n;
    pthread_cond_signal(&m->moved);
    pthread_mutex_unlock(&m->lock);
}
