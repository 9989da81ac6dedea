#include "server/glossaries/glossaries.h"

#include "base/file.h"
#include "base/log.h"
#include "store/pair_list.h"
#include "store/pairs_file.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct entries {
    char source[36], target[36];
    struct dg_glossary *glossary;
};

struct dg_glossary_set {
    atomic_uint refs;
    char name[DG_GLOSSARIES_NAME + 1];
    /* [n] */
    struct entries pairs[DG_GLOSSARIES_PAIRS];
    size_t n;
};

/* What a load reads. */
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

/* ---- one glossary ---- */

void dg_glossary_set_unref(struct dg_glossary_set *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
        return;
    for (size_t i = 0; i < s->n; i++)
        dg_glossary_unref(s->pairs[i].glossary);
    free(s);
}

const char *dg_glossary_set_name(const struct dg_glossary_set *s)
{
    return s->name;
}

/* The codes as they are written come first: "pt-BR" has entries of its own beside "pt". */
struct dg_glossary *dg_glossary_set_pair(
    const struct dg_glossary_set *s, const char *source, const char *target)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcasecmp(s->pairs[i].source, source) && !strcasecmp(s->pairs[i].target, target))
            return s->pairs[i].glossary;
    for (size_t i = 0; i < s->n; i++)
        if (dg_pairs_same_language(s->pairs[i].source, source) &&
            dg_pairs_same_language(s->pairs[i].target, target))
            return s->pairs[i].glossary;
    return NULL;
}

/* The entries of one pair of languages, unless it has them. */
static int add_pair(struct dg_glossary_set *s, const struct dg_pair_list *l,
    const struct dg_memory_pair *p, struct dg_error *err)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcasecmp(s->pairs[i].source, p->source_lang) &&
            !strcasecmp(s->pairs[i].target, p->target_lang))
            return DG_OK;
    if (s->n == DG_GLOSSARIES_PAIRS)
        return dg_error_set(err, DG_ELIMIT,
            "glossary %s has more than %d pairs of languages, which is the limit", s->name,
            DG_GLOSSARIES_PAIRS);
    struct entries *e = &s->pairs[s->n];
    if (strlen(p->source_lang) >= sizeof e->source || strlen(p->target_lang) >= sizeof e->target)
        return dg_error_set(err, DG_EINVAL,
            "glossary %s: \"%.40s\" or \"%.40s\" is too long for a language code", s->name,
            p->source_lang, p->target_lang);
    snprintf(e->source, sizeof e->source, "%s", p->source_lang);
    snprintf(e->target, sizeof e->target, "%s", p->target_lang);
    int rc = dg_pair_list_glossary(l, e->source, e->target, &e->glossary, err);
    s->n += rc == DG_OK && e->glossary;
    return rc;
}

static int make_set(const char *name, const struct dg_pair_list *l, struct dg_glossary_set **out,
    struct dg_error *err)
{
    struct dg_glossary_set *s = calloc(1, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a glossary");
    atomic_init(&s->refs, 1);
    snprintf(s->name, sizeof s->name, "%s", name);
    int rc = l->n <= DG_GLOSSARIES_ENTRIES
                 ? DG_OK
                 : dg_error_set(err, DG_ELIMIT, "glossary %s has %zu entries, the limit is %d",
                       name, l->n, DG_GLOSSARIES_ENTRIES);
    for (size_t i = 0; i < l->n && rc == DG_OK; i++)
        rc = add_pair(s, l, &l->list[i], err);
    if (rc != DG_OK) {
        dg_glossary_set_unref(s);
        return rc;
    }
    *out = s;
    return DG_OK;
}

/* ---- files ---- */

static void free_list(struct list *l)
{
    for (size_t i = 0; l && i < l->n; i++)
        dg_glossary_set_unref(l->sets[i]);
    free(l);
}

/* "terms" of "dir/terms.en-de.tsv". */
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

static int is_pairs_file(const struct dirent *e)
{
    return e->d_name[0] != '.' && dg_pairs_file_is(e->d_name);
}

/* The files of one glossary follow one another: files[from .. n), whose name is set. */
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
        rc = make_set(name, &pairs, &l->sets[l->n], err);
    if (rc == DG_OK)
        l->n++;
    l->entries += pairs.n;
    dg_pair_list_deinit(&pairs);
    return rc;
}

/* By the glossary's name, so that its files are together, then by the file's. */
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

static int read_directory(const char *path, struct list *l, struct dg_error *err)
{
    struct dirent **found = NULL;
    const int n = scandir(path, &found, is_pairs_file, alphasort);
    if (n < 0)
        return dg_error_set(err, DG_EIO, "%s: %s", path, strerror(errno));
    char **files = calloc((size_t)n + 1, sizeof *files);
    int rc = files ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for %d files", n);
    for (int i = 0; i < n; i++) {
        if (rc == DG_OK && !(files[i] = dg_file_join(path, found[i]->d_name)))
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %d files", n);
        free(found[i]);
    }
    free(found);
    if (rc == DG_OK)
        rc = read_all(files, (size_t)n, l, err);
    for (int i = 0; files && i < n; i++)
        free(files[i]);
    free(files);
    return rc;
}

int dg_glossaries_load(struct dg_glossaries *g, const char *path, struct dg_error *err)
{
    struct stat info;
    struct list *l = calloc(1, sizeof *l);
    if (!l)
        return dg_error_set(err, DG_ENOMEM, "no memory for glossaries");
    char *file = (char *)path;
    int rc = stat(path, &info) == 0
                 ? DG_OK
                 : dg_error_field(err, DG_EIO, "glossaries", "%s: %s", path, strerror(errno));
    if (rc == DG_OK)
        rc = S_ISDIR(info.st_mode) ? read_directory(path, l, err) : read_all(&file, 1, l, err);
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
        if (strcmp(g->list->sets[i]->name, name) == 0)
            found = g->list->sets[i];
    if (found)
        atomic_fetch_add(&found->refs, 1);
    pthread_mutex_unlock(&g->lock);
    return found;
}
