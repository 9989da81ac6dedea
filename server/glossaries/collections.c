#include "server/glossaries/collections.h"

#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT 32                /* recently used glossaries in memory */
#define MAX_WAITING 64         /* work items in the queue */
#define LOCKS ((off_t)1 << 40) /* where the locks of sources begin in the file: beyond SQLite's */

struct kept {
    /* used: the value of asked at the last use */
    int64_t version, used;
    struct dg_glossary_set *set;
};

struct dg_collections {
    /* executor with one thread */
    struct dg_executor *line;
    /* the file once more, for locks that last until it is closed, or the process ends; -1: none */
    int lock_fd;
    pthread_mutex_t change_lock;
    /* guarded by change_lock */
    struct dg_memory *changed;
    pthread_mutex_t read_lock;
    /* guarded by read_lock: whole glossaries are read from it, which may take a second */
    struct dg_memory *read_from;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_memory *asked_of;
    /* by id, which is a set's name */
    struct kept kept[KEPT];
    int64_t asked;
};

int dg_collections_open(const char *path, struct dg_collections **out, struct dg_error *err)
{
    const struct dg_executor_options line = {
        .name = "glossaries", .threads = 1, .max_ready = MAX_WAITING};
    struct dg_collections *c = calloc(1, sizeof *c);
    if (!c)
        return dg_error_set(err, DG_ENOMEM, "no memory for glossaries");
    c->lock_fd = -1;
    pthread_mutex_init(&c->change_lock, NULL);
    pthread_mutex_init(&c->read_lock, NULL);
    pthread_mutex_init(&c->lock, NULL);
    int rc = dg_memory_open(path, true, &c->changed, err);
    if (rc == DG_OK)
        rc = dg_memory_open(path, false, &c->read_from, err);
    if (rc == DG_OK)
        rc = dg_memory_open(path, false, &c->asked_of, err);
    if (rc == DG_OK)
        rc = dg_executor_open(&line, &c->line, err);
    if (rc != DG_OK) {
        dg_error_prefix(err, "collections");
        dg_collections_close(c);
        return rc;
    }
    c->lock_fd = open(path, O_RDWR | O_CLOEXEC);
    *out = c;
    return DG_OK;
}

void dg_collections_close(struct dg_collections *c)
{
    if (!c)
        return;
    dg_executor_close(c->line);
    for (size_t i = 0; i < KEPT; i++)
        dg_glossary_set_unref(c->kept[i].set);
    dg_memory_close(c->changed);
    dg_memory_close(c->read_from);
    dg_memory_close(c->asked_of);
    /* after SQLite, whose locks end when any descriptor of the file is closed */
    if (c->lock_fd >= 0)
        close(c->lock_fd);
    pthread_mutex_destroy(&c->change_lock);
    pthread_mutex_destroy(&c->read_lock);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

uint64_t dg_collections_failures(const struct dg_collections *c)
{
    return dg_memory_failures(c->changed) + dg_memory_failures(c->read_from) +
           dg_memory_failures(c->asked_of);
}

struct dg_memory *dg_collections_take(struct dg_collections *c)
{
    pthread_mutex_lock(&c->change_lock);
    return c->changed;
}

void dg_collections_give(struct dg_collections *c)
{
    pthread_mutex_unlock(&c->change_lock);
}

struct dg_memory *dg_collections_take_reader(struct dg_collections *c)
{
    pthread_mutex_lock(&c->read_lock);
    dg_memory_begin_reading(c->read_from);
    return c->read_from;
}

void dg_collections_give_reader(struct dg_collections *c)
{
    dg_memory_end_reading(c->read_from);
    pthread_mutex_unlock(&c->read_lock);
}

void dg_collections_give_made(
    struct dg_collections *c, const struct dg_memory_info *made, int status)
{
    if (made->id[0] != '\0' && status != 201)
        dg_memory_remove(c->changed, made->id, NULL);
    dg_collections_give(c);
}

bool dg_collections_post(struct dg_collections *c, struct dg_work *work)
{
    return dg_executor_post(c->line, work);
}

/* For open file description locks: the POSIX locks of a file end when this process closes any
 * descriptor of it, as SQLite does. */
static struct flock lock_of(short type, uint32_t source)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = LOCKS + (off_t)source, .l_len = 1};
}

void dg_collections_hold(struct dg_collections *c, uint32_t source)
{
    struct flock l = lock_of(F_RDLCK, source);
    (void)fcntl(c->lock_fd, F_OFD_SETLK, &l); /* fails where there are no such locks */
}

bool dg_collections_others_hold(struct dg_collections *c, uint32_t source)
{
    struct flock l = lock_of(F_WRLCK, source);
    return fcntl(c->lock_fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

/* ---- lookups for translations ---- */

/* The place of a glossary among those that are kept: its own, else the one to replace. */
static struct kept *place_of(struct dg_collections *c, const char *id)
{
    struct kept *oldest = &c->kept[0];
    for (size_t i = 0; i < KEPT; i++) {
        struct kept *k = &c->kept[i];
        if (k->set && strcmp(dg_glossary_set_name(k->set), id) == 0)
            return k;
        if (!k->set || (oldest->set && k->used < oldest->used))
            oldest = k;
    }
    return oldest;
}

static int read_set(
    struct dg_memory *m, const char *id, struct dg_glossary_set **out, struct dg_error *err)
{
    struct dg_pair_list pairs;
    dg_pair_list_init(&pairs);
    int rc = dg_memory_read(m, id, NULL, dg_pair_list_add, &pairs, err);
    if (rc == DG_OK)
        rc = dg_glossary_set_make(id, &pairs, out, err);
    dg_pair_list_deinit(&pairs);
    return rc;
}

/* Find a glossary among those that are kept. *out NULL: it must be read; *version is set. */
static int find_kept(struct dg_collections *c, const char *owner, const char *id, int64_t *version,
    struct dg_glossary_set **out, struct dg_error *err)
{
    struct dg_memory_info info;
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    int rc = dg_memory_get(c->asked_of, DG_MEMORY_GLOSSARY, owner, id, &info, err);
    if (rc == DG_OK) {
        struct kept *k = place_of(c, id);
        *version = info.version;
        if (k->set && strcmp(dg_glossary_set_name(k->set), id) == 0 && k->version == info.version) {
            k->used = ++c->asked;
            *out = dg_glossary_set_ref(k->set);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

/* Keep a glossary that was read; the caller's reference stays its own. */
static void keep(struct dg_collections *c, struct dg_glossary_set *set, int64_t version)
{
    pthread_mutex_lock(&c->lock);
    struct kept *k = place_of(c, dg_glossary_set_name(set));
    dg_glossary_set_unref(k->set);
    *k = (struct kept){version, ++c->asked, dg_glossary_set_ref(set)};
    pthread_mutex_unlock(&c->lock);
}

int dg_collections_glossary(struct dg_collections *c, const char *owner, const char *id,
    struct dg_glossary_set **out, struct dg_error *err)
{
    int64_t version;
    if (!c)
        return dg_error_set(err, DG_ENOTFOUND, "no glossaries are kept");
    int rc = find_kept(c, owner, id, &version, out, err);
    if (rc != DG_OK || *out)
        return rc;
    pthread_mutex_lock(&c->read_lock);
    /* Once more: another thread may have read it meanwhile. The file may change before it is read:
     * then the version is older than the entries, and the next request reads them again. */
    rc = find_kept(c, owner, id, &version, out, err);
    if (rc == DG_OK && !*out) {
        rc = read_set(c->read_from, id, out, err);
        if (rc == DG_OK)
            keep(c, *out, version);
    }
    pthread_mutex_unlock(&c->read_lock);
    return rc;
}

bool dg_collections_has_sentences(struct dg_collections *c)
{
    bool has = false;
    if (!c)
        return false;
    pthread_mutex_lock(&c->lock);
    dg_memory_has_sentences(c->asked_of, &has, NULL);
    pthread_mutex_unlock(&c->lock);
    return has;
}

bool dg_collections_find(struct dg_collections *c, const char *owner,
    const struct dg_memory_pair *wanted, struct dg_buffer *target)
{
    struct dg_error err = {0};
    pthread_mutex_lock(&c->lock);
    int rc = dg_memory_find(c->asked_of, owner, wanted, target, &err);
    pthread_mutex_unlock(&c->lock);
    if (rc != DG_OK && rc != DG_ENOTFOUND)
        dg_log(DG_LOG_ERROR, "translation memory not read message=\"%s\"", err.message);
    return rc == DG_OK;
}
