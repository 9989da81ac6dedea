/* A bundle: one directory with manifest.json, the weights file and SentencePiece models (none:
 * pieces only). Const after open: any thread. */
#ifndef DG_WEIGHTS_BUNDLE_H
#define DG_WEIGHTS_BUNDLE_H

#include "base/error.h"
#include "base/json.h"
#include "weights/weights.h"

#include <stdbool.h>

struct dg_bundle;

/* Open DIR: manifest read and checked, weights mapped. Names in the manifest may not leave the
 * directory. */
int dg_bundle_open(const char *dir, struct dg_bundle **out, struct dg_error *err);
/* The same for serving: the weights are loaded and every byte of them checked
 * (dg_weights_load). */
int dg_bundle_load(const char *dir, struct dg_bundle **out, struct dg_error *err);
/* The weights of a loaded bundle once more, for another device; DG_EFORMAT: the file is not the
 * same any more. */
int dg_bundle_load_again(const struct dg_bundle *b, struct dg_weights **out, struct dg_error *err);
/* Close the weights but keep the values of the manifest and their header: dg_bundle_weights is NULL
 * from now on, and the functions below still answer. For a bundle that is known, not used. */
void dg_bundle_forget_weights(struct dg_bundle *b);
/* *same: are these the same manifest and the same weights, as far as headers and their checksums
 * tell? DG_ENOMEM. */
int dg_bundle_same(
    const struct dg_bundle *a, const struct dg_bundle *b, bool *same, struct dg_error *err);
void dg_bundle_close(struct dg_bundle *b); /* NULL is fine */

const struct dg_json *dg_bundle_manifest(const struct dg_bundle *b);
const struct dg_weights *dg_bundle_weights(const struct dg_bundle *b);
/* Of the weights file; dg_weights_main_type. */
size_t dg_bundle_weights_bytes(const struct dg_bundle *b);
const char *dg_bundle_type(const struct dg_bundle *b);
const char *dg_bundle_dir(const struct dg_bundle *b);
const char *dg_bundle_name(const struct dg_bundle *b);
const char *dg_bundle_version(const struct dg_bundle *b); /* 64 hex digits */
/* As its source states it; NULL: not stated. */
const char *dg_bundle_licence(const struct dg_bundle *b);
/* Does the licence's name forbid commercial use ("CC-BY-NC-4.0")? */
bool dg_bundle_is_non_commercial(const struct dg_bundle *b);
bool dg_licence_is_non_commercial(const char *licence);
/* Languages the model translates from and to: pairs, e.g. ("en","de"). */
size_t dg_bundle_pairs(const struct dg_bundle *b);
/* Equal codes of a bundle are one pointer. */
void dg_bundle_pair(const struct dg_bundle *b, size_t i, const char **source, const char **target);
enum { DG_LANGUAGE_SOURCE = 1, DG_LANGUAGE_TARGET = 2 };
struct dg_bundle_language {
    const char *code;
    /* DG_LANGUAGE_* or'ed */
    unsigned sides;
};
/* Each language of the pairs once: [*n], borrowed until close. */
const struct dg_bundle_language *dg_bundle_languages(const struct dg_bundle *b, size_t *n);
/* The piece put in front of the source to ask for a target language; NULL when the model needs
 * none. */
const char *dg_bundle_tag(const struct dg_bundle *b, const char *target);
/* The piece put in front of a source in that language; the piece that the decoder is started with
 * for that target language, which is no part of the answer. NULL: none. */
const char *dg_bundle_source_tag(const struct dg_bundle *b, const char *source);
const char *dg_bundle_target_tag(const struct dg_bundle *b, const char *target);
/* Is a sentence in capitals to be read as ordinary words, and its answer to be put in capitals? */
bool dg_bundle_capitals_as_words(const struct dg_bundle *b);
/* Is its target side trees as text/tree/tree.h writes sequences, not text? */
bool dg_bundle_answers_trees(const struct dg_bundle *b);
/* Characters that the vocabularies have and training hardly saw; "": none. */
const char *dg_bundle_rare(const struct dg_bundle *b);
/* Pieces that represent spans which must survive, "⟨1⟩" first: how many, and the i-th. No text can
 * spell them. */
size_t dg_bundle_reserved_count(const struct dg_bundle *b);
const char *dg_bundle_reserved(const struct dg_bundle *b, size_t i);
/* Paths of the SentencePiece models ("" when the bundle has none) and vocabularies (one piece a
 * line; always there). */
const char *dg_bundle_source_spm(const struct dg_bundle *b);
const char *dg_bundle_target_spm(const struct dg_bundle *b);
const char *dg_bundle_source_vocab(const struct dg_bundle *b);
const char *dg_bundle_target_vocab(const struct dg_bundle *b);
/* Path of the vocabulary shortlist (weights/shortlist.h), "" when the bundle has none or it is not
 * to be used: see dg_bundle_use_lists. */
const char *dg_bundle_shortlist(const struct dg_bundle *b);
bool dg_bundle_has_shortlist(const struct dg_bundle *b);
/* Whether it is used: as $DRAGOMAN_SHORTLIST says ("on", "off"); without it, or with "auto", as the
 * manifest says (`shortlist.use`, default true, for the pairs in `shortlist.use_for`, default all).
 */
enum dg_list_use { DG_LISTS_AUTO, DG_LISTS_ON, DG_LISTS_OFF };
/* Another choice than that, before the bundle is shared. DG_LISTS_AUTO changes nothing. */
void dg_bundle_use_lists(struct dg_bundle *b, enum dg_list_use use);
/* Whether the i-th pair's sentences choose from it. */
bool dg_bundle_pair_uses_list(const struct dg_bundle *b, size_t i);

/* Make DIR if it is missing. Removes an old manifest: a partly replaced bundle must not look
 * complete. */
int dg_bundle_begin(const char *dir, struct dg_error *err);

/* Check the tensors' checksums and recompute the version over weights, SentencePiece models,
 * vocabularies and manifest (without its "version" field). Reads every byte. */
int dg_bundle_verify(const struct dg_bundle *b, struct dg_error *err);
/* Only the version. Of loaded weights the bytes in memory count, and not those of a file that may
 * be another by now, as long as they are there: where a model is opened meanwhile, after
 * dg_weights_follow, whose follower this is then. */
int dg_bundle_verify_version(const struct dg_bundle *b, struct dg_error *err);

/* Seal DIR after weights and vocabularies are in it: check the manifest, compute the version, set
 * it in `manifest` and write manifest.json last. The manifest's "files" object names them. */
int dg_bundle_seal(const char *dir, struct dg_json *manifest, struct dg_error *err);
/* Add a file of the bundle's directory as files.<kind> and seal it again. b does not change. */
int dg_bundle_add_file(
    const struct dg_bundle *b, const char *kind, const char *file, struct dg_error *err);

#endif
