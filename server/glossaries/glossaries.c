#include "server/glossaries/glossaries.h"

#include "base/log.h"
#include "store/pair_list.h"
#include "store/pairs_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Result of a load. */
struct list {
    /* [n] */
    struct dg_glossary_set *sets[DG_GLOSSARIES_MAX];
    size_t n, entries;
};

struct dg_glossaries {
    pthread_mutex_t lock;
    /* guarded by lock */
    struct list *list;
};

/* ---- files ---- */

static void free_list(struct list *l)
{
    for (size_t i = 0; l && i < l->n; i++)
        dg_glossary_set_unref(l->sets[i]);
    free(l);
}

/* The glossary's name: "terms" for "dir/terms.en-de.tsv". */
static int name_of(const char *path, char name[DG_GLOSSARIES_NAME + 1], struct dg_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    char source[36], target[36];
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *end = strrchr(base, '.');
    size_t n = end ? (size_t)(end - base) : strlen(base);
    const char *dot = memrchr(base, '.', n);
    if (dot && dg_pairs_file_languages(path, source, target))
        n = (size_t)(dot - base);
    if (n == 0 || n > DG_GLOSSARIES_NAME || strspn(base, letters) < n)
        return dg_error_set(err, DG_EINVAL,
            "%s: a glossary's name has 1 to %d letters of a-z, A-Z, 0-9, \".\", \"_\" and \"-\"",
            path, DG_GLOSSARIES_NAME);
    memcpy(name, base, n);
    name[n] = '\0';
    return DG_OK;
}

/* Reads one glossary, whose files are consecutive in files[*at .. n), and moves *at past them. */
static int read_set(char *const *files, size_t n, size_t *at, struct list *l, struct dg_error *err)
{
    char name[DG_GLOSSARIES_NAME + 1], next[DG_GLOSSARIES_NAME + 1];
    struct dg_pair_list pairs;
    dg_pair_list_init(&pairs);
    int rc = name_of(files[*at], name, err);
    if (rc == DG_OK && l->n == DG_GLOSSARIES_MAX)
        rc = dg_error_set(err, DG_ELIMIT, "%s: there are %d glossaries already, which is the limit",
            files[*at], DG_GLOSSARIES_MAX);
    while (rc == DG_OK && *at < n && (rc = name_of(files[*at], next, err)) == DG_OK &&
           strcmp(next, name) == 0) {
        rc = dg_pairs_file_read(files[*at], NULL, NULL, dg_pair_list_add, &pairs, err);
        (*at)++;
    }
    if (rc == DG_OK)
        rc = dg_glossary_set_make(name, &pairs, &l->sets[l->n], err);
    if (rc == DG_OK)
        l->n++;
    l->entries += pairs.n;
    dg_pair_list_deinit(&pairs);
    return rc;
}

/* Orders by the glossary's name, so that its files are together, then by the file's. */
static int by_name(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    char names[2][DG_GLOSSARIES_NAME + 1] = {"", ""};
    name_of(x, names[0], NULL);
    name_of(y, names[1], NULL);
    const int order = strcmp(names[0], names[1]);
    return order ? order : strcmp(x, y);
}

static int read_all(char **files, size_t n, struct list *l, struct dg_error *err)
{
    int rc = DG_OK;
    qsort(files, n, sizeof *files, by_name);
    for (size_t at = 0; at < n && rc == DG_OK;)
        rc = read_set(files, n, &at, l, err);
    return rc;
}

int dg_glossaries_load(struct dg_glossaries *g, const char *path, struct dg_error *err)
{
    char **files = NULL;
    size_t n = 0;
    struct list *l = calloc(1, sizeof *l);
    if (!l)
        return dg_error_set(err, DG_ENOMEM, "no memory for glossaries");
    int rc = dg_pairs_files(path, &files, &n, err);
    if (rc == DG_OK)
        rc = read_all(files, n, l, err);
    dg_pairs_files_free(files, n);
    if (rc != DG_OK) {
        free_list(l);
        return rc;
    }
    dg_log(
        DG_LOG_INFO, "glossaries path=\"%s\" glossaries=%zu entries=%zu", path, l->n, l->entries);
    pthread_mutex_lock(&g->lock);
    struct list *before = g->list;
    g->list = l;
    pthread_mutex_unlock(&g->lock);
    free_list(before);
    return DG_OK;
}

/* ---- all of them ---- */

int dg_glossaries_open(struct dg_glossaries **out, struct dg_error *err)
{
    struct dg_glossaries *g = calloc(1, sizeof *g);
    if (!g)
        return dg_error_set(err, DG_ENOMEM, "no memory for glossaries");
    pthread_mutex_init(&g->lock, NULL);
    *out = g;
    return DG_OK;
}

void dg_glossaries_close(struct dg_glossaries *g)
{
    if (!g)
        return;
    free_list(g->list);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

struct dg_glossary_set *dg_glossaries_find(struct dg_glossaries *g, const char *name)
{
    struct dg_glossary_set *found = NULL;
    if (!g)
        return NULL;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; g->list && i < g->list->n && !found; i++)
        if (strcmp(dg_glossary_set_name(g->list->sets[i]), name) == 0)
            found = dg_glossary_set_ref(g->list->sets[i]);
    pthread_mutex_unlock(&g->lock);
    return found;
}

struct dg_glossary_set *dg_glossaries_at(struct dg_glossaries *g, size_t i)
{
    struct dg_glossary_set *found = NULL;
    pthread_mutex_lock(&g->lock);
    if (g->list && i < g->list->n)
        found = dg_glossary_set_ref(g->list->sets[i]);
    pthread_mutex_unlock(&g->lock);
    return found;
}
