/* A bundle: one directory with manifest.json, the weights file, vocabularies and SentencePiece
 * models (none: pieces only). Constant after open: any thread. */
#ifndef DG_WEIGHTS_BUNDLE_H
#define DG_WEIGHTS_BUNDLE_H

#include "base/error.h"
#include "base/json.h"
#include "weights/weights.h"

#include <stdbool.h>

struct dg_bundle;

/* Open DIR: read and check the manifest, map the weights. Names in the manifest may not point
 * outside the directory. */
int dg_bundle_open(const char *dir, struct dg_bundle **out, struct dg_error *err);
/* Likewise, for serving: load the weights and check every byte of them (dg_weights_load). */
int dg_bundle_load(const char *dir, struct dg_bundle **out, struct dg_error *err);
/* Load the weights of a loaded bundle again, for another device. DG_EFORMAT: the file has
 * changed. */
int dg_bundle_load_again(const struct dg_bundle *b, struct dg_weights **out, struct dg_error *err);
/* Close the weights but keep the manifest and the values of the weights' header: dg_bundle_weights
 * returns NULL from now on, and the other functions below still work. For a bundle that is listed
 * but not in use. */
void dg_bundle_forget_weights(struct dg_bundle *b);
/* *same: both have the same manifest and the same weights, judged by the header's checksum.
 * DG_ENOMEM. */
int dg_bundle_same(
    const struct dg_bundle *a, const struct dg_bundle *b, bool *same, struct dg_error *err);
void dg_bundle_close(struct dg_bundle *b); /* NULL is fine */

const struct dg_json *dg_bundle_manifest(const struct dg_bundle *b);
const struct dg_weights *dg_bundle_weights(const struct dg_bundle *b);
/* Size of the weights file, and its dg_weights_main_type. */
size_t dg_bundle_weights_bytes(const struct dg_bundle *b);
const char *dg_bundle_type(const struct dg_bundle *b);
const char *dg_bundle_dir(const struct dg_bundle *b);
const char *dg_bundle_name(const struct dg_bundle *b);
const char *dg_bundle_version(const struct dg_bundle *b); /* 64 hex digits */
/* The licence as the bundle's source states it; NULL: not stated. */
const char *dg_bundle_licence(const struct dg_bundle *b);
/* True if the licence's name forbids commercial use ("CC-BY-NC-4.0"). */
bool dg_bundle_is_non_commercial(const struct dg_bundle *b);
bool dg_licence_is_non_commercial(const char *licence);
/* Number of language pairs that the model translates, e.g. ("en","de"). */
size_t dg_bundle_pairs(const struct dg_bundle *b);
/* The i-th pair. Equal codes of a bundle are the same pointer. */
void dg_bundle_pair(const struct dg_bundle *b, size_t i, const char **source, const char **target);
enum { DG_LANGUAGE_SOURCE = 1, DG_LANGUAGE_TARGET = 2 };
struct dg_bundle_language {
    const char *code;
    /* DG_LANGUAGE_* or'ed */
    unsigned sides;
};
/* Each language of the pairs once: [*n], borrowed until close. */
const struct dg_bundle_language *dg_bundle_languages(const struct dg_bundle *b, size_t *n);
/* The piece in front of the source that asks for a target language; NULL when the model needs
 * none. */
const char *dg_bundle_tag(const struct dg_bundle *b, const char *target);
/* The piece in front of a source in that language, and the piece that the decoder starts with for
 * that target language, which is not part of the answer. NULL: none. */
const char *dg_bundle_source_tag(const struct dg_bundle *b, const char *source);
const char *dg_bundle_target_tag(const struct dg_bundle *b, const char *target);
/* True if a sentence in capitals is encoded as ordinary words and its answer put in capitals. */
bool dg_bundle_capitals_as_words(const struct dg_bundle *b);
/* True if its target side is trees, in the sequence form of text/tree/tree.h, and not text. */
bool dg_bundle_answers_trees(const struct dg_bundle *b);
/* Characters that are in the vocabularies but were rare in training; "": none. */
const char *dg_bundle_rare(const struct dg_bundle *b);
/* Pieces that represent protected spans, "⟨1⟩" first: their number, and the i-th. No text can spell
 * them. */
size_t dg_bundle_reserved_count(const struct dg_bundle *b);
const char *dg_bundle_reserved(const struct dg_bundle *b, size_t i);
/* Paths of the SentencePiece models ("" when the bundle has none) and of the vocabularies (one
 * piece a line; every bundle has them). */
const char *dg_bundle_source_spm(const struct dg_bundle *b);
const char *dg_bundle_target_spm(const struct dg_bundle *b);
const char *dg_bundle_source_vocab(const struct dg_bundle *b);
const char *dg_bundle_target_vocab(const struct dg_bundle *b);
/* Path of the vocabulary shortlist (weights/shortlist.h); "" when the bundle has none or does not
 * use it (dg_list_use). */
const char *dg_bundle_shortlist(const struct dg_bundle *b);
bool dg_bundle_has_shortlist(const struct dg_bundle *b);
/* Whether the shortlist is used: $DRAGOMAN_SHORTLIST decides ("on", "off"); without it, or with
 * "auto", the manifest does (`shortlist.use`, default true, for the pairs in `shortlist.use_for`,
 * default all). */
enum dg_list_use { DG_LISTS_AUTO, DG_LISTS_ON, DG_LISTS_OFF };
/* Override that choice. Call before the bundle is shared. DG_LISTS_AUTO changes nothing. */
void dg_bundle_use_lists(struct dg_bundle *b, enum dg_list_use use);
/* True if the shortlist is used for sentences of the i-th pair. */
bool dg_bundle_pair_uses_list(const struct dg_bundle *b, size_t i);

/* Check a bundle's name, a text (description, licence) or a language code for a manifest. `field`:
 * the caller's name of it, for messages. DG_EINVAL: dg_bundle_seal would refuse the manifest. */
int dg_bundle_check_name(const char *field, const char *name, struct dg_error *err);
int dg_bundle_check_text(const char *field, const char *text, struct dg_error *err);
int dg_bundle_check_language(const char *field, const char *code, struct dg_error *err);

/* Create DIR if it is missing and remove an old manifest: a partly replaced bundle must not look
 * complete. */
int dg_bundle_begin(const char *dir, struct dg_error *err);
/* The same, and write the weights file NAME. An old bundle in DIR stays whole until all bytes of
 * the weights are written; on failure before that, it stays. */
int dg_bundle_begin_with(
    const char *dir, const char *name, struct dg_weights_writer *w, struct dg_error *err);

/* Check the tensors' checksums and recompute the version over weights, SentencePiece models,
 * vocabularies and manifest (without its "version" field). Reads every byte. */
int dg_bundle_verify(const struct dg_bundle *b, struct dg_error *err);
/* Check only the version. Loaded weights are hashed in memory if all their bytes are still there,
 * since the file may have changed by now. To open a model at the same time, call dg_weights_follow
 * first; this call is then the follower. */
int dg_bundle_verify_version(const struct dg_bundle *b, struct dg_error *err);

/* Seal DIR, which already has the files that the manifest's "files" names: check the manifest,
 * compute the version, set it in `manifest` and write manifest.json last. */
int dg_bundle_seal(const char *dir, struct dg_json *manifest, struct dg_error *err);
/* Add a file of the bundle's directory as files.<kind>, drop the manifest's old <kind> object, and
 * seal the bundle again. b does not change. */
int dg_bundle_add_file(
    const struct dg_bundle *b, const char *kind, const char *file, struct dg_error *err);

#endif
