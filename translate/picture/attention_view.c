/* One layer's heads as a table of words by words (or tokens by tokens). */
#include "translate/picture/attention.h"

#include "base/buffer.h"
#include "tokenizer/word_mark.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Tokens merged to words: word_of[n], labels[n_words] malloc'd. */
struct words {
    uint32_t *word_of;
    char **labels;
    uint32_t n_words;
};

/* True for a token that is a word of its own: punctuation, or one that writes no text (</s>, <2de>,
 * >>deu<<). */
static bool stands_alone(const char *token)
{
    size_t n = strlen(token);
    if (n > 2 &&
        ((token[0] == '<' && token[n - 1] == '>') || (token[0] == '>' && token[n - 1] == '<')))
        return true;
    for (size_t i = 0; i < n; i++)
        if (!ispunct((unsigned char)token[i]))
            return false;
    return true;
}

static bool begins_word(const char *const *tokens, uint32_t i)
{
    if (i == 0 || dg_word_mark(tokens[i]))
        return true;
    if (strcmp(tokens[i - 1], DG_WORD_MARK) == 0)
        return false; /* the mark came as a token of its own */
    return stands_alone(tokens[i]) || stands_alone(tokens[i - 1]);
}

static int merge(
    const char *const *tokens, uint32_t n, bool by_tokens, struct words *out, struct dg_error *err)
{
    struct dg_buffer text = {0};
    out->word_of = calloc(n, sizeof *out->word_of);
    out->labels = calloc(n, sizeof *out->labels);
    bool failed = !out->word_of || !out->labels;
    for (uint32_t i = 0; i < n && !failed; i++) {
        const char *token = tokens[i];
        if (by_tokens || begins_word(tokens, i)) {
            dg_buffer_reset(&text);
            out->n_words++;
        }
        dg_buffer_adds(&text, by_tokens ? token : token + dg_word_mark(token));
        out->word_of[i] = out->n_words - 1;
        char **to = &out->labels[out->n_words - 1];
        free(*to);
        *to = strdup(text.data ? text.data : "");
        failed = text.failed || !*to;
    }
    dg_buffer_deinit(&text);
    return failed ? dg_error_set(err, DG_ENOMEM, "no memory for attention weights") : 0;
}

/* to[rows,columns] of words from weights[n_rows,n_columns] of tokens. */
static void sum_words(const float *weights, const struct words *r, uint32_t n_rows,
    const struct words *c, uint32_t n_columns, float *to)
{
    for (uint32_t i = 0; i < n_rows; i++)
        for (uint32_t k = 0; k < n_columns; k++)
            to[(size_t)r->word_of[i] * c->n_words + c->word_of[k]] +=
                weights[(size_t)i * n_columns + k];
    for (uint32_t w = 0, i = 0; w < r->n_words; w++) {
        uint32_t tokens = 0;
        for (; i < n_rows && r->word_of[i] == w; i++)
            tokens++;
        for (uint32_t k = 0; k < c->n_words; k++)
            to[(size_t)w * c->n_words + k] /= (float)tokens;
    }
}

static void free_labels(char **labels, uint32_t n)
{
    for (uint32_t i = 0; labels && i < n; i++)
        free(labels[i]);
    free(labels);
}

static void words_free(struct words *w)
{
    free_labels(w->labels, w->n_words);
    free(w->word_of);
}

int dg_attention_view_open(const struct dg_attention_map *m, enum dg_attention_kind kind,
    uint32_t layer, const uint32_t *heads, uint32_t n_heads, struct dg_attention_view *out,
    struct dg_error *err)
{
    const char *const *rows[] = {m->source, m->input, m->target}, *const * columns[] = {m->source,
                                                                      m->input, m->source};
    struct words r = {0}, c = {0};
    uint32_t n_rows = 0, n_columns = 0;
    memset(out, 0, sizeof *out);
    dg_attention_weights(m, kind, 0, 0, &n_rows, &n_columns);
    int rc = merge(rows[kind], n_rows, m->by_tokens, &r, err);
    if (!rc)
        rc = merge(columns[kind], n_columns, m->by_tokens, &c, err);
    if (rc)
        goto out;
    size_t one = (size_t)r.n_words * c.n_words;
    *out = (struct dg_attention_view){.kind = kind,
        .layer = layer,
        .n_layers = dg_attention_layers(m, kind),
        .n_heads = n_heads,
        .rows = r.n_words,
        .columns = c.n_words};
    out->heads = calloc(n_heads, sizeof *out->heads);
    out->weights = calloc(n_heads * one, sizeof *out->weights);
    if (!out->heads || !out->weights) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for attention weights");
        goto out;
    }
    for (uint32_t h = 0; h < n_heads; h++) {
        out->heads[h] = heads[h];
        sum_words(dg_attention_weights(m, kind, layer, heads[h], &n_rows, &n_columns), &r, n_rows,
            &c, n_columns, out->weights + h * one);
    }
    out->row_labels = r.labels;
    out->column_labels = c.labels;
    r.labels = c.labels = NULL; /* the view frees them */
out:
    words_free(&r);
    words_free(&c);
    if (rc)
        dg_attention_view_close(out);
    return rc;
}

void dg_attention_view_close(struct dg_attention_view *v)
{
    free_labels(v->row_labels, v->rows);
    free_labels(v->column_labels, v->columns);
    free(v->heads);
    free(v->weights);
    memset(v, 0, sizeof *v);
}
