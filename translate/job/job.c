#include "translate/job/job.h"

#include "base/array.h"
#include "translate/translator/way_back.h"

#include <stdlib.h>

/* tokens */

/* Apply the pair's length penalty unless the request gives one. */
static void choose_penalty(struct dg_search *s, const struct dg_pair_search *of_pair)
{
    s->penalty = DG_PENALTY_GNMT;
    if (s->alpha < 0 && of_pair->length_penalty >= 0) {
        s->alpha = of_pair->length_penalty;
        s->penalty_cap = of_pair->length_penalty_cap;
    }
}

int dg_job_new(const struct dg_translator *t, const char *text, size_t n,
    const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err)
{
    size_t pair, back;
    int rc = o->same_language ? dg_translator_pair(t, NULL, NULL, &pair, err)
                              : dg_translator_pair(t, o->source, o->target, &pair, err);
    if (rc)
        return rc;
    struct dg_job *j = calloc(1, sizeof *j);
    if (!j)
        return DG_JOB_NO_MEMORY(err);
    dg_arena_init(&j->arena, 0);
    dg_bundle_pair(t->bundle, pair, &j->from, &j->to);
    j->t = t;
    j->options = *o;
    if (o->prefix && !o->prefix[0])
        j->options.prefix = NULL;
    if (!j->options.max_source)
        j->options.max_source = DG_DEFAULT_MAX_SOURCE;
    if (j->options.max_source > dg_model_max_positions(t->model))
        j->options.max_source = dg_model_max_positions(t->model);
    if (!j->options.penalty_set)
        choose_penalty(&j->options.search, &t->pair_search[pair]);
    j->whole_vocabulary = !dg_bundle_pair_uses_list(t->bundle, pair);
    if (o->rerank && !o->same_language &&
        (rc = dg_way_back_find(t->bundle, &o->search, j->from, j->to, &back, err))) {
        dg_job_free(j);
        return rc;
    }
    j->back_whole_vocabulary =
        o->rerank && !o->same_language && !dg_bundle_pair_uses_list(t->bundle, back);
    j->tag = dg_bundle_tag(t->bundle, j->to);
    j->source_tag = dg_bundle_source_tag(t->bundle, j->from);
    const char *lead = dg_bundle_target_tag(t->bundle, j->to);
    j->lead = lead ? dg_tokenizer_id(t->target, lead) : -1;
    j->trees = dg_bundle_answers_trees(t->bundle);
    const bool has_terms = !j->trees && !j->options.prefix && !(o->search.sampling.temperature > 0);
    j->options.glossary = has_terms && o->glossary ? dg_glossary_ref(o->glossary) : NULL;
    if (j->trees) {
        /* Rows of XX are no loops, and the words of a tree are not aligned with the source's. */
        j->options.keep_loops = true;
        j->options.alignments = false;
    }
    j->text = dg_arena_strndup(&j->arena, text, n);
    j->len = n;
    if (!j->text) {
        dg_job_free(j);
        return DG_JOB_NO_MEMORY(err);
    }
    *out = j;
    return 0;
}

void dg_job_free(struct dg_job *j)
{
    if (!j)
        return;
    dg_arena_deinit(&j->arena);
    dg_glossary_unref(j->options.glossary);
    free(j->parts);
    free(j->sentences);
    free(j);
}

uint32_t dg_job_beam(const struct dg_job *j)
{
    const struct dg_translate_options *o = &j->options;
    const uint32_t usual = dg_model_config(j->t->model)->beam;
    if (o->search.beam)
        return o->search.beam;
    return o->rerank ? dg_way_back_beam(usual, o->max_beam) : usual;
}

bool dg_part_is_read_back(const struct dg_job *j, const struct dg_part *p)
{
    return j->options.rerank && !j->n_forced && !j->n_alternatives && !p->copied;
}

static bool has_digit(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] >= '0' && s[i] <= '9')
            return true;
    return false;
}

bool dg_part_may_look(const struct dg_job *j, const struct dg_part *p)
{
    const struct dg_translate_options *o = &j->options;
    const bool plain = !j->n_forced && !j->trees && !j->n_alternatives && !o->tokens &&
                       !o->keep_loops && !o->rerank && o->search.n_best <= 1 &&
                       o->search.sampling.temperature <= 0;
    return plain && !p->terms && p->n_inner == 0 && !dg_part_prefix(j, p)->len &&
           dg_job_beam(j) > 1 && has_digit(j->text + p->begin, p->end - p->begin);
}

/* The most answers of p's sentence that are held, of both rounds. */
static uint32_t most_answers(const struct dg_job *j, const struct dg_part *p)
{
    const uint32_t asked = j->options.search.n_best;
    if (dg_part_may_look(j, p) || dg_part_is_read_back(j, p))
        return 1 + dg_job_beam(j);
    return asked ? asked : 1;
}

size_t dg_job_memory(const struct dg_job *j)
{
    size_t n = sizeof *j + j->arena.held_bytes + j->parts_cap * sizeof *j->parts;
    for (size_t i = 0; i < j->n_sentences; i++) {
        const struct dg_part *p = &j->parts[j->sentences[i]];
        const size_t ids = p->n_ids * (2 * sizeof(int32_t) + sizeof(float));
        n += sizeof *j->sentences + most_answers(j, p) * (sizeof(struct dg_part_hyp) + ids);
    }
    return n;
}

struct dg_part *dg_part_new(struct dg_job *j, size_t begin, size_t end, struct dg_error *err)
{
    struct dg_part *parts = dg_array_grow(j->parts, j->n_parts, &j->parts_cap, sizeof *parts);
    if (!parts) {
        DG_JOB_NO_MEMORY(err);
        return NULL;
    }
    j->parts = parts;
    parts[j->n_parts] = (struct dg_part){.begin = begin, .end = end};
    return &parts[j->n_parts++];
}

size_t dg_job_sentences(const struct dg_job *j)
{
    return j->n_sentences;
}

size_t dg_job_parts(const struct dg_job *j)
{
    return j->n_parts;
}

uint32_t dg_job_most_tokens(const struct dg_job *j)
{
    const uint32_t given = j->options.search.max_len,
                   positions = dg_model_max_positions(j->t->model) - (j->lead >= 0 ? 1 : 0);
    return given && given < positions ? given : positions;
}

uint32_t dg_part_limit(const struct dg_job *j, const struct dg_part *p)
{
    const uint32_t most = dg_job_most_tokens(j),
                   usual = dg_config_output_limit(dg_model_config(j->t->model), p->n_ids,
                       p->terms ? dg_terms_pieces(p->terms) : 0);
    return j->options.search.max_len || usual > most ? most : usual;
}

const struct dg_prefix *dg_part_prefix(const struct dg_job *j, const struct dg_part *p)
{
    static const struct dg_prefix none;
    return j->n_alternatives || (j->n_sentences && p == &j->parts[j->sentences[0]]) ? &j->prefix
                                                                                    : &none;
}
