/* One text being translated: encode.c makes its sentences, accept.c takes the engine's answers,
 * finish.c writes the text. One thread at a time per job. */
#ifndef DG_TRANSLATE_JOB_INTERNAL_H
#define DG_TRANSLATE_JOB_INTERNAL_H

#include "base/arena.h"
#include "base/buffer.h"
#include "text/format/document.h"
#include "text/sentences/split.h"
#include "translate/layout/decorate.h"
#include "translate/key_sign.h"
#include "translate/no_memory.h"
#include "translate/prefix.h"
#include "translate/term_places.h"
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

/* A part of the text: translated as one sentence, or copied when it has no letters or is there only
 * to hold the parts within it. */
struct dg_part {
    /* bytes of the job's text */
    size_t begin, end;
    /* number of the document's unit that it is in */
    size_t unit;
    bool copied;
    /* [known_len] its known translation (of a memory, or a glossary's term that is all of it), for
     * which `copied` is true; otherwise NULL */
    const char *known;
    size_t known_len;
    /* number of language tags at the start of ids */
    uint32_t n_tags;
    /* the sentence is in capitals, and read as ordinary words */
    bool capitals;
    /* the sentence was split into treebank words */
    bool treebank_words;
    unsigned flags;
    /* no_repeat_ngram of a second round; 0: no loop so far */
    uint32_t block;
    /* second round after an empty answer */
    bool not_empty;
    /* [n_first_hyps] the first round's answers, used if the second round finds none; NULL: no
     * second round */
    struct dg_part_hyp *first_hyps;
    uint32_t n_first_hyps;
    struct dg_shown shown;
    /* the end of a link or an image that began before the part, if the text in it is its label and
     * ends with the part; written after the answer. NULL: none */
    const struct dg_mark *tail;
    /* how its answer is written into the text */
    enum dg_encoding encoding;
    /* parts within this one's bytes, from parts[inner] on */
    size_t inner, n_inner;
    /* normalised text that the tokens' offsets refer to */
    const char *text;
    /* [n_tokens] tokens of `text` */
    struct dg_token *tokens;
    size_t n_tokens;
    /* glossary terms that occur in `text` */
    struct dg_wanted_terms wanted;
    /* those of the terms that the search enforces; NULL: none */
    struct dg_terms *terms;
    /* [n_ids] encoder input: tags, tokens, </s> */
    int32_t *ids;
    uint32_t n_ids;
    /* [n_hyps] once accepted */
    struct dg_part_hyp *hyps;
    /* [hyps[0].n] positions in ids, or NULL */
    int32_t *alignment;
    /* [n_ends] end of each token of hyps[0] as a byte offset in the whole answer, when aligned */
    size_t *ends;
    uint32_t n_ends;
    uint32_t n_hyps;
    /* search steps of both rounds */
    uint32_t steps;
};

/* The source token that token `at` of the best answer is aligned with; NULL if there is no
 * alignment, or it is </s> or a tag. */
const struct dg_token *dg_part_source_of(const struct dg_part *p, uint32_t at);

struct dg_job {
    const struct dg_translator *t;
    struct dg_arena arena;
    struct dg_translate_options options;
    /* tokens in front of the source that name the target and the source language, or NULL */
    const char *tag, *source_tag;
    /* the token for the target language that starts the decoder; -1: none */
    int32_t lead;
    /* languages of the text and of its answer */
    const char *from, *to;
    /* the bundle's shortlist is not used for this pair */
    bool whole_vocabulary;
    /* the bundle answers with trees: only sentence splitting applies, no other processing of
     * texts */
    bool trees;
    /* while encoding: there is a sentence for the engine, which the prefix is for */
    bool begun;
    /* while encoding: [n_missed] the last text that has no known translation; a text that is one
     * sentence is looked up as both */
    const char *missed;
    size_t n_missed;
    char *text;
    size_t len;
    /* what was taken out of the text, and is written into its answer */
    struct dg_key_sign key_sign;
    /* [n_parts + n_inner] parts in the order of the text, then those within another part */
    struct dg_part *parts;
    size_t n_parts, n_inner, parts_cap;
    /* [n_sentences] parts that are engine work, in the order of the text */
    size_t *sentences;
    size_t n_sentences, n_accepted;
    /* required beginning of the first sentence's answer */
    struct dg_prefix prefix;
    /* the decoder's first tokens: `lead`, if there is one; for the first sentence, then the prefix
     * or the target to score */
    int32_t *start;
    /* [n_parts] the parts' spans in the source in code points; NULL until requested */
    struct dg_span *spans;
    /* 0: an ordinary job; else sentence i takes the (i+1)-th best token after the prefix */
    uint32_t n_alternatives;
    /* tokens of the target to score, with </s>; 0: nothing is scored */
    uint32_t n_forced;
};

/* Add a part of bytes begin..end; NULL: out of memory. */
struct dg_part *dg_part_new(struct dg_job *j, size_t begin, size_t end, struct dg_error *err);
/* Tokenize s[n] into p's text and tokens. dg_part_frame then sets p->ids = tags? tokens </s>? */
int dg_part_tokenize(struct dg_job *j, const struct dg_tokenizer *tokenizer, const char *s,
    size_t n, struct dg_part *p, struct dg_error *err);
int dg_part_frame(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* Encode the text of p that the model sees, or mark p as copied. DG_EAGAIN: it is over the token
 * limit. */
int dg_part_encode(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* Look up a known translation of p; if there is one, sets p->known. */
int dg_part_look_up(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* The same for source bytes at.begin .. at.end around p; if they have one, p takes their place. */
int dg_part_look_up_source(
    struct dg_job *j, struct dg_part *p, struct dg_span at, struct dg_error *err);
/* If the term is all of p's text, its target becomes p's known translation. */
int dg_part_know_term(struct dg_job *j, struct dg_part *p, const struct dg_glossary_match *term,
    struct dg_error *err);
/* Append p's known translation, written as p's text requires. */
int dg_part_write_known(
    struct dg_job *j, const struct dg_part *p, struct dg_buffer *out, struct dg_error *err);
/* Encode all parts of the job's text. */
int dg_job_encode_sentences(struct dg_job *j, struct dg_error *err);
/* Most tokens that an answer can have, </s> included, the leading one not: the request's limit, at
 * most the model's positions. dg_part_limit: most tokens of p's answer, which depends on the length
 * of p unless the request gives a limit. */
uint32_t dg_job_most_tokens(const struct dg_job *j);
uint32_t dg_part_limit(const struct dg_job *j, const struct dg_part *p);
/* While encoding: true if the next part's answer may be adapted to the source; false for the
 * sentence that a user's prefix begins. */
bool dg_job_answer_is_free(const struct dg_job *j);

/* Make p the sentence `at` (bytes of the document's text) of unit u, with the marks that are its
 * own. */
int dg_part_of_document(struct dg_job *j, struct dg_part *p, const struct dg_document *d,
    const struct dg_unit *u, struct dg_span at, struct dg_error *err);

/* A decoded answer: text[len], and the bytes that each of its n tokens takes there. */
struct dg_decoded {
    char *text;
    size_t len;
    /* [n] */
    const struct dg_token *spans;
    uint32_t n;
};
/* Append decoded text with each unknown token replaced by text of the source; an unknown token that
 * nothing in the source corresponds to is left out: "⁇" is never shown. True if any came from the
 * source or was left out. */
bool dg_part_fill_unknown(const struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    const struct dg_decoded *d, struct dg_buffer *out);
/* Remember where token i of the best answer ends, for its alignment. */
void dg_part_note_end(struct dg_part *p, const struct dg_part_hyp *h, uint32_t i, size_t end);
/* The required beginning of p's answer; empty except for the first sentence and for
 * alternatives. */
const struct dg_prefix *dg_part_prefix(const struct dg_job *j, const struct dg_part *p);
/* Mean log-probability of its tokens; 0 if there are none. */
double dg_part_confidence(const struct dg_part_hyp *h);

/* Append one answer's text with unknown tokens replaced; sets p->flags for the best answer only. */
int dg_part_write(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err);

/* Pair the words of the sentence with those of the best answer's text s[n], whose tokens end at
 * p->ends counted from `base`: at most one pair a token, in the job's arena. */
int dg_part_word_pairs(struct dg_job *j, const struct dg_part *p, const char *s, size_t n,
    size_t base, struct dg_word_pairs *out, struct dg_error *err);

/* Append bytes[0]..bytes[1] of the job's text, with the parts within p there replaced by their
 * answers of that rank. */
int dg_part_write_source(struct dg_job *j, const struct dg_part *p, const size_t bytes[2],
    uint32_t rank, struct dg_buffer *out, struct dg_error *err);
/* Append a part's answer of that rank; rank 0 also sets its flags. */
int dg_part_answer(struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out,
    struct dg_error *err);

/* Fill out->alignments for the best answer's text. where[n_parts], sentences[n_parts]: each part's
 * bytes and characters there. */
int dg_job_align(struct dg_job *j, const char *target, const struct dg_span *where,
    const struct dg_answer_sentence *sentences, struct dg_answers *out, struct dg_error *err);

#endif
