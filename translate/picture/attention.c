#include "translate/picture/attention.h"

#include <stdlib.h>
#include <string.h>

#define NO_MEMORY(err) dg_error_set(err, DG_ENOMEM, "no memory for attention weights")

/* Find the best translation's ids, malloc'd, with an engine for this one sentence. */
static int translate_ids(const struct dg_model *model, struct dg_backend *be,
    const struct dg_sentence *s, int32_t **ids, uint32_t *n, struct dg_error *err)
{
    struct dg_engine_limits limits = {.max_rows = DG_MAX_BEAM,
        .max_sentences = 1,
        .max_source = s->n_source,
        .max_target = dg_model_max_positions(model),
        .max_beam = s->search.beam,
        .max_search = s->search.max_len};
    struct dg_engine *e = NULL;
    const struct dg_result *r = NULL;
    int rc = dg_engine_open(model, be, &limits, &e, err);
    if (!rc)
        rc = dg_engine_admit(e, 0, s, err);
    while (!rc && !(r = dg_engine_poll(e)) && dg_engine_step(e))
        ;
    if (!rc && (!r || !r->n_hyps))
        rc = dg_error_set(err, DG_EINTERNAL, "the search ended without a hypothesis");
    if (!rc && !(*ids = malloc(r->hyps[0].n * sizeof **ids)))
        rc = NO_MEMORY(err);
    if (!rc) {
        *n = r->hyps[0].n;
        memcpy(*ids, r->hyps[0].ids, *n * sizeof **ids);
    }
    if (r)
        dg_engine_release(e, r);
    dg_engine_close(e);
    return rc;
}

static int label(const struct dg_translator *t, const struct dg_sentence *s, const int32_t *target,
    struct dg_attention_map *m, struct dg_error *err)
{
    const struct dg_config *c = dg_model_config(dg_translator_model(t));
    m->source = calloc(m->trace.S, sizeof *m->source);
    m->target = calloc(m->trace.T, sizeof *m->target);
    m->input = calloc(m->trace.T, sizeof *m->input);
    if (!m->source || !m->target || !m->input)
        return NO_MEMORY(err);
    for (uint32_t i = 0; i < m->trace.S; i++)
        m->source[i] = dg_tokenizer_piece(dg_translator_source(t), s->source[i]);
    for (uint32_t i = 0; i < m->trace.T; i++) {
        m->target[i] = dg_tokenizer_piece(dg_translator_target(t), target[i]);
        m->input[i] = i              ? m->target[i - 1]
                      : c->start < 0 ? "<start>"
                                     : dg_tokenizer_piece(dg_translator_target(t), c->start);
    }
    return 0;
}

int dg_attention_map_open(const struct dg_translator *t, struct dg_backend *be, const char *source,
    const char *target, const struct dg_translate_options *o, struct dg_attention_map *out,
    struct dg_error *err)
{
    const struct dg_model *model = dg_translator_model(t);
    struct dg_translate_options options = *o;
    struct dg_job *job = NULL;
    struct dg_sentence s;
    int32_t *found = NULL;
    uint32_t T = 0;
    memset(out, 0, sizeof *out);
    options.one_sentence = true;
    options.format = DG_FORMAT_TEXT;
    options.alignments = false;
    const struct dg_text_pair pair = {source, target, strlen(source), target ? strlen(target) : 0};
    int rc = target ? dg_job_encode_score(t, &pair, &options, &job, err)
                    : dg_job_encode(t, source, strlen(source), &options, &job, err);
    if (!rc && dg_job_sentences(job) != 1)
        rc = dg_error_field(err, dg_job_sentences(job) ? DG_ELIMIT : DG_EINVAL, "text",
            "the text is %s",
            dg_job_sentences(job) ? "over the model's limit for one sentence"
                                  : "no sentence: there are no letters in it");
    if (rc)
        goto out;
    dg_job_sentence(job, 0, &s);
    if (target)
        T = s.n_prefix;
    else if ((rc = translate_ids(model, be, &s, &found, &T, err)))
        goto out;
    const int32_t *ids = target ? s.prefix : found;
    if (o->max_source && T > o->max_source) {
        rc = dg_error_field(
            err, DG_ELIMIT, "translation", "%u tokens are over the limit of %u", T, o->max_source);
        goto out;
    }
    rc = dg_trace_run(
        model, be, &(struct dg_trace_ids){s.source, s.n_source, ids, T}, &out->trace, err);
    if (!rc)
        rc = label(t, &s, ids, out, err);
    out->by_tokens = o->tokens;
out:
    free(found);
    dg_job_free(job);
    if (rc)
        dg_attention_map_close(out);
    return rc;
}

int dg_attention_check(const struct dg_config *c, enum dg_attention_kind kind, struct dg_error *err)
{
    if (kind != DG_ATTENTION_DECODER || c->decoder == DG_DECODER_ATTENTION)
        return 0;
    return dg_error_field(err, DG_EUNSUP, "kind",
        "kind is decoder, and the model's decoder has a recurrent unit in the place of "
        "self-attention: encoder or cross");
}

void dg_attention_map_close(struct dg_attention_map *m)
{
    dg_trace_deinit(&m->trace);
    free(m->source);
    free(m->target);
    free(m->input);
    memset(m, 0, sizeof *m);
}

uint32_t dg_attention_layers(const struct dg_attention_map *m, enum dg_attention_kind kind)
{
    return kind == DG_ATTENTION_ENCODER ? m->trace.enc_layers : m->trace.dec_layers;
}

uint32_t dg_attention_heads(const struct dg_attention_map *m, enum dg_attention_kind kind)
{
    return kind == DG_ATTENTION_ENCODER ? m->trace.H : m->trace.dec_H;
}

const float *dg_attention_weights(const struct dg_attention_map *m, enum dg_attention_kind kind,
    uint32_t layer, uint32_t head, uint32_t *rows, uint32_t *columns)
{
    const struct dg_trace *t = &m->trace;
    const float *all[] = {t->enc_self, t->dec_self, t->cross};
    *rows = kind == DG_ATTENTION_ENCODER ? t->S : t->T;
    *columns = kind == DG_ATTENTION_DECODER ? t->T : t->S;
    return all[kind] + ((size_t)layer * dg_attention_heads(m, kind) + head) * *rows * *columns;
}
