#include "trainer/data/vocabulary.h"

#include "base/alloc.h"
#include "base/file.h"
#include "tokenizer/spm_trainer.h"
#include "trainer/data/characters.h"
#include "trainer/data/hash.h"
#include "trainer/data/prepared.h"
#include "trainer/data/reserved.h"
#include "weights/bundle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[4] = {"source.spm", "source.vocab", "target.spm", "target.vocab"};

static int find_bundle(const char *dir, struct dg_vocabulary_files *out, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_open(dir, &b, err);
    if (rc)
        return rc;
    const char *from[4] = {dg_bundle_source_spm(b), dg_bundle_source_vocab(b),
        dg_bundle_target_spm(b), dg_bundle_target_vocab(b)};
    if (!from[0][0] || !from[2][0])
        rc = dg_error_set(
            err, DG_EUNSUP, "the bundle %s has no SentencePiece model: it cannot encode text", dir);
    for (size_t i = 0; i < 4; i++)
        out->paths[i] = dg_alloc_string(from[i]);
    dg_bundle_close(b);
    return rc;
}

int dg_vocabulary_find(
    const struct dg_recipe *r, struct dg_vocabulary_files *out, struct dg_error *err)
{
    const bool keep = dg_recipe_keeps_vocabulary(r);
    const char *from = keep ? r->init : r->vocabulary.from;
    int rc = 0;
    memset(out, 0, sizeof *out);
    if (!from[0])
        return 0;
    char *path = dg_recipe_path(r, from), *manifest = dg_alloc_path(path, "manifest.json");
    if (keep || access(manifest, F_OK) == 0)
        rc = find_bundle(path, out, err);
    else if (dg_file_is_folder(path))
        for (size_t i = 0; i < 4; i++)
            out->paths[i] = dg_alloc_path(path, names[i]);
    else
        for (size_t i = 0; i < 4; i += 2)
            out->paths[i] = dg_alloc_string(path);
    free(path);
    free(manifest);
    return rc;
}

void dg_vocabulary_files_free(struct dg_vocabulary_files *f)
{
    for (size_t i = 0; i < 4; i++)
        free(f->paths[i]);
}

int dg_vocabulary_import(const struct dg_recipe *r, const char *dir, struct dg_error *err)
{
    struct dg_vocabulary_files f;
    int rc = dg_vocabulary_find(r, &f, err);
    for (size_t i = 0; i < 4 && rc == 0; i++) {
        char *to = dg_alloc_path(dir, names[i]);
        rc = f.paths[i] ? dg_file_copy(f.paths[i], to, err)
                        : dg_tokenizer_write_vocab(f.paths[i - 1], to, err);
        free(to);
    }
    dg_vocabulary_files_free(&f);
    return rc;
}

/* Writes the lines that SentencePiece learns from, chosen evenly when there are too many. */
static int write_sample(const struct dg_recipe *r, struct dg_pairs *pairs, int sides,
    const char *path, struct dg_error *err)
{
    struct dg_file_writer *w = NULL;
    struct dg_pair p;
    int got = 0, rc = dg_file_begin(path, &w, err);
    double lines = (double)dg_pairs_count(pairs) * (sides == 3 ? 2 : 1),
           wanted = (double)r->vocabulary.sample_lines;
    uint64_t limit = lines > wanted ? (uint64_t)(wanted / lines * 0x1p63) : UINT64_MAX;
    if (rc == 0)
        rc = dg_pairs_rewind(pairs, err);
    while (rc == 0 && (got = dg_pairs_next(pairs, &p, err)) > 0) {
        if (p.left_out || (limit != UINT64_MAX && dg_hash64(&p.item, sizeof p.item) >> 1 >= limit))
            continue;
        if (sides & 1)
            rc = dg_file_append(w, p.source, p.source_len, err);
        if (rc == 0 && sides & 1)
            rc = dg_file_append(w, "\n", 1, err);
        if (rc == 0 && sides & 2)
            rc = dg_file_append(w, p.target, p.target_len, err);
        if (rc == 0 && sides & 2)
            rc = dg_file_append(w, "\n", 1, err);
    }
    if (got < 0)
        rc = got;
    if (rc == 0)
        return dg_file_commit_take(w, err);
    if (w)
        dg_file_abort(w);
    return rc;
}

/* Room for every tag, DG_BACK_TRANSLATED_PIECE, the reserved pieces and NULL. */
enum { MAX_CONTROLS = UINT8_MAX + DG_MAX_RESERVED + 2 };

struct controls {
    /* NULL-ended */
    const char *list[MAX_CONTROLS];
    char reserved[DG_MAX_RESERVED][DG_RESERVED_NAME];
};

/* Lists the recipe's reserved pieces and, if `tags` (only a source vocabulary has them), the tags,
 * each once. They become control pieces: no text can spell them. */
static void list_controls(const struct dg_recipe *r, bool tags, struct controls *c)
{
    const char **out = c->list;
    size_t n = 0;
    for (size_t i = 0; tags && i < r->data.n_directions; i++) {
        const char *tag = r->data.directions[i].tag;
        size_t j = 0;
        while (j < n && strcmp(out[j], tag))
            j++;
        if (tag[0] && j == n)
            out[n++] = tag;
    }
    if (tags && r->data.back_translated)
        out[n++] = DG_BACK_TRANSLATED_PIECE;
    for (int64_t i = 0; i < r->vocabulary.reserved; i++) {
        dg_reserved_name(i, c->reserved[i]);
        out[n++] = c->reserved[i];
    }
    out[n] = NULL;
}

/* Reports why n pairs cannot give such a vocabulary, in terms of the recipe's fields. */
static int refused(const struct dg_recipe *r, const struct dg_spm_sizes *sizes, uint64_t n,
    const struct dg_error *why, struct dg_error *err)
{
    const long long size = (long long)r->vocabulary.size;
    if (sizes->most)
        return dg_error_field(err, DG_EINVAL, "vocabulary.size",
            "vocabulary.size is %lld, but the %llu pairs that cleaning has left give at most %u "
            "pieces",
            size, (unsigned long long)n, sizes->most);
    if (sizes->least)
        return dg_error_field(err, DG_EINVAL, "vocabulary.size",
            "vocabulary.size is %lld, but the characters of the %llu pairs that cleaning has left "
            "need %u pieces; fewer with a smaller vocabulary.character_coverage or without "
            "vocabulary.byte_fallback",
            size, (unsigned long long)n, sizes->least);
    return dg_error_set(err, why->code, "%s", why->message);
}

/* Trains one SentencePiece model and writes its vocabulary file: sides 1 source, 2 target, 3 both
 * in one. */
static int train_one(const struct dg_recipe *r, struct dg_pairs *pairs, int sides, int threads,
    const char *dir, struct dg_error *err)
{
    struct controls controls;
    struct dg_spm_sizes sizes = {0};
    struct dg_error why = {0};
    struct dg_buffer characters;
    const size_t side = sides == 2 ? 2 : 0;
    if (r->data.n_directions > UINT8_MAX)
        return dg_error_field(err, DG_EINVAL, "data.pairs", "more than %d directions", UINT8_MAX);
    char *sample = dg_alloc_path(dir, "vocabulary.txt"), *spm = dg_alloc_path(dir, names[side]),
         *vocab = dg_alloc_path(dir, names[side + 1]);
    int rc = write_sample(r, pairs, sides, sample, err);
    list_controls(r, sides & 1, &controls);
    dg_buffer_init(&characters);
    for (uint32_t i = 0; i < dg_characters_count(); i++)
        dg_characters_add(dg_characters_at(i), &characters);
    dg_buffer_add(&characters, "", 1);
    struct dg_spm_train_options o = {
        .inputs = (const char *const[]){sample},
        .n_inputs = 1,
        .vocab_size = (uint32_t)r->vocabulary.size,
        .character_coverage = r->vocabulary.character_coverage,
        .byte_fallback = r->vocabulary.byte_fallback,
        .controls = controls.list,
        .characters = r->vocabulary.characters == DG_CHARACTERS_WESTERN ? characters.data : NULL,
        .normalization = r->vocabulary.normalization,
        .mixed_scripts = sides & 2 && dg_recipe_has_trees(r),
        .at_most = sides == 2 && dg_recipe_has_trees(r),
        .threads = threads,
        .sizes = &sizes,
    };
    while (controls.list[o.n_controls])
        o.n_controls++;
    dg_alloc_check(!characters.failed, "characters");
    if (rc == 0 && (rc = dg_spm_train(&o, spm, &why)))
        rc = refused(r, &sizes, dg_pairs_kept_count(pairs), &why, err);
    dg_buffer_deinit(&characters);
    remove(sample);
    if (rc == 0)
        rc = dg_tokenizer_write_vocab(spm, vocab, err);
    free(sample);
    free(spm);
    free(vocab);
    return rc;
}

int dg_vocabulary_train(const struct dg_recipe *r, struct dg_pairs *pairs, int threads,
    const char *dir, struct dg_error *err)
{
    if (!r->vocabulary.joint) {
        int rc = train_one(r, pairs, 1, threads, dir, err);
        return rc ? rc : train_one(r, pairs, 2, threads, dir, err);
    }
    int rc = train_one(r, pairs, 3, threads, dir, err);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        char *from = dg_alloc_path(dir, names[i]), *to = dg_alloc_path(dir, names[i + 2]);
        rc = dg_file_copy(from, to, err);
        free(from);
        free(to);
    }
    return rc;
}

/* *shared: both sides have one list of pieces, if not one SentencePiece model. */
static int open_tokenizers(
    struct dg_vocabulary *v, const char *dir, bool *shared, struct dg_error *err)
{
    bool spm = false;
    int rc = dg_prepared_same(dir, "spm", &spm, err);
    if (rc == 0)
        rc = dg_prepared_same(dir, "vocab", shared, err);
    if (rc == 0)
        rc = dg_prepared_tokenizer(dir, "source", &v->source, err);
    if (rc == 0 && spm && *shared)
        v->target = v->source;
    else if (rc == 0)
        rc = dg_prepared_tokenizer(dir, "target", &v->target, err);
    return rc;
}

/* Checks that a vocabulary that was taken over is joint where the recipe needs that; the tables of
 * a bundle that keeps its own fit it, those of one that gets a new one may be tied. */
static int check_joint(
    const struct dg_recipe *r, const struct dg_vocabulary *v, bool shared, struct dg_error *err)
{
    for (size_t i = 0; i < r->data.n_pairs && v->source != v->target; i++)
        if (r->data.pairs[i].both_directions)
            return dg_error_field(err, DG_EINVAL, "data.pairs",
                "data.pairs[%zu].both_directions needs one vocabulary for both sides, but source "
                "and target have one each",
                i);
    const bool tied = r->init[0] ? r->vocabulary.joint : r->model.tied_embeddings;
    if (shared || dg_recipe_keeps_vocabulary(r) || !tied)
        return 0;
    return dg_error_field(err, DG_EINVAL, "model.tied_embeddings",
        "model.tied_embeddings needs one vocabulary for both sides, but source and target have one "
        "each: set it and vocabulary.joint to false");
}

static int find_reserved(const struct dg_recipe *r, struct dg_vocabulary *v, struct dg_error *err)
{
    const struct dg_tokenizer *sides[2] = {v->source, v->target};
    char name[DG_RESERVED_NAME];
    for (int64_t i = 0; i < r->vocabulary.reserved; i++)
        for (int side = 0; side < 2; side++) {
            dg_reserved_name(i, name);
            if (!dg_tokenizer_has_piece(sides[side], name))
                return dg_error_field(err, DG_EINVAL, "vocabulary.reserved",
                    "vocabulary.reserved is %lld, but the vocabulary has no piece %s",
                    (long long)r->vocabulary.reserved, name);
            v->reserved[side][i] = dg_tokenizer_id(sides[side], name);
        }
    return 0;
}

static int find_back_translated(
    const struct dg_recipe *r, struct dg_vocabulary *v, struct dg_error *err)
{
    v->back_translated = -1;
    if (!r->data.back_translated)
        return 0;
    if (!dg_tokenizer_has_piece(v->source, DG_BACK_TRANSLATED_PIECE))
        return dg_error_field(err, DG_EINVAL, "data.pairs",
            "data.pairs has files with back_translated, but the vocabulary has no piece %s: it must be "
            "trained with them",
            DG_BACK_TRANSLATED_PIECE);
    v->back_translated = dg_tokenizer_id(v->source, DG_BACK_TRANSLATED_PIECE);
    return 0;
}

int dg_vocabulary_open(
    const struct dg_recipe *r, const char *dir, struct dg_vocabulary **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_vocabulary *v = dg_alloc(1, sizeof *v, "a vocabulary");
    v->tags = dg_alloc(r->data.n_directions + 1, sizeof *v->tags, "tags");
    bool shared = false;
    int rc = open_tokenizers(v, dir, &shared, err);
    if (rc == 0)
        rc = check_joint(r, v, shared, err);
    if (rc == 0 &&
        (!dg_tokenizer_has_piece(v->source, "</s>") || !dg_tokenizer_has_piece(v->target, "</s>") ||
            dg_tokenizer_id(v->source, "</s>") != dg_tokenizer_id(v->target, "</s>")))
        rc = dg_error_set(err, DG_EINVAL, "both vocabularies need the piece </s> under one id");
    if (rc == 0)
        rc = find_reserved(r, v, err);
    if (rc == 0)
        rc = find_back_translated(r, v, err);
    for (size_t i = 0; i < r->data.n_directions && rc == 0; i++) {
        const char *tag = r->data.directions[i].tag;
        v->tags[i] = -1;
        if (tag[0] && !dg_tokenizer_has_piece(v->source, tag))
            rc = dg_error_field(
                err, DG_EINVAL, "data.target_tags", "the vocabulary has no piece %s", tag);
        else if (tag[0])
            v->tags[i] = dg_tokenizer_id(v->source, tag);
    }
    if (rc) {
        dg_vocabulary_close(v);
        return rc;
    }
    v->eos = dg_tokenizer_id(v->target, "</s>");
    v->unk = dg_tokenizer_unk(v->target);
    *out = v;
    return 0;
}

void dg_vocabulary_close(struct dg_vocabulary *v)
{
    if (!v)
        return;
    if (v->target != v->source)
        dg_tokenizer_close(v->target);
    dg_tokenizer_close(v->source);
    free(v->tags);
    free(v);
}
