/* Corpus BLEU, the paper's measure of translations (section 6.1), as sacreBLEU computes it: cased,
 * tokenizer 13a, exponential smoothing, orders 1 to 4, one reference. Any thread, one struct per
 * caller. */
#ifndef DG_TRAINER_SCORE_BLEU_H
#define DG_TRAINER_SCORE_BLEU_H

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define DG_BLEU_ORDER 4

struct dg_bleu {
    uint64_t correct[DG_BLEU_ORDER], total[DG_BLEU_ORDER];
    /* 13a tokens */
    uint64_t hyp_len, ref_len;
};

/* Add one sentence. Texts are detokenised UTF-8 (invalid bytes count as themselves) without line
 * ends. */
void dg_bleu_add(
    struct dg_bleu *b, const char *hyp, size_t hyp_len, const char *ref, size_t ref_len);
/* 0 to 100. */
double dg_bleu_score(const struct dg_bleu *b);
/* The brevity penalty: 1 if the hypotheses together are at least as long as the references; the
 * shorter they are, the closer to 0. */
double dg_bleu_brevity(const struct dg_bleu *b);
/* "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.x.y = 35.21 68.2/42.1/28.0/19.1 (BP
 * = 1.000 ratio = ...)" */
void dg_bleu_print(const struct dg_bleu *b, struct dg_buffer *out);
/* The part "nrefs:1|...|version:...". */
const char *dg_bleu_signature(void);

/* The 13a tokenizer: tokens of s[n] with one space between, appended to out. */
void dg_bleu_tokenize(const char *s, size_t n, struct dg_buffer *out);

#endif
