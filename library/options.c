/* Options of callers, whatever version of the header they were built with, and glossaries. */
#include "library/internal.h"
#include "translate/search_fields.h"

#include <stdlib.h>
#include <string.h>

static const struct dragoman_options defaults = {
    .size = sizeof defaults, .length_penalty = -1, .length_penalty_kind = -1};

int dg_library_take(const void *from, size_t from_size, void *to, size_t size, const char *what,
    struct dg_error *err)
{
    if (from_size < sizeof(size_t))
        return dg_error_field(err, DG_EINVAL, what,
            "%s: the size is not set; dragoman_%s_init fills the structure in", what, what);
    for (size_t i = size; i < from_size; i++)
        if (((const char *)from)[i])
            return dg_error_field(err, DG_EUNSUP, what,
                "%s: byte %zu is set, and this version (%s) knows %zu", what, i, DG_VERSION, size);
    memcpy(to, from, from_size < size ? from_size : size);
    return DG_OK;
}

void dg_library_give(void *to, size_t size, const void *known, size_t known_size)
{
    memset(to, 0, size);
    memcpy(to, known, known_size < size ? known_size : size);
    if (size >= sizeof size)
        memcpy(to, &size, sizeof size);
}

void dragoman_options_init(struct dragoman_options *options, size_t size)
{
    dg_library_give(options, size, &defaults, sizeof defaults);
}

void dragoman_stream_init(struct dragoman_stream *stream, size_t size)
{
    const struct dragoman_stream known = {.size = 0};
    dg_library_give(stream, size, &known, sizeof known);
}

/* Check the ranges that every program uses for such values; values left at their default are not
 * checked, and neither is the seed: any will do, also those that a table's whole numbers cannot
 * express. */
static int check_search(const struct dg_search *given, struct dg_error *err)
{
    struct dg_search s = *given;
    s.beam = s.beam ? s.beam : 1;
    s.n_best = s.n_best ? s.n_best : 1;
    s.max_len = s.max_len ? s.max_len : 1;
    s.alpha = s.alpha < 0 ? 0 : s.alpha;
    s.sampling.temperature = s.sampling.temperature > 0 ? s.sampling.temperature : 1;
    s.sampling.seed = 0;
    const struct dg_fields tables[] = {dg_search_fields(&s, NULL), dg_n_best_fields(&s),
        dg_length_fields(&s, NULL), dg_sampling_fields(&s.sampling)};
    int rc = DG_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !rc; i++)
        rc = dg_fields_check(&tables[i], NULL, err);
    return rc;
}

/* Refuse options that exclude one another. */
static int check_together(const struct dragoman_options *o, struct dg_error *err)
{
    if (o->format < DRAGOMAN_TEXT || o->format > DRAGOMAN_XML)
        return dg_error_field(err, DG_EINVAL, "format", "format %d: it is 0 to 5", o->format);
    if (o->tokens && o->format != DRAGOMAN_TEXT)
        return dg_error_field(err, DG_EINVAL, "format", "tokens have no format");
    if (!(o->temperature >= 0))
        return dg_error_field(err, DG_EINVAL, "temperature",
            "temperature is %g, must be 0 (search) or above 0 (sampling)", o->temperature);
    if (o->temperature > 0 && (o->beam_size > 1 || o->n_best > 1))
        return dg_error_field(err, DG_EINVAL, "temperature",
            "with a temperature one answer is drawn: beam_size and n_best must be 0 or 1");
    if (o->top_k > 0 && !(o->temperature > 0))
        return dg_error_field(
            err, DG_EINVAL, "top_k", "top_k is for sampling: it needs a temperature above 0");
    if (o->glossary && (o->tokens || o->target_prefix || o->temperature > 0))
        return dg_error_field(err, DG_EINVAL, "glossary",
            "a glossary takes none of tokens, target_prefix and temperature");
    return DG_OK;
}

int dg_library_options(const struct dragoman_model *m, const struct dragoman_options *options,
    struct dg_translate_options *out, struct dg_error *err)
{
    struct dragoman_options o = defaults;
    int rc = dg_library_check_process(m, err);
    if (!rc && options)
        rc = dg_library_take(options, options->size, &o, sizeof o, "options", err);
    if (o.target_prefix && !o.target_prefix[0])
        o.target_prefix = NULL;
    if (!rc)
        rc = check_together(&o, err);
    if (rc)
        return rc;
    const bool own_pair = !o.source && !o.target && m->source[0];
    *out = (struct dg_translate_options){.source = own_pair ? m->source : o.source,
        .target = own_pair ? m->target : o.target,
        .penalty_set = o.length_penalty_kind >= 0,
        .tokens = o.tokens != 0,
        .alignments = o.alignments != 0,
        .keep_loops = o.keep_loops != 0,
        .rerank = o.rerank != 0,
        .one_sentence = o.one_sentence != 0,
        .format = (enum dg_format)o.format,
        .prefix = o.target_prefix,
        .glossary = o.glossary ? o.glossary->terms : NULL,
        .search = {.beam = o.beam_size,
            .n_best = o.n_best,
            .max_len = o.max_length,
            .alpha = (float)o.length_penalty,
            .penalty = o.length_penalty_kind < 0 ? DG_PENALTY_GNMT
                                                 : (enum dg_penalty)o.length_penalty_kind,
            .penalty_cap = (float)o.length_penalty_cap,
            .sampling = {(float)o.temperature, o.top_k, o.seed}}};
    return check_search(&out->search, err);
}

const char *dg_library_bytes(const struct dragoman_text *t)
{
    return t->data ? t->data : "";
}

int dragoman_glossary_new(const struct dragoman_text *sources, const struct dragoman_text *targets,
    size_t n, struct dragoman_glossary **glossary, struct dragoman_error *error)
{
    struct dg_error err = {0};
    struct dg_glossary_entry *entries = calloc(n ? n : 1, sizeof *entries);
    struct dragoman_glossary *g = calloc(1, sizeof *g);
    dg_library_begin(error);
    *glossary = NULL;
    for (size_t i = 0; entries && i < n; i++)
        entries[i] = (struct dg_glossary_entry){dg_library_bytes(&sources[i]),
            dg_library_bytes(&targets[i]), sources[i].size, targets[i].size};
    int rc = entries && g ? dg_glossary_make(entries, n, &g->terms, &err)
                          : dg_error_set(&err, DG_ENOMEM, "no memory for %zu entries", n);
    free(entries);
    if (rc) {
        free(g);
        return dg_library_error(rc, &err, -1, error);
    }
    *glossary = g;
    return DRAGOMAN_OK;
}

void dragoman_glossary_free(struct dragoman_glossary *g)
{
    if (!g)
        return;
    dg_glossary_unref(g->terms);
    free(g);
}
