#include "trainer/align/shortlist.h"

#include "base/alloc.h"
#include "base/file.h"
#include "model/config.h"
#include "trainer/align/lexicon.h"
#include "trainer/data/prepared.h"
#include "weights/bundle.h"
#include "weights/shortlist.h"

#include <stdlib.h>
#include <string.h>

/* A less probable translation is chance. */
static const float least = 1e-4f;

struct make {
    const struct dg_make_shortlist *o;
    struct dg_bundle *bundle;
    struct dg_config config;
    struct dg_prepared *prepared;
    struct dg_dataset *data;
    struct dg_lexicon *lexicon;
    /* both sides have one vocabulary: a piece may be copied */
    bool joint;
    uint32_t *always, *first, *ids;
    uint32_t n_always;
    char *path;
};

/* Checks that the text was prepared with the bundle's vocabularies. */
static int check_vocabulary(const struct make *m, struct dg_error *err)
{
    const char *own[2] = {dg_bundle_source_vocab(m->bundle), dg_bundle_target_vocab(m->bundle)};
    static const char *const names[2] = {"source.vocab", "target.vocab"};
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        char *path = dg_alloc_path(m->o->prepared_dir, names[i]);
        bool same;
        rc = dg_file_same(own[i], path, &same, err);
        if (!rc && !same)
            rc = dg_error_field(err, DG_EINVAL, "prepared",
                "%s and %s differ: the text must be prepared with the bundle's vocabulary "
                "(vocabulary.from)",
                own[i], path);
        free(path);
    }
    return rc;
}

static int open_all(struct make *m, struct dg_error *err)
{
    struct dg_dataset_options options = {.batch_tokens = 1};
    int rc = dg_bundle_open(m->o->bundle, &m->bundle, err);
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(m->bundle), &m->config, err);
    if (!rc)
        rc = dg_prepared_open(m->o->prepared_dir, &m->prepared, err);
    if (!rc)
        rc = check_vocabulary(m, err);
    if (!rc)
        rc = dg_file_same(
            dg_bundle_source_vocab(m->bundle), dg_bundle_target_vocab(m->bundle), &m->joint, err);
    if (!rc)
        rc = dg_dataset_open(m->o->prepared_dir, "train", &options, &m->data, err);
    if (rc)
        return rc;
    struct dg_lexicon_options lexicon = {.source_vocab = m->config.source_vocab,
        .target_vocab = m->config.target_vocab,
        .source_eos = dg_prepared_eos(m->prepared),
        .target_eos = m->config.eos,
        .pairs = m->o->pairs ? m->o->pairs : 1000000,
        .stop = m->o->stop};
    m->path = dg_alloc_path(m->o->bundle, DG_SHORTLIST_FILE);
    m->lexicon = dg_lexicon_new(m->data, &lexicon);
    return m->o->stop && *m->o->stop
               ? dg_error_set(err, DG_ECANCELED, "stopped while learning translations")
               : 0;
}

struct counted {
    uint64_t count;
    uint32_t id;
};

static int by_count(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Lists the pieces that are always allowed: </s>, the unknown piece, and the most frequent ones. */
static void find_always(struct make *m)
{
    const uint32_t V = m->config.target_vocab;
    const uint64_t *counts = dg_lexicon_counts(m->lexicon);
    uint32_t most = m->o->frequent ? m->o->frequent : DG_SHORTLIST_FREQUENT;
    struct counted *c = dg_alloc(V, sizeof *c, "lists of tokens");
    m->always = dg_alloc((size_t)V + 2, sizeof *m->always, "lists of tokens");
    for (uint32_t i = 0; i < V; i++)
        c[i] = (struct counted){counts[i], i};
    qsort(c, V, sizeof *c, by_count);
    m->always[m->n_always++] = (uint32_t)m->config.eos;
    if (m->config.unk >= 0)
        m->always[m->n_always++] = (uint32_t)m->config.unk;
    for (uint32_t i = 0; i < V && i < most && c[i].count; i++)
        m->always[m->n_always++] = c[i].id;
    free(c);
}

/* Lists the best translations of each source piece, itself first if it may be copied. */
static void find_translations(struct make *m)
{
    const uint32_t Vs = m->config.source_vocab, best = m->o->best ? m->o->best : DG_SHORTLIST_BEST;
    const struct dg_translation *t = NULL;
    size_t n = dg_lexicon_translations(m->lexicon, least, &t), at = 0, used = 0;
    m->first = dg_alloc((size_t)Vs + 1, sizeof *m->first, "translations");
    m->ids = dg_alloc(n + Vs + 1, sizeof *m->ids, "translations");
    for (uint32_t e = 0; e < Vs; e++) {
        uint32_t taken = 0;
        m->first[e] = (uint32_t)used;
        if (m->joint)
            m->ids[used++] = e;
        for (; at < n && t[at].source == e; at++)
            if (taken < best && !(m->joint && t[at].target == e)) {
                m->ids[used++] = t[at].target;
                taken++;
            }
    }
    m->first[Vs] = (uint32_t)used;
}

/* Measures the length and coverage of sentences' lists, on up to 20,000 of the pairs. */
static int measure(struct make *m, struct dg_made_shortlist *out, struct dg_error *err)
{
    struct dg_shortlist *s = NULL;
    const uint32_t V = m->config.target_vocab;
    uint64_t all = dg_dataset_count(m->data), n = all < 20000 ? all : 20000;
    uint64_t rows = 0, pieces = 0, covered = 0;
    int rc = dg_shortlist_open(m->path, m->config.source_vocab, V, &s, err);
    if (rc)
        return rc;
    uint64_t *bits = dg_alloc(dg_shortlist_words(s), sizeof *bits, "a shortlist");
    int32_t *ids = dg_alloc(V, sizeof *ids, "a shortlist"), source[4096], target[4096];
    bool *has = dg_alloc(V, sizeof *has, "a shortlist");
    for (uint64_t i = 0; i < n && !rc; i++) {
        const uint64_t at = dg_lexicon_draw(i, n, all);
        uint32_t ns, nt;
        dg_dataset_lengths(m->data, at, &ns, &nt);
        if (ns > 4096 || nt > 4096)
            continue;
        dg_dataset_ids(m->data, at, source, target);
        size_t k = dg_shortlist_select(
            s, &(struct dg_shortlist_need){.source = source, .n_source = ns}, bits, ids, V);
        rows += k;
        for (size_t j = 0; j < k; j++)
            has[ids[j]] = true;
        for (uint32_t j = 0; j < nt; j++)
            covered += has[target[j]];
        for (size_t j = 0; j < k; j++)
            has[ids[j]] = false;
        pieces += nt;
    }
    out->mean_rows = n ? (double)rows / (double)n : 0;
    out->coverage = pieces ? (double)covered / (double)pieces : 0;
    free(has);
    free(ids);
    free(bits);
    dg_shortlist_close(s);
    return rc;
}

int dg_shortlist_make(
    const struct dg_make_shortlist *o, struct dg_made_shortlist *out, struct dg_error *err)
{
    struct make m = {.o = o};
    int rc = open_all(&m, err);
    if (!rc) {
        find_always(&m);
        find_translations(&m);
    }
    struct dg_shortlist_data d = {.source_vocab = m.config.source_vocab,
        .target_vocab = m.config.target_vocab,
        .always = m.always,
        .n_always = m.n_always,
        .first = m.first,
        .ids = m.ids};
    if (!rc)
        rc = dg_shortlist_write(m.path, &d, err);
    if (!rc) {
        uint64_t most = o->pairs ? o->pairs : 1000000, all = dg_dataset_count(m.data);
        *out = (struct dg_made_shortlist){.pairs = most < all ? most : all,
            .frequent = m.n_always,
            .mean_best = (double)m.first[d.source_vocab] / d.source_vocab};
        rc = measure(&m, out, err);
    }
    if (!rc && !o->file_only)
        rc = dg_bundle_add_file(m.bundle, "shortlist", DG_SHORTLIST_FILE, err);
    free(m.always);
    free(m.first);
    free(m.ids);
    free(m.path);
    dg_lexicon_free(m.lexicon);
    dg_dataset_close(m.data);
    dg_prepared_close(m.prepared);
    dg_bundle_close(m.bundle);
    return rc;
}
