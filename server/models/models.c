#include "server/models/internal.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dg_models_open(
    const struct dg_models_options *options, struct dg_models **out, struct dg_error *err)
{
    int rc = dg_language_aliases_check(options->aliases, err);
    if (rc != DG_OK)
        return rc;
    struct dg_models *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for the models");
    m->o = *options;
    if (strcmp(m->o.pivot, "off") == 0 || !dg_language_canonical(m->o.pivot, m->pivot_code))
        m->pivot_code[0] = '\0';
    pthread_mutex_init(&m->load_lock, NULL);
    pthread_mutex_init(&m->open_lock, NULL);
    pthread_mutex_init(&m->lock, NULL);
    dg_opening_init(m);
    *out = m;
    return DG_OK;
}

void dg_models_close(struct dg_models *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        dg_listing_unref(m->list[i]);
    free(m->list);
    pthread_mutex_destroy(&m->load_lock);
    pthread_mutex_destroy(&m->open_lock);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

size_t dg_models_listings(struct dg_models *m, struct dg_listing *out[DG_MODELS_MAX],
    struct dg_served *open[DG_MODELS_MAX])
{
    pthread_mutex_lock(&m->lock);
    const size_t n = m->n;
    for (size_t i = 0; i < n && out; i++) {
        out[i] = m->list[i];
        dg_listing_ref(out[i]);
    }
    for (size_t i = 0; i < n && open; i++) {
        open[i] = m->list[i]->open;
        if (open[i])
            dg_served_ref(open[i]);
    }
    pthread_mutex_unlock(&m->lock);
    return n;
}

int dg_models_open_listed(
    struct dg_models *m, const struct dg_listing *l, struct dg_served **out, struct dg_error *err)
{
    struct dg_served *s = NULL;
    bool same = false;
    const char *dir = dg_bundle_dir(l->bundle);
    pthread_mutex_lock(&m->open_lock);
    int rc = dg_served_open(&m->o, dir, &s, err);
    pthread_mutex_unlock(&m->open_lock);
    if (rc == DG_OK)
        rc = dg_bundle_same(l->bundle, dg_translator_bundle(s->translator), &same, err);
    if (rc == DG_OK && !same)
        rc = dg_error_set(err, DG_EFORMAT,
            "%s was changed since the server listed it: have it reload its models", dir);
    if (rc != DG_OK) {
        dg_served_unref(s);
        s = NULL;
    }
    *out = s;
    return rc;
}

void dg_models_is_open_take(struct dg_models *m, struct dg_listing *l, struct dg_served *s)
{
    l->open = s;
    l->opened_ns = dg_clock_ns();
    l->bytes = s->bytes;
    const size_t file = dg_bundle_weights_bytes(l->bundle);
    if (s->bytes > file && s->bytes - file > m->opening.most_beside)
        m->opening.most_beside = s->bytes - file;
    m->opening.opened++;
}

size_t dg_models_estimate(const struct dg_models *m, const struct dg_listing *l)
{
    /* Before the first opening: its file, and the most that another one took in addition to its
     * own. */
    return l->bytes > 0 ? l->bytes : dg_bundle_weights_bytes(l->bundle) + m->opening.most_beside;
}

bool dg_models_fit(const struct dg_models *m, size_t more)
{
    return m->o.memory == 0 || dg_served_bytes_alive() + more <= m->o.memory;
}

static void add_language(struct dg_model_languages *s, const char *code)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->codes[i], code) == 0)
            return;
    if (s->n == DG_MODELS_MAX)
        return;
    snprintf(s->storage[s->n], sizeof s->storage[0], "%s", code);
    s->codes[s->n] = s->storage[s->n];
    s->n++;
}

void dg_models_languages(struct dg_models *m, unsigned which, struct dg_model_languages *out)
{
    out->n = 0;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++) {
        const struct dg_bundle *b = m->list[i]->bundle;
        size_t n;
        const struct dg_bundle_language *list = dg_bundle_languages(b, &n);
        for (size_t k = 0; k < n; k++)
            if (((which & DG_SOURCES) && (list[k].sides & DG_LANGUAGE_SOURCE)) ||
                ((which & DG_TARGETS) && (list[k].sides & DG_LANGUAGE_TARGET)))
                add_language(out, list[k].code);
    }
    pthread_mutex_unlock(&m->lock);
}

static bool find_nearest(
    struct dg_models *m, const char *code, unsigned which, char out[DG_LANGUAGE_MAX])
{
    struct dg_model_languages all;
    const char *best = NULL;
    int nearest = -1;
    dg_models_languages(m, which, &all);
    for (size_t i = 0; i < all.n; i++) {
        const int distance = dg_language_distance(code, all.codes[i]);
        if (distance < 0 || (best && distance >= nearest))
            continue;
        best = all.codes[i];
        nearest = distance;
    }
    if (best)
        snprintf(out, DG_LANGUAGE_MAX, "%s", best);
    return best != NULL;
}

bool dg_models_nearest(
    struct dg_models *m, const char *asked, unsigned which, char out[DG_LANGUAGE_MAX])
{
    char meant[DG_LANGUAGE_MAX];
    return find_nearest(m, dg_language_alias(m->o.aliases, asked, meant), which, out);
}

bool dg_models_has_pivot(struct dg_models *m)
{
    char ignored[DG_LANGUAGE_MAX];
    const char *pivot = m->o.pivot;
    return strcmp(pivot, "off") == 0 || (find_nearest(m, pivot, DG_SOURCES, ignored) &&
                                            find_nearest(m, pivot, DG_TARGETS, ignored));
}
