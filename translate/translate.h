/* Text in, text out: the only module that knows both text and engine (no HTTP, no JSON), so that
 * the command line, the server and the trainer's validation translate alike.
 *
 *   translator (a loaded bundle)
 *     --encode-->  job (sentences as ids)
 *     --engine-->  results
 *     --finish-->  text with spans
 *
 * A translator is const after open: any thread. A job belongs to one thread at a time. */
#ifndef DG_TRANSLATE_TRANSLATE_H
#define DG_TRANSLATE_TRANSLATE_H

#include "base/buffer.h"
#include "base/error.h"
#include "model/engine/engine.h"
#include "text/format/document.h"
#include "text/glossary.h"
#include "tokenizer/tokenizer.h"
#include "weights/bundle.h"

struct dg_translator;

/* Open the bundle, its vocabularies and the model on be's device; checks that they fit each
 * other. */
int dg_translator_open(const char *bundle_dir, struct dg_backend *be, uint32_t max_positions,
    struct dg_translator **out, struct dg_error *err);
/* The same, overriding the bundle's choice about its shortlist. */
int dg_translator_open_lists(const char *bundle_dir, enum dg_list_use lists, struct dg_backend *be,
    uint32_t max_positions, struct dg_translator **out, struct dg_error *err);
/* The same for a loaded bundle, which the translator owns from success on. */
int dg_translator_open_take(struct dg_bundle *bundle, struct dg_backend *be, uint32_t max_positions,
    struct dg_translator **out, struct dg_error *err);
void dg_translator_close(struct dg_translator *t); /* NULL is fine */
const struct dg_model *dg_translator_model(const struct dg_translator *t);
/* Load another copy of the model on be's device from its file, which must not have changed. Close
 * the copy before the translator and before be. */
int dg_translator_copy(const struct dg_translator *t, struct dg_backend *be, struct dg_model **out,
    struct dg_error *err);
const struct dg_bundle *dg_translator_bundle(const struct dg_translator *t);
const struct dg_tokenizer *dg_translator_source(const struct dg_translator *t);
const struct dg_tokenizer *dg_translator_target(const struct dg_translator *t);
/* Find the bundle's pair that is nearest to these languages, as text/language_code.h compares codes
 * ("de-AT" finds de); the first of several; NULL matches every code. DG_EINVAL names the field. */
int dg_translator_pair(const struct dg_translator *t, const char *source, const char *target,
    size_t *pair, struct dg_error *err);

/* Lookup of known translations: `find` appends the translation of exactly s[n] and returns true, or
 * leaves `out` unchanged and returns false. */
struct dg_known {
    bool (*find)(const void *arg, const char *s, size_t n, struct dg_buffer *out);
    const void *arg;
};

enum { DG_RERANK_BEAM = 8 };

struct dg_translate_options {
    /* language codes; NULL: the bundle's first pair that fits (dg_translator_pair). DG_EINVAL
     * (field source or target): no such pair */
    const char *source, *target;
    /* zero fields and alpha < 0: the bundle's defaults */
    struct dg_search search;
    /* true: use search.penalty; else GNMT */
    bool penalty_set;
    /* the text is tokens separated by white space, not sentences; the answer's tokens are separated
     * by one space */
    bool tokens;
    /* source and target are the same language: the answer is the text itself, flagged; the pair is
     * ignored */
    bool same_language;
    /* return word alignments */
    bool alignments;
    /* Search for as many answers as the beam is wide, read each back in the opposite direction of
     * the same bundle, and prefer those that give the text again: slower and better. Without a beam
     * of its own, the search has DG_RERANK_BEAM. DG_EINVAL, DG_EUNSUP (field rerank): sampling, a
     * beam of 1; the bundle has no way back */
    bool rerank;
    /* keep an answer that loops, is empty or has other numbers as it is (always so with
     * `tokens`) */
    bool keep_loops;
    /* meaning of the text's line ends and marks; not with `tokens` */
    enum dg_format format;
    /* how tags of HTML and XML are treated; NULL: the default. Borrowed until the text is
     * encoded */
    const struct dg_markup *markup;
    /* do not split into sentences: each unit of `format` (a paragraph, a cell) is one sentence,
     * split only when it is over the token limit */
    bool one_sentence;
    /* without a prefix, too, the first sentence is shown to the model as it is, and its answer is
     * not adapted to it */
    bool first_as_it_is;
    /* Text that the first sentence's answer begins with, its last word perhaps unfinished; white
     * space at the end says that it is finished (with `tokens`: tokens). NULL or "": none.
     * DG_EINVAL, DG_ELIMIT: field target_prefix */
    const char *prefix;
    /* Terms to enforce in the answer if they occur in the text; NULL: none. Ignored with `tokens`,
     * sampling or a prefix. The job takes its own reference */
    struct dg_glossary *glossary;
    /* maximum beam of a search with terms or for reranking; 0 = DG_MAX_BEAM */
    uint32_t max_beam;
    /* Known translations: a sentence, or a unit of several, that has one is answered with it and is
     * not engine work; NULL: none. Ignored with `tokens` or a prefix. Borrowed until the text is
     * encoded */
    const struct dg_known *known;
    /* token limit of one sentence with </s>; 0 = 512. The text is split earlier if the model's
     * limit is lower */
    uint32_t max_source;
    /* Called with check_arg between sentences; a nonzero return ends encoding with check's error.
     * NULL: none */
    int (*check)(const void *arg, struct dg_error *err);
    const void *check_arg;
};

/* One text being translated. Sentences are engine work; everything else is kept to assemble the
 * answer. */
struct dg_job;

/* Normalise, split and encode text[n]. A text without letters has no sentences. */
int dg_job_encode(const struct dg_translator *t, const char *text, size_t n,
    const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err);
/* A job that scores a given translation: one sentence, forced. */
struct dg_text_pair {
    /* [n_source], [n_target] */
    const char *source, *target;
    size_t n_source, n_target;
};
int dg_job_encode_score(const struct dg_translator *t, const struct dg_text_pair *pair,
    const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err);
/* Make a job that finds n different continuations after o->prefix ("" or NULL for the first word),
 * each completed by its own search: one sentence, n searches and a few to spare, because several
 * may begin with the same word. */
int dg_job_encode_alternatives(const struct dg_translator *t, const char *text, size_t n_text,
    uint32_t n, const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err);
void dg_job_free(struct dg_job *j); /* NULL is fine */
/* Bytes of memory that a planned job takes, with room for answers as long as its sentences. */
size_t dg_job_memory(const struct dg_job *j);

size_t dg_job_sentences(const struct dg_job *j);
/* Refuses a job with one_sentence that is not one: DG_EINVAL (field text) for none, DG_ELIMIT
 * (field text) for a text over the limit of tokens, which was split. */
int dg_job_check_one_sentence(const struct dg_job *j, struct dg_error *err);
/* Sentence i for the engine; borrowed from the job. */
void dg_job_sentence(const struct dg_job *j, size_t i, struct dg_sentence *out);
/* Cost of sentence i for queues: source tokens (with </s>), and the maximum number of target
 * tokens. */
void dg_job_cost(
    const struct dg_job *j, size_t i, uint32_t *source_tokens, uint32_t *max_target_tokens);
/* Keep a copy of sentence i's answer. DG_EAGAIN (err is unchanged): the answer loops, is empty or
 * has other numbers than the sentence, or there are several to be read back. Admit the sentence
 * again as dg_job_sentence now returns it, in the same room: with loops or an immediate end
 * forbidden; for several answers, of which the best with the right numbers is kept; or, with
 * `rerank`, with one of the answers as the source and the sentence as the forced target. The first
 * answer is used if a search finds none. */
int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err);

enum dg_flag {
    DG_FLAG_LENGTH_LIMITED = 1, /* an output reached its length limit */
    DG_FLAG_SPLIT = 2,          /* the sentence was over the token limit and was split again */
    DG_FLAG_UNK_COPIED = 4,     /* a character outside the vocabulary was copied from the source */
    /* the first answer was caught in a loop; the sentence was searched again with repetition
     * blocked */
    DG_FLAG_REPETITION = 8,
    /* the model gives its own answer little probability, token by token */
    DG_FLAG_LOW_CONFIDENCE = 16,
    /* a number of the source is not in the answer, or the other way round */
    DG_FLAG_NUMBER_MISMATCH = 32,
    /* the text is plainly in another language than the source's */
    DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL = 64,
    DG_FLAG_SAME_LANGUAGE = 128, /* nothing was translated: source and target are one language */
    /* a word of the source that is no name is in the answer untranslated */
    DG_FLAG_WORD_COPIED = 256,
    /* a sign of the source is not in the answer, or the answer had stray characters that were
     * removed */
    DG_FLAG_CHARACTER_LOST = 512,
    /* plain text that looks like HTML or XML: its tags were kept, its references were not
     * understood */
    DG_FLAG_MARKUP_IN_TEXT = 1024,
    /* a term of the glossary is not in the answer: for example, the vocabulary cannot write it, or
     * there was no room for it */
    DG_FLAG_GLOSSARY_MISSED = 2048,
    DG_FLAG_FROM_MEMORY = 4096, /* a known translation, not the model's */
};

struct dg_answer_sentence {
    /* code points */
    size_t source_begin, source_end, target_begin, target_end;
    double score;
    /* mean log-probability of its tokens, which decides DG_FLAG_LOW_CONFIDENCE; 0 when nothing was
     * translated */
    double confidence;
    unsigned flags;
};

struct dg_answer {
    /* borrowed from the job, NUL-terminated */
    const char *text;
    size_t len;
    /* mean over sentences of the search's score; 0 when nothing was translated */
    double score;
};

/* A word of the source and the word of the answer aligned with it, in code points; with `tokens`,
 * their positions. */
struct dg_answer_pair {
    size_t source_begin, source_end, target_begin, target_end;
};

struct dg_answers {
    /* [n_best] best first, each with the text between sentences; the first is the translation */
    const struct dg_answer *best;
    size_t n_best;
    /* [n_sentences] of the first */
    const struct dg_answer_sentence *sentences;
    size_t n_sentences;
    /* [n_alignments] of the first, if requested */
    const struct dg_answer_pair *alignments;
    size_t n_alignments;
    /* all sentences' flags or'ed */
    unsigned flags;
    size_t source_characters, source_tokens, target_tokens;
    /* search steps of all sentences, and the sum of their limits; fewer steps if a search ended
     * early */
    size_t steps, most_steps;
};

/* Assemble the answer once every sentence is accepted. Borrowed until the job is freed. */
int dg_job_finish(struct dg_job *j, struct dg_answers *out, struct dg_error *err);

/* One sentence of the answer before the others are done: the future member i of
 * dg_answers.sentences. */
struct dg_finished_part {
    /* [len] as it will be in the answer; borrowed from the job, NUL-terminated */
    const char *text;
    size_t len, characters;
    /* code points */
    size_t source_begin, source_end;
    double score, confidence;
    unsigned flags;
};
size_t dg_job_parts(const struct dg_job *j);
/* DG_EAGAIN: the part is not accepted yet (err unchanged). */
int dg_job_finish_part(
    struct dg_job *j, size_t i, struct dg_finished_part *out, struct dg_error *err);

/* A forced job's answer: per-token log-probabilities, </s> last. Borrowed. */
struct dg_scored {
    double total;
    size_t n;
    /* [n] */
    const char *const *tokens;
    /* [n] */
    const float *logprob;
};
int dg_job_finish_score(struct dg_job *j, struct dg_scored *out, struct dg_error *err);

/* The n or fewer answers of a job of alternatives, best first; no two share the word after the
 * prefix (or the completion of its last word). Borrowed. */
int dg_job_finish_alternatives(
    struct dg_job *j, const struct dg_answer **list, size_t *n, struct dg_error *err);

/* Token counts of an accepted job for usage: those the engine read (once for all alternatives) and
 * those it produced. */
void dg_job_tokens(const struct dg_job *j, size_t *source_tokens, size_t *target_tokens);

/* Name of a flag bit, such as "length_limited". */
const char *dg_flag_name(unsigned bit);

#endif
