#include "trainer/run/report.h"

#include "base/cores.h"
#include "base/file.h"
#include "model/train/tape.h"
#include "model/param_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MICRO_MOST = 4096, MICRO_LEAST = 512 };

/* Limits, not what is free at the moment: a control group counts the page cache as used. */
void dg_plan_memory(struct dg_plan *p, double machine, const struct dg_cgroup *group)
{
    p->grouped = group->memory_bytes >= 0 && (machine <= 0 || group->memory_bytes < machine);
    p->available = (size_t)(p->grouped ? group->memory_bytes : machine);
}

static void find_memory(struct dg_plan *p)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    struct dg_cgroup group;
    dg_cgroup_read(NULL, NULL, &group);
    dg_plan_memory(p, pages > 0 && size > 0 ? (double)pages * (double)size : 0, &group);
}

/* Half of a micro-batch's tokens are the source's, but for pairs of very different lengths. */
static size_t activation_bytes(const struct dg_config *c, uint64_t micro, uint32_t longest)
{
    size_t rows = (size_t)micro / 2 + longest;
    return dg_tape_bytes(c, rows, rows, longest);
}

void dg_plan_make(
    const struct dg_recipe *r, const struct dg_config *c, uint32_t longest, struct dg_plan *out)
{
    const size_t block = dg_param_block_size(c) * sizeof(float);
    memset(out, 0, sizeof *out);
    out->parameters = dg_config_parameters(c);
    out->threads = (uint64_t)(r->training.threads > 0 ? r->training.threads : dg_cores_available());
    find_memory(out);
    out->micro_tokens = (uint64_t)r->training.micro_tokens;
    if (!out->micro_tokens)
        for (out->micro_tokens = MICRO_MOST; out->micro_tokens > MICRO_LEAST;
             out->micro_tokens /= 2)
            if (out->threads * activation_bytes(c, out->micro_tokens, longest) <=
                out->available / 2)
                break;
    out->weights = block;
    out->optimizer = (r->training.ema > 0 ? 3 : 2) * block;
    out->gradients = out->threads * block;
    out->activations = out->threads * activation_bytes(c, out->micro_tokens, longest);
    const size_t search = 2 * block + out->threads * ((size_t)64 << 20),
                 average = 3 * block; /* sums as doubles, and their mean */
    out->validation = search > average ? search : average;
    out->total =
        out->weights + out->optimizer + out->gradients + out->activations + out->validation;
}

static void add_line(struct dg_buffer *b, const char *what, size_t bytes)
{
    dg_buffer_addf(b, "  %-38s %9.1f MiB\n", what, (double)bytes / (1 << 20));
}

void dg_plan_print(
    const struct dg_plan *p, const struct dg_dataset_worst *worst, struct dg_buffer *out)
{
    dg_buffer_addf(out,
        "%" PRIu64 " parameters, %" PRIu64 " threads, passes of %" PRIu64
        " source + target tokens a thread\n",
        p->parameters, p->threads, p->micro_tokens);
    if (worst)
        dg_buffer_addf(out,
            "  an update takes at most %" PRIu64 " source and %" PRIu64 " target tokens\n",
            worst->source_tokens, worst->target_tokens);
    add_line(out, "parameters", p->weights);
    add_line(out, "Adam's moments and averages", p->optimizer);
    add_line(out, "gradients, one block a thread", p->gradients);
    add_line(out, "activations, about", p->activations);
    add_line(out, "validation or averaging, about", p->validation);
    add_line(out, "together", p->total);
    add_line(out, p->grouped ? "the control group allows" : "the machine has", p->available);
}

int dg_plan_check(const struct dg_plan *p, struct dg_error *err)
{
    if (!p->available || p->total <= p->available)
        return 0;
    return dg_error_field(err, DG_ELIMIT, "training.micro_tokens",
        "training needs up to %.1f GiB and %s %.1f GiB: take fewer threads (%" PRIu64
        ") or a smaller training.micro_tokens (%" PRIu64 ")",
        (double)p->total / (1 << 30), p->grouped ? "the control group allows" : "the machine has",
        (double)p->available / (1 << 30), p->threads, p->micro_tokens);
}

/* A value as text, for the card's table. */
static void add_value(struct dg_buffer *b, const struct dg_json *v)
{
    if (dg_json_typeof(v) == DG_JSON_STRING)
        dg_buffer_adds(b, dg_json_string(v, NULL));
    else if (dg_json_typeof(v) == DG_JSON_REAL)
        dg_buffer_addf(b, "%.4g", dg_json_number(v));
    else
        dg_json_write(v, 0, b);
}

static void add_scores(struct dg_buffer *b, const struct dg_json *scores)
{
    if (!dg_json_length(scores))
        return;
    dg_buffer_adds(
        b, "\n## Scores\n\n| set | BLEU | chrF2 | perplexity per piece |\n|---|---|---|---|\n");
    for (size_t i = 0; i < dg_json_length(scores); i++) {
        const struct dg_json *s = dg_json_at(scores, i);
        const char *set = dg_json_string(dg_json_get(s, "set"), NULL);
        dg_buffer_addf(b, "| %s | %.2f | %.2f | %.2f |\n", set ? set : "",
            dg_json_number(dg_json_get(s, "bleu")), dg_json_number(dg_json_get(s, "chrf")),
            dg_json_number(dg_json_get(s, "perplexity")));
    }
    const char *signature = dg_json_string(dg_json_get(dg_json_at(scores, 0), "signature"), NULL);
    dg_buffer_addf(b, "\n%s, detokenised text, one reference.\n", signature ? signature : "");
}

static void add_training(struct dg_buffer *b, const struct dg_json *training)
{
    dg_buffer_adds(b, "\n## Training\n\n| | |\n|---|---|\n");
    for (const char *key = dg_json_next_key(training, NULL); key;
         key = dg_json_next_key(training, key)) {
        const struct dg_json *v = dg_json_get(training, key);
        if (dg_json_typeof(v) == DG_JSON_OBJECT || !strcmp(key, "scores"))
            continue;
        dg_buffer_addf(b, "| %s | ", key);
        add_value(b, v);
        dg_buffer_adds(b, " |\n");
    }
}

static void add_counts(struct dg_buffer *b, const char *prefix, const struct dg_json *counts)
{
    for (const char *key = dg_json_next_key(counts, NULL); key;
         key = dg_json_next_key(counts, key)) {
        const struct dg_json *v = dg_json_get(counts, key);
        if (dg_json_typeof(v) == DG_JSON_OBJECT)
            add_counts(b, "dropped: ", v);
        else if (dg_json_int(v))
            dg_buffer_addf(b, "| %s%s | %" PRId64 " |\n", prefix, key, dg_json_int(v));
    }
}

int dg_report_card(const char *dir, const struct dg_recipe *r, const struct dg_config *c,
    const struct dg_json *training, struct dg_error *err)
{
    struct dg_buffer b, path;
    dg_buffer_init(&b);
    dg_buffer_init(&path);
    dg_buffer_addf(&b, "# %s\n\n%s\n\nTranslates", r->name, r->output.description);
    for (size_t i = 0; i < r->data.n_directions; i++)
        dg_buffer_addf(&b, "%s %s to %s", i ? "," : "", r->data.directions[i].source_lang,
            r->data.directions[i].target_lang);
    dg_buffer_addf(
        &b, ". Licence: %s.\n\n", r->output.licence[0] ? r->output.licence : "not stated");
    dg_buffer_addf(&b,
        "A Transformer of %u encoder and %u decoder layers, d_model %u, d_ff %u, %u heads, %" PRIu64
        " parameters; vocabularies of %u and %u pieces.\n",
        c->enc_layers, c->dec_layers, c->D, c->F, c->H, dg_config_parameters(c), c->source_vocab,
        c->target_vocab);
    add_scores(&b, dg_json_get(training, "scores"));
    add_training(&b, training);
    dg_buffer_adds(&b, "\n## Training pairs\n\n| | |\n|---|---|\n");
    add_counts(&b, "", dg_json_get(training, "counts"));
    dg_buffer_adds(&b, "\n## Recipe\n\n```json\n");
    dg_json_write(dg_json_get(training, "recipe"), 2, &b);
    dg_buffer_adds(&b, "\n```\n");
    dg_buffer_addf(&path, "%s/MODEL_CARD.md", dir);
    int rc = b.failed || path.failed ? dg_error_set(err, DG_ENOMEM, "no memory for the model card")
                                     : dg_file_write(path.data, b.data, b.len, err);
    dg_buffer_deinit(&b);
    dg_buffer_deinit(&path);
    return rc;
}
