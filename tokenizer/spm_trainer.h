/* Trains a SentencePiece BPE model; the vocabulary file is written from it by
 * dg_tokenizer_write_vocab. For the trainer's preparation, never linked into the server. One
 * training at a time per process (SentencePiece's log level is global). The same input and options
 * give the same pieces, whatever the number of threads. No C++ exception leaves it. */
#ifndef DG_TOKENIZER_SPM_TRAINER_H
#define DG_TOKENIZER_SPM_TRAINER_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A normalisation rule of our own: all kinds of white space become a blank, invisible characters
 * are removed, full-width forms and ligatures become plain letters, as under "nmt_nfkc"; everything
 * else stays as it is: m², ½, … and ™ keep their meaning. For text that is already NFC. */
#define DG_SPM_NMT_NFC "nmt_nfc"

/* How many pieces a text can give; 0: unknown. */
struct dg_spm_sizes {
    uint32_t least, most;
};

struct dg_spm_train_options {
    /* [n_inputs] text files, UTF-8, one sentence a line; all into one vocabulary */
    const char *const *inputs;
    size_t n_inputs;
    /* number of pieces, special ones included; 0 = 32000 */
    uint32_t vocab_size;
    /* share of the input's characters that get a piece, 0.98 to 1; 0 = 1 */
    double character_coverage;
    /* other characters become byte pieces (256 of them) instead of unknown */
    bool byte_fallback;
    /* [n_controls] pieces used only by id, such as "<2de>"; ids from 2 on */
    const char *const *controls;
    size_t n_controls;
    /* UTF-8: each of these characters gets a piece, even if the text does not contain it; NULL:
     * none. No control characters, no white space. */
    const char *characters;
    /* "nmt_nfkc" (NULL), "nfkc", "identity", ..., or DG_SPM_NMT_NFC */
    const char *normalization;
    /* pieces may mix characters of several scripts, or letters and signs, such as "(NP" */
    bool mixed_scripts;
    /* allow fewer pieces than vocab_size if the text gives no more */
    bool at_most;
    /* use this many lines, spread evenly over all files together; 0 = all */
    uint64_t sentence_limit;
    /* longer lines are left out; 0 = 4192 */
    uint32_t max_sentence_bytes;
    /* 0 = 1 */
    int threads;
    /* set to the possible sizes when vocab_size does not fit the text; may be NULL */
    struct dg_spm_sizes *sizes;
};

/* Write the model to `path` (completely or not at all): </s> is 0, <unk> is 1, no <s>, no <pad>.
 * DG_EINVAL: an option out of range; DG_EIO: an input that cannot be read; DG_EFORMAT: text that
 * cannot give such a vocabulary, with SentencePiece's reason. */
int dg_spm_train(const struct dg_spm_train_options *o, const char *path, struct dg_error *err);

#ifdef __cplusplus
}
#endif

#endif
