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
 * Threads: any function may be called by any thread. Several threads may translate with one model
 * at the same time: their sentences share its engines, and no answer depends on that. The thread
 * that closes a model, frees results or a glossary is the last one that uses them. Callbacks are
 * called by the thread that called. A process that forks must not use a model in the child.
 *
 * The library keeps no state between models, writes nothing to standard output or standard error,
 * ends no process, and sets no signal handler, environment variable or locale. It reads the
 * environment variables DRAGOMAN_MODELS, DRAGOMAN_DEVICE, DRAGOMAN_PRECISION, DRAGOMAN_ISA and
 * DRAGOMAN_CUDA_PLUGIN.
 *
 * Growth: structures that a caller fills in begin with their size, and later versions add members
 * at their ends. A program that was built with an older header keeps working with the same
 * DRAGOMAN_ABI; the number goes up when it would not, and the library's SONAME with it. */
#ifndef DRAGOMAN_H
#define DRAGOMAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAGOMAN_ABI 0

#define DRAGOMAN_API __attribute__((visibility("default")))

/* The version of the library that runs, such as "0.1.0", and its DRAGOMAN_ABI. */
DRAGOMAN_API const char *dragoman_version(void);
DRAGOMAN_API int dragoman_abi(void);

/* ---- errors ------------------------------------------------------------------------------ */

enum dragoman_code {
    DRAGOMAN_OK = 0,
    DRAGOMAN_EINVAL = -1,    /* an argument is wrong */
    DRAGOMAN_ENOMEM = -2,    /* memory is out */
    DRAGOMAN_EIO = -3,       /* a file cannot be read */
    DRAGOMAN_EFORMAT = -4,   /* a file is damaged, or no model */
    DRAGOMAN_EUNSUP = -5,    /* this version cannot do that */
    DRAGOMAN_ELIMIT = -7,    /* a text or an option is over a limit */
    DRAGOMAN_ENOTFOUND = -8, /* there is no such model or device */
    DRAGOMAN_ECANCELED = -9, /* a callback ended the call */
    DRAGOMAN_EINTERNAL = -10 /* a fault of the library */
};

/* The error. Functions return the code and fill this in when it is not NULL. */
struct dragoman_error {
    int code;
    /* the text or pair it is about, from 0; -1: none */
    int64_t index;
    /* the option it is about, such as "target"; "" when there is none */
    char field[64];
    /* a sentence for people */
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
    /* of a GPU's arithmetic: "fp32", "fp16" or "bf16"; NULL: $DRAGOMAN_PRECISION, or "fp32" */
    const char *precision;
    /* engines side by side, each with a thread; 0: one for each core, on a GPU one */
    int workers;
    /* cores that one step is split over; 0: 1 */
    int threads;
    /* the widest beam and the longest answer (tokens) that every call is sure of room for; 0: the
     * model's own. A wider or longer one that does not fit is refused. */
    uint32_t max_beam_size, max_length;
};
#define DRAGOMAN_OPEN_OPTIONS_SIZE sizeof(struct dragoman_open_options)
DRAGOMAN_API void dragoman_open_options_init(struct dragoman_open_options *options, size_t size);

/* Open a model and check it. `name` is a bundle's folder, or the name of one in $DRAGOMAN_MODELS or
 * where Dragoman is installed, or two languages ("en-de"). NULL options: the defaults. */
DRAGOMAN_API int dragoman_open(const char *name, const struct dragoman_open_options *options,
    struct dragoman_model **model, struct dragoman_error *error);
/* No call may be on, and its results must be freed. NULL is fine. */
DRAGOMAN_API void dragoman_close(struct dragoman_model *model);

/* Of the bundle; valid until the model is closed. */
DRAGOMAN_API const char *dragoman_model_name(const struct dragoman_model *model);
DRAGOMAN_API const char *dragoman_model_version(const struct dragoman_model *model);
DRAGOMAN_API const char *dragoman_model_path(const struct dragoman_model *model);
/* "cpu" or "cuda:N"; the note says why "auto" took the CPU, "" otherwise. */
DRAGOMAN_API const char *dragoman_model_device(const struct dragoman_model *model);
DRAGOMAN_API const char *dragoman_model_device_note(const struct dragoman_model *model);
/* The languages it translates: pair i of n. DRAGOMAN_EINVAL: there is no such pair. */
DRAGOMAN_API size_t dragoman_model_pairs(const struct dragoman_model *model);
DRAGOMAN_API int dragoman_model_pair(
    const struct dragoman_model *model, size_t i, const char **source, const char **target);

/* ---- glossaries -------------------------------------------------------------------------- */

/* Source terms with their translations. Free it after the last call that uses it. */
struct dragoman_glossary;

/* UTF-8; the bytes need no NUL. */
struct dragoman_text {
    const char *data;
    size_t size;
};

/* Of sources[n] and targets[n], copied. */
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

/* What scores are divided by, n the answer's tokens and X the length penalty. */
enum dragoman_penalty {
    DRAGOMAN_PENALTY_GNMT,  /* ((5+n)/6)^X */
    DRAGOMAN_PENALTY_POWER, /* n^X */
    DRAGOMAN_PENALTY_NONE
};

/* Fill it in with dragoman_options_init, then change fields. */
struct dragoman_options {
    size_t size;
    /* languages; NULL: the model's first pair, or the pair that it was opened by */
    const char *source, *target;
    /* hypotheses that the search keeps, 1 to 32; 0: the model's */
    uint32_t beam_size;
    /* number of best translations, up to the beam; 0: one */
    uint32_t n_best;
    /* most tokens of a sentence's answer, </s> counted; 0: the source's and the model's extra */
    uint32_t max_length;
    /* exponent of the length penalty, 0 to 10; negative: the model's */
    double length_penalty;
    /* enum dragoman_penalty; negative: the model's */
    int length_penalty_kind;
    /* the penalty counts at most this many times the source's tokens; 0: every token */
    double length_penalty_cap;
    /* more than 0: draw tokens at random instead of searching; then from the top_k likeliest
     * (0: from all). The same seed and sentence give the same answer. */
    double temperature;
    uint32_t top_k;
    uint64_t seed;
    /* beginning of the answer; NULL: nothing */
    const char *target_prefix;
    /* NULL: none; not with tokens, a target_prefix or a temperature */
    const struct dragoman_glossary *glossary;
    /* enum dragoman_format */
    int format;
    /* texts and answers are tokens of the vocabulary with spaces between */
    int tokens;
    /* say which words of the text the answer's words came from */
    int alignments;
    /* leave answers that repeat themselves over and over, or are empty, as they are */
    int keep_loops;
    /* do not split a text into sentences (a sentence over the token limit is) */
    int one_sentence;
    /* called after each text (or pair), `finished` of n being done; anything but 0 ends the call
     * with DRAGOMAN_ECANCELED. NULL: not called; dragoman_translate_stream never calls it */
    int (*progress)(void *arg, size_t finished, size_t n);
    void *progress_arg;
};
#define DRAGOMAN_OPTIONS_SIZE sizeof(struct dragoman_options)
DRAGOMAN_API void dragoman_options_init(struct dragoman_options *options, size_t size);

struct dragoman_result;
/* Results of a call, one for each text in the order of the texts. */
struct dragoman_results;

/* Translate texts[n], as many as there are: engines take them as they have room. NULL options: the
 * defaults. The first error ends the call, error->index says at which text. */
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

/* Callbacks during translation. Fill it in with dragoman_stream_init. Anything but 0 from a
 * callback ends the call with DRAGOMAN_ECANCELED. */
struct dragoman_stream {
    size_t size;
    void *arg;
    /* A sentence of texts[text] is answered: [length] bytes, NUL-terminated. In order within a
     * text; one without letters has no sentence. NULL: do not tell. */
    int (*sentence)(void *arg, size_t text, const char *answer, size_t length,
        const struct dragoman_sentence *sentence);
    /* texts[text] is answered; texts arrive in the order in which they finish. It is valid until
     * the callback returns. NULL: do not tell. */
    int (*result)(void *arg, size_t text, const struct dragoman_result *result);
};
#define DRAGOMAN_STREAM_SIZE sizeof(struct dragoman_stream)
DRAGOMAN_API void dragoman_stream_init(struct dragoman_stream *stream, size_t size);

/* Translate texts[n] and tell of each answer; keeps no more than a thousand texts at a time. */
DRAGOMAN_API int dragoman_translate_stream(struct dragoman_model *model,
    const struct dragoman_text *texts, size_t n, const struct dragoman_options *options,
    const struct dragoman_stream *stream, struct dragoman_error *error);

/* Score targets[n] as translations of sources[n], each pair as one sentence. Of the options,
 * source, target and tokens count. */
DRAGOMAN_API int dragoman_score(struct dragoman_model *model, const struct dragoman_text *sources,
    const struct dragoman_text *targets, size_t n, const struct dragoman_options *options,
    struct dragoman_results **results, struct dragoman_error *error);

/* ---- results ----------------------------------------------------------------------------- */

DRAGOMAN_API size_t dragoman_results_count(const struct dragoman_results *results);
/* Result i, valid until the results are freed; NULL: there is none. */
DRAGOMAN_API const struct dragoman_result *dragoman_results_at(
    const struct dragoman_results *results, size_t i);
DRAGOMAN_API void dragoman_results_free(struct dragoman_results *results); /* NULL is fine */

/* How many of the best translations it has, and the k-th: its text, NUL-terminated ([*length],
 * which may be NULL), and its score. NULL and 0 if there is none. Of a scored pair: no text, and
 * the score is the target's log-probability. */
DRAGOMAN_API size_t dragoman_result_count(const struct dragoman_result *result);
DRAGOMAN_API const char *dragoman_result_text(
    const struct dragoman_result *result, size_t k, size_t *length);
DRAGOMAN_API double dragoman_result_score(const struct dragoman_result *result, size_t k);
/* All sentences' flags. */
DRAGOMAN_API uint32_t dragoman_result_flags(const struct dragoman_result *result);
/* The name of one bit, such as "length_limited"; "": it has no meaning. */
DRAGOMAN_API const char *dragoman_flag_name(uint32_t bit);

/* Sentence i of the best translation: the first `size` bytes of the structure are written.
 * DRAGOMAN_EINVAL: there is no such sentence. */
DRAGOMAN_API size_t dragoman_result_sentences(const struct dragoman_result *result);
DRAGOMAN_API int dragoman_result_sentence(const struct dragoman_result *result, size_t i,
    struct dragoman_sentence *sentence, size_t size);

/* A word of the text and a word of the answer that came from it, in code points; of tokens their
 * positions. */
struct dragoman_alignment {
    size_t source_begin, source_end, target_begin, target_end;
};
DRAGOMAN_API size_t dragoman_result_alignments(const struct dragoman_result *result);
DRAGOMAN_API int dragoman_result_alignment(
    const struct dragoman_result *result, size_t i, struct dragoman_alignment *alignment);

/* Tokens of a scored pair's target, </s> last: token i and its log-probability. NULL: there is
 * none. */
DRAGOMAN_API size_t dragoman_result_tokens(const struct dragoman_result *result);
DRAGOMAN_API const char *dragoman_result_token(
    const struct dragoman_result *result, size_t i, float *logprob);

struct dragoman_usage {
    size_t source_characters, source_tokens, target_tokens;
    /* that all searches took, and the most they might have taken */
    size_t steps, most_steps;
};
/* The first `size` bytes of the structure are written. */
DRAGOMAN_API void dragoman_result_usage(
    const struct dragoman_result *result, struct dragoman_usage *usage, size_t size);

#ifdef __cplusplus
}
#endif

#endif
