#include "translate/picture/attention.h"

#include <stdlib.h>
#include <string.h>

#define NO_MEMORY(err) dg_error_set(err, DG_ENOMEM, "no memory for attention weights")

/* Replace *ids (malloc'd) by the sentence's leading tokens and the best answer's. */
static int keep(const struct dg_sentence *s, const struct dg_hypothesis *best, int32_t **ids,
    uint32_t *n, struct dg_error *err)
{
    const uint32_t lead = s->n_lead;
    int32_t *all = realloc(*ids, (lead + best->n) * sizeof *all);
    if (!all)
        return NO_MEMORY(err);
    if (lead)
        memcpy(all, s->prefix, lead * sizeof *all);
    memcpy(all + lead, best->ids, best->n * sizeof *all);
    *ids = all;
    *n = lead + best->n;
    return 0;
}

/* Take an answer to the job's sentence. DG_EAGAIN: it asks for another round; *ids and *n are then
 * those of this one, which the next replaces if it finds an answer. */
static int translate_once(
    struct dg_engine *e, struct dg_job *job, int32_t **ids, uint32_t *n, struct dg_error *err)
{
    struct dg_sentence s;
    const struct dg_result *r = NULL;
    dg_job_sentence(job, 0, &s);
    int rc = dg_engine_admit(e, 0, &s, err);
    while (!rc && !(r = dg_engine_poll(e)) && dg_engine_step(e))
        ;
    if (!r)
        return rc == DG_OK || rc == DG_EAGAIN
                   ? dg_error_set(err, DG_EINTERNAL, "the search did not end")
                   : rc;
    if (r->n_hyps)
        rc = keep(&s, &r->hyps[0], ids, n, err);
    if (!rc)
        rc = dg_job_accept(job, 0, r, err);
    dg_engine_release(e, r);
    return rc;
}

/* Find the tokens that the decoder puts out for the model's own translation, malloc'd, with an
 * engine for the job's only sentence. */
static int translate(const struct dg_model *model, struct dg_backend *be, struct dg_job *job,
    int32_t **ids, uint32_t *n, struct dg_error *err)
{
    struct dg_sentence s;
    struct dg_engine *e = NULL;
    dg_job_sentence(job, 0, &s);
    const struct dg_engine_limits limits = {.max_rows = DG_MAX_BEAM,
        .max_sentences = 1,
        .max_source = s.n_source,
        .max_target = dg_model_max_positions(model),
        .max_beam = s.search.beam,
        .max_search = s.search.max_len ? s.search.max_len + s.n_lead : 0};
    int rc = dg_engine_open(model, be, &limits, &e, err);
    if (!rc)
        while ((rc = translate_once(e, job, ids, n, err)) == DG_EAGAIN)
            ;
    dg_engine_close(e);
    return rc;
}

static int label(const struct dg_translator *t, const struct dg_trace_ids *ids,
    struct dg_attention_map *m, struct dg_error *err)
{
    const struct dg_config *c = dg_model_config(dg_translator_model(t));
    m->source = calloc(m->trace.S, sizeof *m->source);
    m->target = calloc(m->trace.T, sizeof *m->target);
    m->input = calloc(m->trace.T, sizeof *m->input);
    if (!m->source || !m->target || !m->input)
        return NO_MEMORY(err);
    for (uint32_t i = 0; i < m->trace.S; i++)
        m->source[i] = dg_tokenizer_piece(dg_translator_source(t), ids->source[i]);
    for (uint32_t i = 0; i < m->trace.T; i++) {
        m->target[i] = dg_tokenizer_piece(dg_translator_target(t), ids->target[i]);
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
    memset(out, 0, sizeof *out);
    options.one_sentence = true;
    options.format = DG_FORMAT_TEXT;
    options.alignments = false;
    const struct dg_text_pair pair = {source, target, strlen(source), target ? strlen(target) : 0};
    int rc = target ? dg_job_encode_score(t, &pair, &options, &job, err)
                    : dg_job_encode(t, source, strlen(source), &options, &job, err);
    if (!rc)
        rc = dg_job_check_one_sentence(job, err);
    if (rc)
        goto out;
    dg_job_sentence(job, 0, &s);
    struct dg_trace_ids ids = {s.source, s.n_source, s.prefix, s.n_prefix};
    if (!target) {
        rc = translate(model, be, job, &found, &ids.T, err);
        ids.target = found;
    }
    if (!rc && o->max_source && ids.T - s.n_lead > o->max_source)
        rc = dg_error_field(err, DG_ELIMIT, "translation", "%u tokens are over the limit of %u",
            ids.T - s.n_lead, o->max_source);
    if (!rc)
        rc = dg_trace_run(model, be, &ids, &out->trace, err);
    if (!rc)
        rc = label(t, &ids, out, err);
    out->n_lead = s.n_lead;
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
        "kind is decoder, but the model's decoder has no self-attention (SSRU): use encoder or "
        "cross");
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
