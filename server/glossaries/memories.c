#include "server/glossaries/memories.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/pairs_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LOCKED_NS 30000000000ull /* a file that is locked for longer is an error */
#define NAP_NS 200000000

/* State of a load: the memories from before, and those made from files. Each step takes
 * the collections anew, so that clients can use them between steps. */
struct load {
    struct dg_collections *collections;
    const struct dg_memories_options *options;
    /* the number of the path that files are read from */
    uint32_t source;
    /* [n_before] memories without an owner */
    struct dg_memory_info *before;
    /* [n_before] */
    bool *stays;
    size_t n_before, n_dropped, entries;
    /* [n_made] */
    char (*made)[DG_MEMORY_ID];
    size_t n_made;
};

/* FNV-1a */
static uint32_t source_of(const char *path)
{
    uint32_t h = 2166136261u;
    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 16777619u;
    return h;
}

/* Identifies this state of a file: its size, time, source and name. */
static int origin_of(
    const struct load *l, const char *path, char out[DG_MEMORY_ORIGIN], struct dg_error *err)
{
    struct stat s;
    const char *slash = strrchr(path, '/');
    if (stat(path, &s) != 0)
        return dg_error_set(err, DG_EIO, "%s: %s", path, strerror(errno));
    snprintf(out, DG_MEMORY_ORIGIN, "%" PRId64 " %" PRId64 ".%09ld %08" PRIx32 " %.255s",
        (int64_t)s.st_size, (int64_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, l->source,
        slash ? slash + 1 : path);
    return DG_OK;
}

/* Did another server, which still runs, read this memory from another path? Without this check,
 * servers that share the file of collections would drop each other's memories. */
static bool is_others(const struct load *l, const struct dg_memory_info *before)
{
    const char *at = strchr(before->origin, ' ');
    at = at ? strchr(at + 1, ' ') : NULL;
    if (!at || strspn(at + 1, "0123456789abcdef") != 8 || at[9] != ' ')
        return false; /* an earlier version's */
    const uint32_t source = (uint32_t)strtoul(at + 1, NULL, 16);
    return source != l->source && dg_collections_others_hold(l->collections, source);
}

static bool keep(struct load *l, const char *origin)
{
    for (size_t i = 0; i < l->n_before; i++) {
        if (strcmp(l->before[i].origin, origin) != 0)
            continue;
        l->stays[i] = true;
        l->entries += (size_t)l->before[i].pairs;
        return true;
    }
    return false;
}

static int make(struct load *l, const struct dg_memory_info *wanted,
    const struct dg_pair_list *pairs, struct dg_memory_info *made, struct dg_error *err)
{
    struct dg_memory *m = dg_collections_take(l->collections);
    const int rc = dg_memory_make(m, wanted, pairs->list, pairs->n, made, err);
    dg_collections_give(l->collections);
    return rc;
}

static bool drop(struct load *l, const char *id)
{
    struct dg_memory *m = dg_collections_take(l->collections);
    const int rc = dg_memory_remove(m, id, NULL);
    dg_collections_give(l->collections);
    return rc == DG_OK;
}

static int check_stop(const struct load *l, struct dg_error *err)
{
    const struct dg_memories_options *o = l->options;
    return o->stops && o->stops(o->arg) ? dg_error_set(err, DG_ECANCELED, "the server is stopping")
                                        : DG_OK;
}

static int read_file(struct load *l, const char *path, struct dg_error *err)
{
    struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES,
                              .created_s = (int64_t)dg_clock_wall_s()},
                          made;
    struct dg_pair_list pairs;
    const char *slash = strrchr(path, '/');
    snprintf(wanted.name, sizeof wanted.name, "%.255s", slash ? slash + 1 : path);
    int rc = origin_of(l, path, wanted.origin, err);
    if (rc != DG_OK || keep(l, wanted.origin))
        return rc;
    dg_pair_list_init(&pairs);
    rc = dg_pairs_file_read(path, NULL, NULL, dg_pair_list_add, &pairs, err);
    if (rc == DG_OK)
        rc = check_stop(l, err);
    if (rc == DG_OK && make(l, &wanted, &pairs, &made, err) != DG_OK)
        rc = dg_error_prefix(err, "%s", path);
    if (rc == DG_OK) {
        memcpy(l->made[l->n_made++], made.id, sizeof made.id);
        l->entries += (size_t)made.pairs;
    }
    dg_pair_list_deinit(&pairs);
    return rc;
}

/* Ends a load: removes the memories whose files are gone or changed, except those of other
 * servers; after a failure, removes the new ones instead. */
static void settle(struct load *l, int rc)
{
    for (size_t i = 0; i < l->n_before && rc == DG_OK; i++)
        if (!l->stays[i] && l->before[i].origin[0] != '\0' && !is_others(l, &l->before[i]))
            l->n_dropped += drop(l, l->before[i].id);
    for (size_t i = 0; i < l->n_made && rc != DG_OK; i++)
        drop(l, l->made[i]);
}

static int load(struct load *l, char *const *files, size_t n, struct dg_error *err)
{
    struct dg_memory *m = dg_collections_take(l->collections);
    int rc = dg_memory_list(m, DG_MEMORY_SENTENCES, "", &l->before, &l->n_before, err);
    dg_collections_give(l->collections);
    if (rc != DG_OK)
        return rc;
    l->stays = calloc(l->n_before + 1, sizeof *l->stays);
    l->made = calloc(n + 1, sizeof *l->made);
    if (!l->stays || !l->made)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu files", n);
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = read_file(l, files[i], err);
    settle(l, rc);
    return rc;
}

static void clear(struct load *l)
{
    free(l->before);
    free(l->stays);
    free(l->made);
    *l = (struct load){.collections = l->collections, .options = l->options, .source = l->source};
}

/* Loads again while the file is locked. Another server has it locked for as long as it reads a
 * file of memories into it, the same one as a rule, which is not read again then. */
static int load_unlocked(struct load *l, char *const *files, size_t n, struct dg_error *err)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    const uint64_t end = dg_clock_ns() + LOCKED_NS;
    for (;;) {
        int rc = load(l, files, n, err);
        if (rc != DG_EAGAIN || dg_clock_ns() >= end)
            return rc;
        dg_error_clear(err);
        rc = check_stop(l, err);
        if (rc != DG_OK)
            return rc;
        clear(l);
        nanosleep(&nap, NULL);
    }
}

int dg_memories_load(
    struct dg_collections *c, const struct dg_memories_options *options, struct dg_error *err)
{
    const char *path = options->path;
    struct load l = {.collections = c, .options = options, .source = source_of(path)};
    char **files = NULL;
    size_t n = 0;
    int rc = path[0] != '\0' ? dg_pairs_files(path, &files, &n, err) : DG_OK;
    dg_collections_hold(c, l.source); /* first: other servers may drop unheld memories */
    if (rc == DG_OK)
        rc = load_unlocked(&l, files, n, err);
    if (rc == DG_OK && (n > 0 || l.n_before > 0))
        dg_log(DG_LOG_INFO, "memories path=\"%s\" files=%zu read=%zu dropped=%zu entries=%zu", path,
            n, l.n_made, l.n_dropped, l.entries);
    dg_pairs_files_free(files, n);
    clear(&l);
    return rc;
}

int dg_memories_check(const char *path, struct dg_error *err)
{
    char **files = NULL;
    size_t n = 0;
    int rc = path[0] != '\0' ? dg_pairs_files(path, &files, &n, err) : DG_OK;
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        struct dg_pair_list pairs;
        dg_pair_list_init(&pairs);
        rc = dg_pairs_file_read(files[i], NULL, NULL, dg_pair_list_add, &pairs, err);
        dg_pair_list_deinit(&pairs);
    }
    dg_pairs_files_free(files, n);
    return rc;
}
