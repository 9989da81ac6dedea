#include "trainer/run/report.h"

#include "base/alloc.h"
#include "base/file.h"
#include "model/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_addf(&b, "# %s\n\n%s\n\nTranslates", r->name, r->output.description);
    for (size_t i = 0; i < r->data.n_directions; i++)
        dg_buffer_addf(&b, "%s %s to %s", i ? "," : "", r->data.directions[i].source_lang,
            r->data.directions[i].target_lang);
    dg_buffer_addf(
        &b, ". Licence: %s.\n\n", r->output.licence[0] ? r->output.licence : "not stated");
    dg_buffer_addf(&b,
        "A Transformer of %u encoder and %u decoder layers, d_model %u, d_ff %u, %u heads, %" PRIu64
        " parameters; vocabularies of %u and %u pieces.\n",
        c->enc_layers, c->dec_layers, c->D, c->F, c->H, dg_params_elements(c), c->source_vocab,
        c->target_vocab);
    add_scores(&b, dg_json_get(training, "scores"));
    add_training(&b, training);
    dg_buffer_adds(&b, "\n## Training pairs\n\n| | |\n|---|---|\n");
    add_counts(&b, "", dg_json_get(training, "counts"));
    dg_buffer_adds(&b, "\n## Recipe\n\n```json\n");
    dg_json_write(dg_json_get(training, "recipe"), 2, &b);
    dg_buffer_adds(&b, "\n```\n");
    char *path = dg_alloc_path(dir, "MODEL_CARD.md");
    int rc = b.failed ? dg_error_set(err, DG_ENOMEM, "no memory for the model card")
                      : dg_file_write(path, b.data, b.len, err);
    dg_buffer_deinit(&b);
    free(path);
    return rc;
}
