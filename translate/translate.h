/* Text in, text out: the one place that knows text and engine both (no HTTP, no JSON). The command
 * line, the server and the trainer's validation translate alike by it.
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
/* The same with another choice than the bundle's about its shortlist. */
int dg_translator_open_lists(const char *bundle_dir, enum dg_list_use lists, struct dg_backend *be,
    uint32_t max_positions, struct dg_translator **out, struct dg_error *err);
/* The same of a loaded bundle, which is the translator's from success on. */
int dg_translator_open_take(struct dg_bundle *bundle, struct dg_backend *be, uint32_t max_positions,
    struct dg_translator **out, struct dg_error *err);
void dg_translator_close(struct dg_translator *t); /* NULL is fine */
const struct dg_model *dg_translator_model(const struct dg_translator *t);
/* The same model once more on be's device, from the file, which must be the same still; close it
 * before the translator (and before be). */
int dg_translator_copy(const struct dg_translator *t, struct dg_backend *be, struct dg_model **out,
    struct dg_error *err);
const struct dg_bundle *dg_translator_bundle(const struct dg_translator *t);
const struct dg_tokenizer *dg_translator_source(const struct dg_translator *t);
const struct dg_tokenizer *dg_translator_target(const struct dg_translator *t);

/* Look-up of known translations: append the one for exactly s[n] and return true, or leave `out`
 * unchanged. */
struct dg_known {
    bool (*find)(const void *arg, const char *s, size_t n, struct dg_buffer *out);
    const void *arg;
};

struct dg_translate_options {
    /* language codes; NULL: the bundle's first pair. DG_EINVAL (field source/target) otherwise */
    const char *source, *target;
    /* zero fields: the bundle's defaults; alpha < 0: default */
    struct dg_search search;
    /* search.penalty was chosen; else GNMT */
    bool penalty_set;
    /* the text is tokens with white space between, not sentences; the answer has one space */
    bool tokens;
    /* source and target are the same language: the answer is the text itself, flagged; the pair is
     * ignored */
    bool same_language;
    /* return word alignments */
    bool alignments;
    /* an answer that is caught in a loop, or empty, is left as it is (tokens always are) */
    bool keep_loops;
    /* meaning of the text's line ends and marks; not with `tokens` */
    enum dg_format format;
    /* of HTML and XML: how tags are taken; NULL: as is usual. The caller's until it is encoded */
    const struct dg_markup *markup;
    /* do not split; what `format` sets apart (a paragraph, a cell) is a sentence each (still split
     * again when over the token limit) */
    bool one_sentence;
    /* Text that the first sentence's answer begins with, its last word perhaps unfinished; white
     * space at the end says that it is finished (with `tokens`: tokens). NULL: none. DG_EINVAL,
     * DG_ELIMIT: field target_prefix */
    const char *prefix;
    /* Terms to enforce in the answer if they occur in the text; NULL: none. Not with `tokens`,
     * sampling or a prefix: these have no terms. The caller's; the job takes its own reference */
    struct dg_glossary *glossary;
    /* hypotheses that a search with terms may have; 0 = DG_MAX_BEAM */
    uint32_t max_beam;
    /* Translations that are known: a sentence, or a text of several, that one of them fits is
     * answered with it and is no engine work; NULL: none. Not with `tokens` or a prefix. The
     * caller's until it is encoded */
    const struct dg_known *known;
    /* token limit of one sentence with </s>; 0 = 512. a lower limit of the model splits texts
     * earlier */
    uint32_t max_source;
    /* NULL, or asked between sentences with check_arg: is encoding worth going on with? Otherwise
     * it ends with check's error */
    int (*check)(const void *arg, struct dg_error *err);
    const void *check_arg;
};

/* One text on its way. Sentences are engine work; everything else is kept for putting the answer
 * together. */
struct dg_job;

/* Normalise, split and encode text[n]. Text without letters has none. */
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
/* A job that finds n different continuations after o->prefix ("" for the first word), each
 * completed by its own search: one sentence, n searches. */
int dg_job_encode_alternatives(const struct dg_translator *t, const char *text, size_t n_text,
    uint32_t n, const struct dg_translate_options *o, struct dg_job **out, struct dg_error *err);
void dg_job_free(struct dg_job *j); /* NULL is fine */
/* Bytes of memory that a planned job takes, with room for answers as long as its sentences. */
size_t dg_job_memory(const struct dg_job *j);

size_t dg_job_sentences(const struct dg_job *j);
/* Sentence i for the engine; borrowed from the job. */
void dg_job_sentence(const struct dg_job *j, size_t i, struct dg_sentence *out);
/* Cost of sentence i for queues: tokens in (with </s>), and the most tokens that may come out. */
void dg_job_cost(
    const struct dg_job *j, size_t i, uint32_t *source_tokens, uint32_t *max_target_tokens);
/* Keep sentence i's answer (copied). DG_EAGAIN: the answer loops or is empty. It was discarded;
 * admit the sentence again as dg_job_sentence now returns it, with loops forbidden (err is
 * unchanged). */
int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err);

enum dg_flag {
    DG_FLAG_LENGTH_LIMITED = 1, /* an output met its length limit */
    DG_FLAG_SPLIT = 2,          /* the sentence was over the token limit and was split again */
    DG_FLAG_UNK_COPIED = 4,     /* a character outside the vocabulary was copied from the source */
    /* the first answer was caught in a loop: this is a second, kept from repeating itself */
    DG_FLAG_REPETITION = 8,
    /* the model gives its own answer little probability, token by token */
    DG_FLAG_LOW_CONFIDENCE = 16,
    /* a number of the source is not in the answer, or the other way round */
    DG_FLAG_NUMBER_MISMATCH = 32,
    /* the text is plainly in another language than the source's */
    DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL = 64,
    DG_FLAG_SAME_LANGUAGE = 128, /* nothing was translated: source and target are one language */
    /* a word of the source, and no name, is in the answer as it was */
    DG_FLAG_WORD_COPIED = 256,
    /* a sign of the source is not in the answer, or the model wrote bytes that make no character,
     * and they were left out */
    DG_FLAG_CHARACTER_LOST = 512,
    /* plain text that looks like HTML: its tags were kept, its references were not understood */
    DG_FLAG_MARKUP_IN_TEXT = 1024,
    /* a term of the glossary is not in the answer: the model's vocabulary cannot write it, or there
     * was no room for it */
    DG_FLAG_GLOSSARY_MISSED = 2048,
    DG_FLAG_FROM_MEMORY = 4096, /* a translation that was known, and not the model's */
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

/* A word of the source and a word of the answer that came from it, in code points; of tokens
 * their positions. */
struct dg_answer_pair {
    size_t source_begin, source_end, target_begin, target_end;
};

struct dg_answers {
    /* [n_best]; the first is the translation, with the text between sentences */
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
    /* steps of all searches, and their maximum; lower if one ended early */
    size_t steps, most_steps;
};

/* Put the answer together once every sentence was accepted. Borrowed until the job is freed. */
int dg_job_finish(struct dg_job *j, struct dg_answers *out, struct dg_error *err);

/* One sentence of the answer before the others are done: the future member i of
 * dg_answers.sentences. */
struct dg_finished_part {
    /* [len] as it will be in the answer; borrowed from the job, NUL-terminated */
    const char *text;
    size_t len, characters;
    /* code points */
    size_t source_begin, source_end;
    double score;
    unsigned flags;
};
size_t dg_job_parts(const struct dg_job *j);
/* DG_EAGAIN: it is not accepted yet (err untouched). */
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

/* Up to n requested answers of a job of alternatives, best first; no two have the same word after
 * the prefix (or the same word for its last). Borrowed. */
int dg_job_finish_alternatives(
    struct dg_job *j, const struct dg_answer **list, size_t *n, struct dg_error *err);

/* Tokens that the engine read (of alternatives once) and gave, for usage; of an accepted job. */
void dg_job_tokens(const struct dg_job *j, size_t *source_tokens, size_t *target_tokens);

/* Name of a flag bit, such as "length_limited". */
const char *dg_flag_name(unsigned bit);

#endif
