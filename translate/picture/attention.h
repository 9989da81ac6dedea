/* All attention weights of one sentence and its translation (given, or found by the search), and a
 * view of one layer of them: rows (queries) by columns (keys), by tokens or by words. For pictures
 * and answers about attention. One thread at a time per backend. */
#ifndef DG_TRANSLATE_PICTURE_ATTENTION_H
#define DG_TRANSLATE_PICTURE_ATTENTION_H

#include "model/trace.h"
#include "translate/translate.h"

enum dg_attention_kind { DG_ATTENTION_ENCODER, DG_ATTENTION_DECODER, DG_ATTENTION_CROSS };

struct dg_attention_map {
    struct dg_trace trace;
    /* [trace.S] tokens that the encoder reads; borrowed from the translator */
    const char **source;
    /* [trace.T] tokens that the decoder produces, </s> last; n_lead of them come before the
     * translation: the token for its language, where the decoder begins with one */
    const char **target;
    uint32_t n_lead;
    /* [trace.T] tokens that the decoder reads: the start, then target without its last token */
    const char **input;
    /* the texts were tokens: nothing is merged to words */
    bool by_tokens;
};

/* Compute the weights. target NULL: the best translation is found first, as a translation request
 * does. The text must be one sentence; o->max_source, if set, limits the tokens of either side, the
 * n_lead leading ones aside. DG_EINVAL and DG_ELIMIT name the field. */
int dg_attention_map_open(const struct dg_translator *t, struct dg_backend *be, const char *source,
    const char *target, const struct dg_translate_options *o, struct dg_attention_map *out,
    struct dg_error *err);
/* Check that the model has this kind of attention. DG_EUNSUP: its decoder has no self-attention. */
int dg_attention_check(
    const struct dg_config *c, enum dg_attention_kind kind, struct dg_error *err);
void dg_attention_map_close(struct dg_attention_map *m); /* a zeroed one is fine */

uint32_t dg_attention_layers(const struct dg_attention_map *m, enum dg_attention_kind kind);
uint32_t dg_attention_heads(const struct dg_attention_map *m, enum dg_attention_kind kind);
/* One head's weights [rows, columns] of tokens; layer and head count from 0. */
const float *dg_attention_weights(const struct dg_attention_map *m, enum dg_attention_kind kind,
    uint32_t layer, uint32_t head, uint32_t *rows, uint32_t *columns);

struct dg_attention_view {
    enum dg_attention_kind kind;
    /* layer counts from 0 */
    uint32_t layer, n_layers;
    uint32_t n_heads;
    /* [n_heads] counted from 0 */
    uint32_t *heads;
    uint32_t rows, columns;
    /* words or tokens; rows of cross-attention are the decoder's outputs */
    char **row_labels, **column_labels;
    /* [n_heads, rows, columns]; each row sums to 1 */
    float *weights;
};

/* View heads[n_heads] of a layer. The weight of a row's word for a column's word is summed over the
 * column word's tokens and averaged over the row word's tokens. */
int dg_attention_view_open(const struct dg_attention_map *m, enum dg_attention_kind kind,
    uint32_t layer, const uint32_t *heads, uint32_t n_heads, struct dg_attention_view *out,
    struct dg_error *err);
void dg_attention_view_close(struct dg_attention_view *v); /* a zeroed one is fine */

#endif
