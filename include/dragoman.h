/* Dragoman as a library: open a model, translate and score texts, close it.
 *
 *     struct dragoman_error error;
 *     struct dragoman_model *model;
 *     struct dragoman_results *results;
 *     const struct dragoman_text text = {"Two dogs play in the snow.", 26};
 *     if (dragoman_open("en-de-fr", NULL, &model, &error) ||
 *         dragoman_translate(model, &text, 1, NULL, &results, &error))
 *         return fail(error.message);
 *     puts(dragoman_result_text(dragoman_results_at(results, 0), 0, NULL));
 *
 * Threads: any thread may call any function. Several threads may translate with one model at the
 * same time: their sentences share its engines, and answers do not depend on that. No thread may
 * use a model, results or a glossary after they were closed or freed. Callbacks run in the calling
 * thread. In a process that was forked after a model was opened, translating and scoring with it
 * return DRAGOMAN_EINVAL, and dragoman_close does nothing.
 *
 * The library keeps no state between models, writes nothing to standard output or standard error,
 * never ends the process (unless a GPU hangs for DRAGOMAN_CUDA_PATIENCE seconds, 60 by default),
 * and sets no signal handler, environment variable or locale. It reads the environment variables
 * DRAGOMAN_MODELS, DRAGOMAN_DEVICE, DRAGOMAN_PRECISION, DRAGOMAN_ISA, DRAGOMAN_SHORTLIST,
 * DRAGOMAN_CUDA_PLUGIN and, with a GPU, DRAGOMAN_DEBUG and the others that begin with
 * DRAGOMAN_CUDA_.
 *
 * Compatibility: structures that a caller fills in start with their size, and later versions add
 * members at their ends. A program built with an older header works with any library of the same
 * DRAGOMAN_ABI. An incompatible version raises this number and the library's SONAME. */
#ifndef DRAGOMAN_H
#define DRAGOMAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAGOMAN_ABI 0

#define DRAGOMAN_API __attribute__((visibility("default")))

/* The version of the loaded library, such as "0.1.0", and its DRAGOMAN_ABI. */
DRAGOMAN_API const char *dragoman_version(void);
DRAGOMAN_API int dragoman_abi(void);

/* ---- errors ------------------------------------------------------------------------------ */

enum dragoman_code {
    DRAGOMAN_OK = 0,
    DRAGOMAN_EINVAL = -1,    /* an argument is wrong */
    DRAGOMAN_ENOMEM = -2,    /* out of memory */
    DRAGOMAN_EIO = -3,       /* a file cannot be read */
    DRAGOMAN_EFORMAT = -4,   /* a file is damaged or not a model */
    DRAGOMAN_EUNSUP = -5,    /* not supported by this version */
    DRAGOMAN_ELIMIT = -7,    /* a text or an option is over a limit */
    DRAGOMAN_ENOTFOUND = -8, /* no such model or device */
    DRAGOMAN_ECANCELED = -9, /* a callback ended the call */
    DRAGOMAN_EINTERNAL = -10 /* a fault of the library */
};

/* The error. Functions return the code and fill this in if it is not NULL. */
struct dragoman_error {
    int code;
    /* index of the text or pair, from 0; -1: none */
    int64_t index;
    /* name of the option, such as "target"; "" if none */
    char field[64];
    /* a message for people */
    char message[512];
};

/* A short name of a code, such as "invalid". */
DRAGOMAN_API const char *dragoman_code_name(int code);

/* ---- models ------------------------------------------------------------------------------ */

struct dragoman_model;

/* Fill it in with dragoman_open_options_init, then change fields. */
struct dragoman_open_options {
    size_t size;
    /* "cpu", "cuda", "cuda:N" or "auto"; NULL: $DRAGOMAN_DEVICE, or "auto" */
    const char *device;
    /* arithmetic on a GPU: "fp32", "fp16" or "bf16"; NULL: $DRAGOMAN_PRECISION, or "fp32" */
    const char *precision;
    /* engines that run in parallel, each with a thread; 0: one per core, one on a GPU */
    int workers;
    /* threads per engine; 0: 1 */
    int threads;
    /* the widest beam (to 32) and the longest answer (to 4096 tokens) that always fit; 0: the
     * model's own. A wider or longer one that does not fit is refused. */
    uint32_t max_beam_size, max_length;
};
#define DRAGOMAN_OPEN_OPTIONS_SIZE sizeof(struct dragoman_open_options)
DRAGOMAN_API void dragoman_open_options_init(struct dragoman_open_options *options, size_t size);

/* Open a model and check it. `name` is a bundle's folder, or the name of one in $DRAGOMAN_MODELS or
 * the installation directory, or a language pair ("en-de"). NULL options: the defaults. */
DRAGOMAN_API int dragoman_open(const char *name, const struct dragoman_open_options *options,
    struct dragoman_model **model, struct dragoman_error *error);
/* No call may be running, and its results must be freed. NULL is allowed. */
DRAGOMAN_API void dragoman_close(struct dragoman_model *model);

/* Name, version and path of the bundle; valid until the model is closed. */
DRAGOMAN_API const char *dragoman_model_name(const struct dragoman_model *model);
DRAGOMAN_API const char *dragoman_model_version(const struct dragoman_model *model);
DRAGOMAN_API const char *dragoman_model_path(const struct dragoman_model *model);
/* "cpu" or "cuda:N"; the note is the reason why "auto" chose the CPU, "" otherwise. */
DRAGOMAN_API const char *dragoman_model_device(const struct dragoman_model *model);
DRAGOMAN_API const char *dragoman_model_device_note(const struct dragoman_model *model);
/* The model's language pairs: pair i of n. DRAGOMAN_EINVAL: no such pair. */
DRAGOMAN_API size_t dragoman_model_pairs(const struct dragoman_model *model);
DRAGOMAN_API int dragoman_model_pair(
    const struct dragoman_model *model, size_t i, const char **source, const char **target);

/* ---- glossaries -------------------------------------------------------------------------- */

/* Source terms with their translations. Free it after the last call that uses it. */
struct dragoman_glossary;

/* UTF-8; the bytes need no terminating NUL. */
struct dragoman_text {
    const char *data;
    size_t size;
};

/* Make a glossary of sources[n] and targets[n], copied. */
DRAGOMAN_API int dragoman_glossary_new(const struct dragoman_text *sources,
    const struct dragoman_text *targets, size_t n, struct dragoman_glossary **glossary,
    struct dragoman_error *error);
DRAGOMAN_API void dragoman_glossary_free(struct dragoman_glossary *glossary); /* NULL is fine */

/* ---- translating ------------------------------------------------------------------------- */

enum dragoman_format {
    DRAGOMAN_TEXT,
    DRAGOMAN_WRAPPED, /* the lines of a paragraph are one text */
    DRAGOMAN_SRT,     /* subtitles, WebVTT too */
    DRAGOMAN_MARKDOWN,
    DRAGOMAN_HTML,
    DRAGOMAN_XML
};

/* Divisor of scores, for n tokens in the answer and the length penalty X. */
enum dragoman_penalty {
    DRAGOMAN_PENALTY_GNMT,  /* ((5+n)/6)^X */
    DRAGOMAN_PENALTY_POWER, /* n^X */
    DRAGOMAN_PENALTY_NONE
};

/* Fill it in with dragoman_options_init, then change fields. */
struct dragoman_options {
    size_t size;
    /* languages, found as the server finds them ("de-AT" and "ger" are de for a model of de); NULL:
     * the model's first pair, or the pair given to dragoman_open */
    const char *source, *target;
    /* beam size, 1 to 32; 0: the model's */
    uint32_t beam_size;
    /* number of best translations, up to the beam; equal texts count once, so there may be fewer;
     * 0: one */
    uint32_t n_best;
    /* maximum tokens of a sentence's answer, including </s>; 0: the source's length plus the
     * model's extra length */
    uint32_t max_length;
    /* exponent of the length penalty, 0 to 10; negative: the model's */
    double length_penalty;
    /* enum dragoman_penalty; negative: the model's */
    int length_penalty_kind;
    /* the penalty counts at most this many times the source's tokens; 0: every token */
    double length_penalty_cap;
    /* 0: search; above: sample tokens instead, from the top_k likeliest (0: from all). The same
     * seed and sentence give the same answer. A top_k needs a temperature. */
    double temperature;
    uint32_t top_k;
    uint64_t seed;
    /* beginning of the answer; NULL or "": nothing */
    const char *target_prefix;
    /* NULL: none; not with tokens, a target_prefix or a temperature */
    const struct dragoman_glossary *glossary;
    /* enum dragoman_format */
    int format;
    /* texts and answers are tokens of the vocabulary, separated by spaces */
    int tokens;
    /* return word alignments */
    int alignments;
    /* keep answers that loop, are empty or have other numbers than the text: no second search */
    int keep_loops;
    /* do not split a text into sentences (a text over the token limit is still split) */
    int one_sentence;
    /* called after each sentence (or pair), `finished` of n texts (or pairs) being done; a return
     * value other than 0 ends the call with DRAGOMAN_ECANCELED, in the midst of a text, too. NULL:
     * not called; dragoman_translate_stream never calls it */
    int (*progress)(void *arg, size_t finished, size_t n);
    void *progress_arg;
    /* score each answer of the beam (8 unless beam_size is set) by the model's opposite direction,
     * and choose the best; 4 to 5 times slower. DRAGOMAN_EINVAL with a temperature or a beam of 1,
     * DRAGOMAN_EUNSUP if the model has no opposite direction */
    int rerank;
};
#define DRAGOMAN_OPTIONS_SIZE sizeof(struct dragoman_options)
DRAGOMAN_API void dragoman_options_init(struct dragoman_options *options, size_t size);

struct dragoman_result;
/* Results of a call, one for each text in the order of the texts. */
struct dragoman_results;

/* Translate any number of texts[n]: engines take them as they have room. NULL options: the
 * defaults. The first error ends the call, and error->index is the text. */
DRAGOMAN_API int dragoman_translate(struct dragoman_model *model, const struct dragoman_text *texts,
    size_t n, const struct dragoman_options *options, struct dragoman_results **results,
    struct dragoman_error *error);

/* A sentence of a text. */
struct dragoman_sentence {
    /* code points of the text, and of the answer (0 and 0 while it is streamed) */
    size_t source_begin, source_end, target_begin, target_end;
    /* the search's score */
    double score;
    /* mean log-probability of its tokens */
    double confidence;
    /* bits; see dragoman_flag_name */
    uint32_t flags;
};

/* Callbacks during translation. Fill it in with dragoman_stream_init. A callback's return value
 * other than 0 ends the call with DRAGOMAN_ECANCELED. A callback returns: no C++ exception or
 * longjmp() may leave it. */
struct dragoman_stream {
    size_t size;
    void *arg;
    /* Called for each translated sentence of texts[text], in order within a text. `answer` has
     * [length] bytes and is NUL-terminated. A text without letters has no sentence. NULL: not
     * called. */
    int (*sentence)(void *arg, size_t text, const char *answer, size_t length,
        const struct dragoman_sentence *sentence);
    /* Called when texts[text] is complete; texts arrive in the order in which they finish. `result`
     * is valid until the callback returns. NULL: not called. */
    int (*result)(void *arg, size_t text, const struct dragoman_result *result);
};
#define DRAGOMAN_STREAM_SIZE sizeof(struct dragoman_stream)
DRAGOMAN_API void dragoman_stream_init(struct dragoman_stream *stream, size_t size);

/* Translate texts[n] and call back for each answer; holds at most a thousand texts at a time. */
DRAGOMAN_API int dragoman_translate_stream(struct dragoman_model *model,
    const struct dragoman_text *texts, size_t n, const struct dragoman_options *options,
    const struct dragoman_stream *stream, struct dragoman_error *error);

/* Score targets[n] as translations of sources[n], each pair as one sentence. Of the options, only
 * source, target and tokens apply. */
DRAGOMAN_API int dragoman_score(struct dragoman_model *model, const struct dragoman_text *sources,
    const struct dragoman_text *targets, size_t n, const struct dragoman_options *options,
    struct dragoman_results **results, struct dragoman_error *error);

/* ---- results ----------------------------------------------------------------------------- */

DRAGOMAN_API size_t dragoman_results_count(const struct dragoman_results *results);
/* Result i, valid until the results are freed; NULL if there is none. */
DRAGOMAN_API const struct dragoman_result *dragoman_results_at(
    const struct dragoman_results *results, size_t i);
DRAGOMAN_API void dragoman_results_free(struct dragoman_results *results); /* NULL is fine */

/* The number of best translations, and the k-th: its text, NUL-terminated ([*length], which may be
 * NULL), and its score. NULL and 0 if there is none. A scored pair has no text, and its score is
 * the target's log-probability. */
DRAGOMAN_API size_t dragoman_result_count(const struct dragoman_result *result);
DRAGOMAN_API const char *dragoman_result_text(
    const struct dragoman_result *result, size_t k, size_t *length);
DRAGOMAN_API double dragoman_result_score(const struct dragoman_result *result, size_t k);
/* The flags of all sentences, combined. */
DRAGOMAN_API uint32_t dragoman_result_flags(const struct dragoman_result *result);
/* The name of one bit, such as "length_limited"; "" for an unknown bit. */
DRAGOMAN_API const char *dragoman_flag_name(uint32_t bit);

/* Sentence i of the best translation: the first `size` bytes of the structure are written.
 * DRAGOMAN_EINVAL: no such sentence. */
DRAGOMAN_API size_t dragoman_result_sentences(const struct dragoman_result *result);
DRAGOMAN_API int dragoman_result_sentence(const struct dragoman_result *result, size_t i,
    struct dragoman_sentence *sentence, size_t size);

/* A word of the text and its word in the answer, in code points; for tokens, their positions. */
struct dragoman_alignment {
    size_t source_begin, source_end, target_begin, target_end;
};
DRAGOMAN_API size_t dragoman_result_alignments(const struct dragoman_result *result);
DRAGOMAN_API int dragoman_result_alignment(
    const struct dragoman_result *result, size_t i, struct dragoman_alignment *alignment);

/* Tokens of a scored pair's target, </s> last: token i and its log-probability. NULL if there is
 * none. */
DRAGOMAN_API size_t dragoman_result_tokens(const struct dragoman_result *result);
DRAGOMAN_API const char *dragoman_result_token(
    const struct dragoman_result *result, size_t i, float *logprob);

struct dragoman_usage {
    size_t source_characters, source_tokens, target_tokens;
    /* search steps of all sentences, and the sum of their limits */
    size_t steps, most_steps;
};
/* The first `size` bytes of the structure are written. */
DRAGOMAN_API void dragoman_result_usage(
    const struct dragoman_result *result, struct dragoman_usage *usage, size_t size);

#ifdef __cplusplus
}
#endif

#endif
