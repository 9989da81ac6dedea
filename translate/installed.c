#include "translate/installed.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/library.h"
#include "text/language_code.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *dg_installed_models(char *path, size_t cap)
{
    const char *named = getenv("DRAGOMAN_MODELS");
    if (named && named[0])
        return named;
    if (access("weights/bundles", F_OK) == 0)
        return "weights/bundles";
    if (dg_library_find_beside("../share/dragoman/bundles", path, cap) ||
        dg_library_find_beside("bundles", path, cap) ||                    /* of a Python package */
        dg_library_find_beside("../../share/dragoman/bundles", path, cap)) /* lib/<machine>/ */
        return path;
    return "/usr/share/dragoman/bundles";
}

bool dg_installed_is_bundle(const char *dir)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/manifest.json", dir);
    return access(path, F_OK) == 0;
}

/* Check that a directory of models can be read, or does not exist. For a caller that found no
 * model: DG_EIO says why none could be found. */
static int check_models(const char *dir, struct dg_error *err)
{
    DIR *d = opendir(dir);
    if (!d && errno != ENOENT && errno != ENOTDIR)
        return dg_error_set(
            err, DG_EIO, "the models in %.300s cannot be looked up: %s", dir, strerror(errno));
    if (d)
        closedir(d);
    return DG_OK;
}

int dg_installed_named(const char *name, char *path, size_t cap, struct dg_error *err)
{
    char beside[4096];
    const char *models = dg_installed_models(beside, sizeof beside);
    if (strlen(name) >= cap)
        return dg_error_set(err, DG_EINVAL, "the model's name has %zu bytes", strlen(name));
    snprintf(path, cap, "%s", name);
    if (strchr(name, '/') || dg_installed_is_bundle(name))
        return DG_OK;
    snprintf(path, cap, "%s/%s", models, name);
    if (dg_installed_is_bundle(path))
        return DG_OK;
    if (access(name, F_OK) == 0) { /* its opening says why it is no bundle */
        snprintf(path, cap, "%s", name);
        return DG_OK;
    }
    const int rc = check_models(models, err);
    return rc ? rc
              : dg_error_set(err, DG_ENOTFOUND,
                    "\"%.200s\" is not a folder, and %.200s has no model of that name", name,
                    models);
}

/* What a bundle offers for two languages: how far its nearest pair is from them (-1: it has none),
 * and how many pairs it has. */
struct offer {
    int distance;
    size_t pairs;
};

/* Distance of the language in v from the wanted one; 0 if any will do, -1 if it is another. */
static int distance(const struct dg_json *v, const char *wanted)
{
    const char *code = dg_json_string(v, NULL);
    return !code ? -1 : wanted ? dg_language_distance(wanted, code) : 0;
}

/* A manifest that cannot be read offers nothing. */
static struct offer look_at(const char *dir, const char *source, const char *target)
{
    char path[4500];
    struct dg_error ignored = {0};
    struct offer o = {.distance = -1};
    snprintf(path, sizeof path, "%s/manifest.json", dir);
    struct dg_json *manifest = dg_json_load(path, &ignored);
    const struct dg_json *pairs = dg_json_get(manifest, "pairs");
    o.pairs = dg_json_length(pairs);
    for (size_t i = 0; i < o.pairs && o.distance != 0; i++) {
        const struct dg_json *pair = dg_json_at(pairs, i);
        const int from = distance(dg_json_at(pair, 0), source);
        const int to = from < 0 ? -1 : distance(dg_json_at(pair, 1), target);
        if (to >= 0 && (o.distance < 0 || from + to < o.distance))
            o.distance = from + to;
    }
    dg_json_free(manifest);
    return o;
}

/* True if a is the better offer. */
static bool is_better(struct offer a, struct offer b)
{
    return b.distance < 0 || a.distance < b.distance ||
           (a.distance == b.distance && a.pairs < b.pairs);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

size_t dg_installed_look(const char *dir, const char *source, const char *target, int farthest,
    char *path, size_t cap, struct dg_buffer *names)
{
    struct dirent **list = NULL;
    struct offer best = {.distance = -1};
    size_t found = 0;
    int n = scandir(dir, &list, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char bundle[4400];
        snprintf(bundle, sizeof bundle, "%s/%s", dir, list[i]->d_name);
        struct offer o = {.distance = -1};
        if (list[i]->d_name[0] != '.')
            o = look_at(bundle, source, target);
        if (o.distance > farthest)
            o.distance = -1;
        if (!source || !target)
            o.pairs = 0; /* the caller did not name the pair, so the number of pairs says nothing */
        if (o.distance >= 0 && is_better(o, best)) {
            best = o;
            found = 0;
            if (names)
                dg_buffer_reset(names);
        }
        if (o.distance >= 0 && !is_better(best, o)) {
            if (found++ == 0)
                snprintf(path, cap, "%s", bundle);
            if (names)
                dg_buffer_addf(names, "%s%s", found > 1 ? ", " : "", list[i]->d_name);
        }
        free(list[i]);
    }
    free(list);
    return found;
}

int dg_installed_find(
    const char *source, const char *target, char *path, size_t cap, struct dg_error *err)
{
    char beside[4096];
    const char *dir = dg_installed_models(beside, sizeof beside);
    struct dg_buffer names;
    int rc = DG_OK;
    if (dg_installed_is_bundle(dir)) {
        snprintf(path, cap, "%s", dir);
        return DG_OK;
    }
    dg_buffer_init(&names);
    const size_t found = dg_installed_look(dir, source, target, INT_MAX, path, cap, &names);
    if (found == 0)
        rc = check_models(dir, err);
    if (found == 0 && !rc)
        rc = dg_error_set(err, DG_ENOTFOUND,
            "no model%s%s%s%s in %s: name one with --model, or install one with dragoman pull",
            source ? " from " : "", source ? source : "", target ? " to " : "",
            target ? target : "", dir);
    else if (found > 1)
        rc = dg_error_set(err, DG_EINVAL,
            "several models in %s fit (%.200s): name one with --model, or its languages with "
            "--source-lang and --target-lang",
            dir, names.data ? names.data : "");
    dg_buffer_deinit(&names);
    return rc;
}
