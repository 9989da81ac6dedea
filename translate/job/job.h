/* One text being translated: encode/ makes its sentences, search/ has them searched, answer/ writes
 * the text, accept/ takes the answers. One thread at a time per job. Private to translate/. */
#ifndef DG_TRANSLATE_JOB_JOB_H
#define DG_TRANSLATE_JOB_JOB_H

#include "base/arena.h"
#include "text/format/document.h"
#include "text/sentences/split.h"
#include "translate/job/key_sign.h"
#include "translate/no_memory.h"
#include "translate/job/prefix.h"
#include "translate/draft/term_places.h"
#include "translate/translator/translator.h"

/* One answer of the engine, copied. */
struct dg_part_hyp {
    /* [n] */
    int32_t *ids;
    /* [n] */
    float *token_logprob;
    /* [n] the positions in the sentence's ids that they are aligned with; NULL: not known */
    int32_t *sources;
    uint32_t n;
    double logprob, score;
    /* mean log-probability of the sentence's tokens, given this answer (search/read_back.h);
     * -INFINITY: it was not read back */
    double back;
    bool length_limited;
};

/* Answers that are read back, one after the other (search/read_back.h). */
struct dg_reading {
    /* [n] the longest first, so that each fits into the room of the one before; those before `at`
     * were read */
    struct dg_part_hyp *hyps;
    uint32_t n, at;
    /* [n_sentence] the sentence as a target: n_lead leading tokens, its own, </s> */
    int32_t *sentence;
    uint32_t n_sentence, n_lead;
    /* [n_ids] answer `at` as a source; there is room for the longest */
    int32_t *ids;
    uint32_t n_ids;
};

/* A part of the text: translated as one sentence, or copied when it has no letters or is there only
 * to hold the parts within it. */
struct dg_part {
    /* bytes of the job's text */
    size_t begin, end;
    /* number of the document's unit that it is in */
    size_t unit;
    /* parts within this one's bytes, from parts[inner] on */
    size_t inner, n_inner;
    bool copied;
    /* [known_len] its known translation (of a memory, or a glossary's term that is all of it), for
     * which `copied` is true; otherwise NULL */
    const char *known;
    size_t known_len;
    unsigned flags;

    /* what the model sees, and how the answer is written into the text */
    struct dg_shown shown;
    enum dg_encoding encoding;
    /* the end of a link or an image that began before the part, if the text in it is its label and
     * ends with the part; written after the answer. NULL: none */
    const struct dg_mark *tail;

    /* the sentence is in capitals, and read as ordinary words */
    bool capitals;
    /* the sentence was split into treebank words */
    bool treebank_words;
    /* normalised text that the tokens' offsets refer to */
    const char *text;
    /* [n_tokens] tokens of `text` */
    struct dg_token *tokens;
    size_t n_tokens;
    /* [n_ids] encoder input: language tags, tokens, </s> */
    int32_t *ids;
    uint32_t n_ids, n_tags;

    /* glossary terms that occur in `text` */
    struct dg_wanted_terms wanted;
    /* those of the terms that the search enforces; NULL: none */
    struct dg_terms *terms;

    /* no_repeat_ngram of a second round; 0: no loop so far */
    uint32_t block;
    /* second round after an empty answer */
    bool not_empty;
    /* second round after an answer with wrong numbers (accept/second_look.h) */
    bool looks;
    /* [n_first_hyps] the first round's answers, used if the second round finds none; NULL: no
     * second round */
    struct dg_part_hyp *first_hyps;
    uint32_t n_first_hyps;
    /* the answers that are read back now; NULL: none */
    struct dg_reading *reading;
    /* [n_hyps] once accepted */
    struct dg_part_hyp *hyps;
    uint32_t n_hyps;
    /* search steps of all rounds */
    uint32_t steps;
    /* [n_ends] end of each token of hyps[0] as a byte offset in the whole answer, when aligned */
    size_t *ends;
    uint32_t n_ends;
};

struct dg_job {
    const struct dg_translator *t;
    struct dg_arena arena;
    /* of the request, with defaults; the glossary is NULL where answers need have no terms */
    struct dg_translate_options options;
    /* tokens in front of the source that name the target and the source language, or NULL */
    const char *tag, *source_tag;
    /* the token for the target language that starts the decoder; -1: none */
    int32_t lead;
    /* languages of the text and of its answer */
    const char *from, *to;
    /* the bundle's shortlist is not used for this pair */
    bool whole_vocabulary;
    /* with options.rerank: nor for the pair in which answers are read back */
    bool back_whole_vocabulary;
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

enum { DG_DEFAULT_MAX_SOURCE = 512 }; /* tokens */

/* Make a job for a text that is not encoded yet. */
int dg_job_new(const struct dg_translator *t, const char *text, size_t n,
    const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err);
/* Add a part of bytes begin..end; NULL: out of memory. */
struct dg_part *dg_part_new(struct dg_job *j, size_t begin, size_t end, struct dg_error *err);
/* Most tokens that an answer can have, </s> included, the leading one not: the request's limit, at
 * most the model's positions. dg_part_limit: most tokens of p's answer, which depends on the length
 * of p unless the request gives a limit. */
uint32_t dg_job_most_tokens(const struct dg_job *j);
uint32_t dg_part_limit(const struct dg_job *j, const struct dg_part *p);
/* The beam of the job's searches, but for those with terms. */
uint32_t dg_job_beam(const struct dg_job *j);
/* True if p's sentence may be searched again for an answer with its numbers: it has digits, and the
 * caller asked for no more than the best answer. */
bool dg_part_may_look(const struct dg_job *j, const struct dg_part *p);
/* True if several answers of p's sentence are searched for, and read back. */
bool dg_part_is_read_back(const struct dg_job *j, const struct dg_part *p);
/* The required beginning of p's answer; empty except for the first sentence and for
 * alternatives. */
const struct dg_prefix *dg_part_prefix(const struct dg_job *j, const struct dg_part *p);

#endif
