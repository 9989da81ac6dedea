/* One text in translation: encode.c makes its sentences, accept.c takes the engine's answers,
 * finish.c writes the text. One thread at a time per job. */
#ifndef DG_TRANSLATE_JOB_INTERNAL_H
#define DG_TRANSLATE_JOB_INTERNAL_H

#include "base/arena.h"
#include "base/buffer.h"
#include "text/format/document.h"
#include "text/split.h"
#include "translate/layout/decorate.h"
#include "translate/prefix.h"
#include "translate/stand_in.h"
#include "translate/translator_internal.h"

/* One answer of the engine, copied. */
struct dg_part_hyp {
    /* [n] */
    int32_t *ids;
    /* [n] */
    float *token_logprob;
    uint32_t n;
    double logprob, score;
    bool length_limited;
};

/* A part of the text: translated as one sentence, or copied when it has no letters. */
struct dg_part {
    /* bytes of the job's text */
    size_t begin, end;
    bool copied;
    /* [known_len] its answer if it is known or copied; otherwise NULL */
    const char *known;
    size_t known_len;
    /* number of language tags at the start of ids */
    uint32_t n_tags;
    /* the sentence is in capitals, and read as ordinary words */
    bool capitals;
    /* read as words of a treebank */
    bool treebank_words;
    unsigned flags;
    /* no_repeat_ngram of a second round; 0: no loop so far */
    uint32_t block;
    /* a second round, after an answer of nothing */
    bool not_empty;
    /* [n_first_hyps] the first round's answer, for a second one that finds none; else NULL */
    struct dg_part_hyp *first_hyps;
    uint32_t n_first_hyps;
    /* [shown_len] text for the model if it differs from the source's bytes; otherwise NULL */
    const char *shown;
    size_t shown_len;
    /* [n_marks] with `at` within shown: put back around the answer */
    struct dg_mark *marks;
    size_t n_marks;
    /* [n_stand_ins] words that `shown` has in place of protected letters; NULL: none */
    struct dg_stand_in *stand_ins;
    size_t n_stand_ins;
    /* how its answer is written into the text */
    enum dg_encoding encoding;
    /* parts within this one's bytes, from parts[inner] on */
    size_t inner, n_inner;
    /* normalised text that the tokens' offsets refer to */
    const char *text;
    /* [n_tokens] of `text`; NULL for text given as tokens */
    struct dg_token *tokens;
    size_t n_tokens;
    /* [n_wanted] terms of the glossary that `text` has, each to become its target */
    const struct dg_glossary_match *wanted;
    size_t n_wanted;
    /* of these, the terms for the search; NULL: nothing */
    struct dg_terms *terms;
    /* [n_ids] for the encoder: tag, tokens, </s> */
    int32_t *ids;
    uint32_t n_ids;
    /* [n_hyps] once accepted */
    struct dg_part_hyp *hyps;
    /* [hyps[0].n] positions in ids, or NULL */
    int32_t *alignment;
    /* [n_ends] bytes of the whole answer before and with each token of hyps[0], when aligned */
    size_t *ends;
    uint32_t n_ends;
    uint32_t n_hyps;
    /* that the search took, both rounds of it */
    uint32_t steps;
};

/* The job's memory is out. */
#define DG_JOB_NO_MEMORY(err) dg_error_set(err, DG_ENOMEM, "no memory for a translation")

/* The source token that token `at` of the best answer came from; NULL when it came from </s> or a
 * tag. */
const struct dg_token *dg_part_source_of(const struct dg_part *p, uint32_t at);

struct dg_job {
    const struct dg_translator *t;
    struct dg_arena arena;
    struct dg_translate_options options;
    /* tokens that name the target and the source language before the source, or NULL */
    const char *tag, *source_tag;
    /* the token that the decoder is started with for the target language; -1: none */
    int32_t lead;
    /* of the source, for splitting */
    const char *language;
    const char *target_language;
    /* the bundle's shortlist is not used for this pair */
    bool whole_vocabulary;
    /* the bundle answers with trees: nothing of a text's way but sentences is for them */
    bool trees;
    char *text;
    size_t len;
    /* [n_parts + n_inner] in the order of the text, then those within one of these */
    struct dg_part *parts;
    size_t n_parts, n_inner, parts_cap;
    /* [n_sentences] parts that are engine work */
    size_t *sentences;
    size_t n_sentences, n_accepted;
    /* of the first sentence's answer */
    struct dg_prefix prefix;
    /* [1 + prefix.n or n_forced] start of the decoder with a leading piece; otherwise NULL */
    int32_t *framed;
    /* [n_parts] of the text in code points, once asked for */
    struct dg_span *spans;
    /* sentence i picks the best but i after the prefix; 0: an ordinary job */
    uint32_t n_alternatives;
    /* [n_forced]: the target to score */
    int32_t *forced;
    uint32_t n_forced;
};

/* One more part of bytes begin..end; NULL: no memory. */
struct dg_part *dg_part_new(struct dg_job *j, size_t begin, size_t end, struct dg_error *err);
/* Encode s[n] into p's text and tokens; then p->ids = tag? tokens </s>?, from n of these. */
int dg_part_tokenize(struct dg_job *j, const struct dg_tokenizer *tokenizer, const char *s,
    size_t n, struct dg_part *p, struct dg_error *err);
int dg_part_frame(struct dg_job *j, struct dg_part *p, size_t n, struct dg_error *err);
/* Encode s[n], which the model sees of p, or mark p as copied; DG_EAGAIN: it is over the token
 * limit. */
int dg_part_encode(
    struct dg_job *j, struct dg_part *p, const char *s, size_t n, struct dg_error *err);
/* Is p's answer known? Then p has it. */
int dg_part_look_up(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* Append it as p's text is written. */
int dg_part_write_known(
    struct dg_job *j, const struct dg_part *p, struct dg_buffer *out, struct dg_error *err);
/* All parts of the job's text. */
int dg_job_encode_sentences(struct dg_job *j, struct dg_error *err);
/* While encoding: whether the answer may be changed according to the source. A user's prefix may
 * not. */
bool dg_job_answer_is_free(const struct dg_job *j);

/* Make p the sentence `at` (bytes of the document's text) of unit u, with the marks that are its
 * own. */
int dg_part_of_document(struct dg_job *j, struct dg_part *p, const struct dg_document *d,
    const struct dg_unit *u, struct dg_span at, struct dg_error *err);
/* The byte of the job's text that corresponds to byte `at` of p->shown, after or before text
 * without letters there. */
size_t dg_part_source(const struct dg_part *p, size_t at, bool after);

/* Ids of an answer as text[len], and the bytes of each of its n tokens there. */
struct dg_decoded {
    char *text;
    size_t len;
    /* [n] */
    const struct dg_token *spans;
    uint32_t n;
};
/* Append decoded text with each unknown token replaced by text of the source. One for which the
 * source has none is left out: "⁇" is never shown. Was any replaced? */
bool dg_part_fill_unknown(const struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    const struct dg_decoded *d, struct dg_buffer *out);
/* Remember where token i of the best answer ends, for its alignment. */
void dg_part_note_end(struct dg_part *p, const struct dg_part_hyp *h, uint32_t i, size_t end);
/* The required beginning of the answer for p; empty except for the first sentence. */
const struct dg_prefix *dg_part_prefix(const struct dg_job *j, const struct dg_part *p);
/* Mean log-probability of its tokens; 0 if there are none. */
double dg_part_confidence(const struct dg_part_hyp *h);

/* Append one answer's text; unknown tokens are replaced (of the best answer's, p->flags tells). */
int dg_part_write(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err);

/* Pairs of words of the sentence and of the best answer's text s[n], whose tokens end at p->ends
 * counted from `base`: at most one a token, in the job's arena. */
int dg_part_word_pairs(struct dg_job *j, const struct dg_part *p, const char *s, size_t n,
    size_t base, struct dg_word_pairs *out, struct dg_error *err);

/* Bytes begin..end of the job's text, with the answers of that rank to the parts of p that are
 * within them. */
int dg_part_write_source(struct dg_job *j, const struct dg_part *p, const size_t bytes[2],
    uint32_t rank, struct dg_buffer *out, struct dg_error *err);
/* Append a part's text in the answer of that rank, and set its flags. */
int dg_part_answer(struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out,
    struct dg_error *err);

/* Fill out->alignments for the best answer's text; where[n_parts] holds the bytes each part has
 * there. */
int dg_job_align(struct dg_job *j, const char *target, const struct dg_part *where,
    struct dg_answers *out, struct dg_error *err);

#endif
