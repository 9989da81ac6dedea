/* A recipe: all settings of a training run, read from one JSON file. Values come from, later over
 * earlier: the built-in defaults, the preset or the recipe named by "extends", the file, and
 * KEY=VALUE settings of the command line. Every field with a single value is listed once, in
 * trainer/recipe/fields.c. Const after load: any thread. Strings live as long as the recipe. */
#ifndef DG_TRAINER_RECIPE_RECIPE_H
#define DG_TRAINER_RECIPE_RECIPE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "model/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Which side of a file a model made: that side is trained as a source only, with a tag before it.
 */
enum dg_back_translated {
    DG_BACK_TRANSLATED_NONE,
    DG_BACK_TRANSLATED_SOURCE,
    DG_BACK_TRANSLATED_TARGET
};

/* Two line-aligned files, plain or gzip; paths are relative to the data folder. */
struct dg_recipe_file {
    const char *source, *target;
    /* domain label of all lines; "": none */
    const char *domain;
    /* or a file with one label per line; "": none */
    const char *domains;
    /* how often a pair comes up in an epoch: 1 once, 0.5 every other epoch, 3 three times */
    double weight;
    /* enum dg_back_translated; training files only */
    int back_translated;
};

struct dg_recipe_pair {
    const char *source_lang, *target_lang;
    /* train target -> source too */
    bool both_directions;
    struct dg_recipe_file *train, *dev, *test;
    size_t n_train, n_dev, n_test;
};

/* The model's directions: one per pair, two if both directions are trained, in the recipe's
 * order. */
struct dg_recipe_direction {
    const char *source_lang, *target_lang;
    /* control piece put before the source, e.g. "<2de>"; "" none */
    const char *tag;
    /* index in data.pairs */
    size_t pair;
    /* the pair's target is the source */
    bool reversed;
};

struct dg_recipe_weight {
    const char *domain;
    /* multiplies the file's weight */
    double weight;
};

enum { DG_MAX_NAME_FORMS = 100 };

/* A list of names that replace each other (trainer/align/names.h). */
struct dg_recipe_names {
    /* relative to the data folder */
    const char *file;
    /* number of further forms of each pair with a name of the list; 0.5: half of them get one */
    double forms;
};

/* A part of a run with weights of its own. */
struct dg_recipe_stage {
    /* its last update; INT64_MAX: to the end of the run */
    int64_t until_update;
    /* multiply the weights of the pairs; domains that are not named keep theirs */
    struct dg_recipe_weight *domain_weights;
    size_t n_domain_weights;
};

/* auto: when there are several target languages. */
enum dg_tags { DG_TAGS_AUTO, DG_TAGS_ALWAYS, DG_TAGS_NEVER };

struct dg_recipe_data {
    struct dg_recipe_pair *pairs;
    size_t n_pairs;
    /* further files (plain lines) whose lines must not be trained on */
    const char **held_out;
    size_t n_held_out;
    struct dg_recipe_names *names;
    size_t n_names;
    struct dg_recipe_weight *domain_weights;
    size_t n_domain_weights;
    /* derived: some training file has a side that a model made */
    bool back_translated;
    /* enum dg_tags */
    int target_tags;
    /* derived */
    struct dg_recipe_direction *directions;
    size_t n_directions;
};

/* Reasons for dropping pairs before training; dev and test sets are not filtered. */
struct dg_recipe_cleaning {
    /* code points of a side */
    int64_t min_chars, max_chars;
    /* longer side / shorter side in code points (both + 8, so that short lines pass); 0 off */
    double max_char_ratio;
    /* tokens of a side, with </s>: longer pairs are dropped */
    int64_t max_tokens;
    /* as max_char_ratio, in tokens (both + 4); 0 off */
    double max_token_ratio;
    /* source = target */
    bool drop_identical;
    /* a side without any letter */
    bool require_letters;
    /* a repeated pair */
    bool deduplicate;
    /* a side that is a line of dev, test or held_out */
    bool remove_overlap;
    /* a side that shares this many consecutive words with such a line; 0 off */
    int64_t near_copies;
    /* a side that is surely in another language */
    bool language_check;
    /* largest share of a file's pairs dropped for faults: above it nothing is prepared; 1: off */
    double max_dropped;
    /* refuse files whose lines do not translate each other */
    bool check_relation;
    /* least share of a pair's known words whose translation is found; 0 off */
    double min_relation;
};

/* Shares of the pairs that are also trained in another form (trainer/align/variants.h). */
struct dg_recipe_variants {
    /* in capitals */
    double upper;
    /* without the full stop; share of the pairs that end in one */
    double no_full_stop;
    /* joined to the previous pair on one line */
    double joined;
    /* with another number; share of the pairs with a number that both sides have */
    double numbers;
    /* occurrences of each word and its translation per epoch (trainer/align/dictionary.h) */
    double words;
    /* with a reserved piece on both sides instead of protected text (trainer/align/masks.h) */
    double mask;
    /* likewise with rare characters, which are to be copied */
    double signs;
};

/* Noise in sources during training, drawn anew in each epoch (trainer/data/typing.h). */
struct dg_recipe_noise {
    /* share of sentences */
    double letter_case;
    /* share of words of four letters or more */
    double typos;
    /* share of blanks left out */
    double merges;
};

/* Which characters get a piece: those that are frequent enough in the text, or also those of
 * trainer/data/characters.h. */
enum dg_characters { DG_CHARACTERS_FREQUENT, DG_CHARACTERS_WESTERN };

enum { DG_MAX_RESERVED = 16 };

struct dg_recipe_vocabulary {
    /* a bundle, a prepared folder or a SentencePiece model to reuse; "" trains one */
    const char *from;
    /* pieces, specials included */
    int64_t size;
    /* one vocabulary for both sides */
    bool joint;
    /* share of characters that get a piece */
    double character_coverage;
    /* spell other characters in bytes */
    bool byte_fallback;
    /* SentencePiece rule: identity, nfkc, nmt_nfkc, nfkc_cf, nmt_nfkc_cf, nmt_nfc */
    const char *normalization;
    /* maximum number of lines that train it */
    int64_t sample_lines;
    /* enum dg_characters */
    int characters;
    /* pieces ⟨1⟩, ⟨2⟩, ...: no text can spell them */
    int64_t reserved;
};

enum dg_batch_mode {
    /* source tokens <= batch_tokens and target tokens <= batch_tokens, padding not counted */
    DG_BATCH_SUM,
    DG_BATCH_PADDED /* sentences * longest side <= batch_tokens */
};
enum dg_stop_metric { DG_STOP_BLEU, DG_STOP_LOSS };
enum dg_recipe_precision {
    /* a resumed run keeps its precision; a new one uses bf16 on processors that have it, otherwise
     * fp32 */
    DG_PRECISION_AUTO,
    DG_PRECISION_FP32,
    DG_PRECISION_BF16,
    /* GPUs only */
    DG_PRECISION_FP16
};

struct dg_recipe_training {
    int64_t updates;
    /* per update, over all threads and ranks */
    int64_t batch_tokens;
    /* enum dg_batch_mode */
    int batch_mode;
    /* source + target tokens of a thread's forward and backward pass; 0: chosen by the program */
    int64_t micro_tokens;
    /* sentences sorted by length together; bounds memory */
    int64_t shuffle_window;
    /* updates */
    int64_t warmup;
    /* lr = lr_scale * d^-0.5 * min(step^-0.5, step * warmup^-1.5) */
    double lr_scale;
    /* number of last updates over which the learning rate falls linearly to 0; 0 as in the paper */
    int64_t cooldown;
    double beta1, beta2, epsilon;
    /* decoupled; 0 as in the paper */
    double weight_decay;
    double label_smoothing;
    /* sublayer outputs and embedding sums */
    double dropout;
    double attention_dropout, relu_dropout;
    /* share of BPE merges skipped; 0 off */
    double bpe_dropout;
    /* in their order; after the last one the pairs have their own weights */
    struct dg_recipe_stage *stages;
    size_t n_stages;
    /* largest gradient norm; 0 off */
    double clip;
    /* decay of averaged weights; 0 off */
    double ema;
    /* updates between checkpoints; 0 off */
    int64_t checkpoint_updates;
    /* minutes between checkpoints; 0 off */
    double checkpoint_minutes;
    int64_t keep_last, keep_best;
    /* checkpoints in the final average; 1: only the last */
    int64_t average_last;
    /* if > 0: average this many of the best checkpoints instead */
    int64_t average_best;
    /* a single checkpoint instead of the mean if the dev set prefers it */
    bool average_compare;
    /* validations without a better score before stopping; 0 never */
    int64_t patience;
    /* enum dg_stop_metric; also what "best" means */
    int stop_metric;
    /* updates per log line */
    int64_t log_updates;
    int64_t seed;
    /* 0: all cores this process may use */
    int64_t threads;
    /* enum dg_recipe_precision: of matrix products */
    int precision;
};

struct dg_recipe_validation {
    /* updates between validations; 0: at checkpoints only */
    int64_t every;
    /* dev lines translated for BLEU; 0 all */
    int64_t lines;
    /* translations shown in the log */
    int64_t samples;
    int64_t beam;
    double alpha;
    int64_t extra_length;
    /* lines of each dev set that the bundle is calibrated with; 0 off */
    int64_t calibrate;
    /* lines of each dev set that the bundle's vocabulary shortlist is measured with; 0: it gets
     * none */
    int64_t shortlist;
};

/* Guided alignment (Garg et al. 2019): attention that is trained to align words. */
struct dg_recipe_guided {
    /* weight of its loss beside that of the translation; 0 off */
    double weight;
    /* decoder layer from 1; 0: the last but one */
    uint32_t layer;
    /* head from 1; 0: the mean of all */
    uint32_t head;
};

/* First input of the decoder: a zero vector or </s>. */
enum dg_recipe_start { DG_START_ZERO, DG_START_EOS };

struct dg_recipe_output {
    /* "f32" or "f16" */
    const char *type;
    /* the manifest's: "as_written" or "as_words" */
    const char *capitals;
    /* the manifest's: "text" or "trees" */
    const char *answers;
    const char *licence, *description;
};

/* new: the recipe's own vocabulary; its embeddings start from those of the old pieces. */
enum dg_init_vocabulary { DG_VOCABULARY_KEEP, DG_VOCABULARY_NEW };

/* spread: the recipe's numbers of layers; each starts from the old one at its relative depth. */
enum dg_init_layers { DG_LAYERS_KEEP, DG_LAYERS_SPREAD };

struct dg_recipe {
    /* name of the bundle: letters, digits, - _ . */
    const char *name;
    /* folder that relative paths start from */
    const char *data_dir;
    /* bundle to start from, keeping its dimensions; "" random */
    const char *init;
    /* enum dg_init_vocabulary: whether to keep its vocabulary, too */
    int init_vocabulary;
    /* enum dg_init_layers: whether to keep its numbers of layers, too */
    int init_layers;
    struct dg_recipe_data data;
    struct dg_recipe_cleaning cleaning;
    struct dg_recipe_variants variants;
    struct dg_recipe_noise noise;
    struct dg_recipe_vocabulary vocabulary;
    /* vocabulary sizes, ids and start are not known before dg_recipe_config */
    struct dg_config model;
    /* enum dg_recipe_start */
    int decoder_start;
    struct dg_recipe_training training;
    struct dg_recipe_guided guided;
    struct dg_recipe_validation validation;
    struct dg_recipe_output output;
    /* the resolved recipe, every default in it */
    struct dg_json *json;
    struct dg_arena arena;
};

/* Load PATH (or a preset by its name, if there is no such file). settings[n]:
 * "training.updates=200" and the like, the value as JSON or a plain word. DG_EINVAL names the field
 * ("training.dropout") and the allowed values. data.pairs may be empty until dg_prepare. */
int dg_recipe_load(const char *path, const char *data_dir, const char *const *settings,
    size_t n_settings, struct dg_recipe **out, struct dg_error *err);
/* The same from text; "extends" is relative to `base_dir`. */
int dg_recipe_parse(const char *text, size_t n, const char *base_dir, const char *data_dir,
    struct dg_recipe **out, struct dg_error *err);
/* The same from JSON, such as a resolved recipe's, with settings as in dg_recipe_load. */
int dg_recipe_of_json(const struct dg_json *recipe, const char *data_dir,
    const char *const *settings, size_t n_settings, struct dg_recipe **out, struct dg_error *err);
/* True if the vocabulary is that of the bundle to start from. */
static inline bool dg_recipe_keeps_vocabulary(const struct dg_recipe *r)
{
    return r->init[0] && r->init_vocabulary == DG_VOCABULARY_KEEP;
}
static inline bool dg_recipe_guides(const struct dg_recipe *r)
{
    return r->guided.weight > 0;
}
/* True if the targets are trees, written as sequences of brackets. */
static inline bool dg_recipe_has_trees(const struct dg_recipe *r)
{
    return !strcmp(r->output.answers, "trees");
}
void dg_recipe_free(struct dg_recipe *r); /* NULL is fine */

/* The whole recipe with every default as indented JSON, which reads back as the same recipe. */
int dg_recipe_print(const struct dg_recipe *r, struct dg_buffer *out);
/* Every field as an object of dg_fields_describe with "resumable": whether it may change in a
 * resumed run. The caller frees it; NULL: no memory. */
struct dg_json *dg_recipe_describe(void);

/* The model with its vocabulary filled in. DG_EINVAL when a tied model is given two sizes. */
int dg_recipe_config(const struct dg_recipe *r, uint32_t source_vocab, uint32_t target_vocab,
    int32_t eos, int32_t unk, struct dg_config *out, struct dg_error *err);

/* The factor that data.domain_weights gives to the weights of this domain's files; 1 if the domain
 * is not named. */
double dg_recipe_domain_weight(const struct dg_recipe *r, const char *domain);

/* Index of the stage that an update (from 1) belongs to; n_stages after the last stage, or if there
 * are none. */
size_t dg_recipe_stage_of(const struct dg_recipe *r, int64_t update);

/* Append a line to out for each field whose values differ ("training.seed: 1, was 2") and return
 * their number. was: the json of another resolved recipe. Fields that may change on resume
 * (threads, updates, log, checkpoint and validation settings) are skipped when `resume`. */
size_t dg_recipe_difference(
    const struct dg_json *now, const struct dg_json *was, bool resume, struct dg_buffer *out);

/* data_dir/path, or path itself when it is absolute or data_dir is "". Caller frees; never NULL. */
char *dg_recipe_path(const struct dg_recipe *r, const char *path);

#endif
