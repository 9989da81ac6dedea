#include "trainer/recipe/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "weights/bundle.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_COVERAGE 0.98 /* of tokenizer/spm_trainer.h */

static int check_name(const struct dg_recipe *r, struct dg_error *err)
{
    const char *s = r->name;
    if (!s[0] || s[0] == '.' || strlen(s) > 100)
        return dg_error_field(err, DG_EINVAL, "name",
            "name is \"%s\", must be 1 to 100 characters, not starting with a dot", s);
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("-_.", *s))
            return dg_error_field(err, DG_EINVAL, "name",
                "name is \"%s\", must be of letters, digits, - _ .", r->name);
    return 0;
}

/* Refuses texts that the bundle's manifest would refuse; an empty text is not written. */
static int check_output(const struct dg_recipe *r, struct dg_error *err)
{
    int rc = 0;
    if (r->output.description[0])
        rc = dg_bundle_check_text("output.description", r->output.description, err);
    if (!rc && r->output.licence[0])
        rc = dg_bundle_check_text("output.licence", r->output.licence, err);
    return rc;
}

static bool has_tags(const struct dg_recipe *r)
{
    for (size_t i = 0; i < r->data.n_directions; i++)
        if (r->data.directions[i].tag[0])
            return true;
    return false;
}

/* d_k and d_v of 0 become d_model / heads. */
static int check_model(struct dg_recipe *r, struct dg_error *err)
{
    struct dg_config *c = &r->model;
    if ((c->Dk == 0 || c->Dv == 0) && c->D % c->H)
        return dg_error_field(err, DG_EINVAL, "model.heads",
            "model.d_model %u is not a multiple of model.heads %u: give model.d_k and model.d_v",
            c->D, c->H);
    c->Dk = c->Dk ? c->Dk : c->D / c->H;
    c->Dv = c->Dv ? c->Dv : c->D / c->H;
    c->embed_scale = sqrtf((float)c->D);
    if (c->positions != DG_POS_LEARNED && c->D % 2)
        return dg_error_field(err, DG_EINVAL, "model.d_model",
            "model.d_model is %u, must be even for sinusoids", c->D);
    const int64_t longest = r->cleaning.max_tokens + has_tags(r);
    if (c->positions == DG_POS_LEARNED && c->max_positions < (uint64_t)longest)
        return dg_error_field(err, DG_EINVAL, "model.max_positions",
            "model.max_positions is %u, must be at least %lld with learned positions: "
            "cleaning.max_tokens and a target tag, where there are any",
            c->max_positions, (long long)longest);
    if (c->positions != DG_POS_LEARNED && c->max_positions)
        return dg_error_field(err, DG_EINVAL, "model.max_positions",
            "model.max_positions is %u, must be 0 unless positions are learned", c->max_positions);
    if (!c->source_eos)
        return dg_error_field(err, DG_EINVAL, "model.source_eos",
            "model.source_eos is false, must be true: training data ends every source in </s>");
    if (c->tied_embeddings && !r->vocabulary.joint)
        return dg_error_field(err, DG_EINVAL, "model.tied_embeddings",
            "model.tied_embeddings needs vocabulary.joint");
    c->beam = (uint32_t)r->validation.beam;
    c->alpha = (float)r->validation.alpha;
    c->extra_length = (uint32_t)r->validation.extra_length;
    c->low_confidence = DG_LOW_CONFIDENCE;
    c->never = -1; /* a trained model learns what not to say */
    return 0;
}

/* True if there is data to train on, but none to validate with. */
static bool lacks_dev(const struct dg_recipe *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->data.n_pairs; i++)
        n += r->data.pairs[i].n_dev;
    return r->data.n_pairs && !n;
}

/* True if the normalisation keeps all characters; rewritten ones never reach SentencePiece. */
static bool keeps_characters(const char *normalization)
{
    return !strcmp(normalization, "nmt_nfc") || !strcmp(normalization, "identity");
}

static int check_vocabulary(const struct dg_recipe *r, struct dg_error *err)
{
    if (r->variants.mask > 0 && !r->vocabulary.reserved)
        return dg_error_field(err, DG_EINVAL, "variants.mask",
            "variants.mask is %g, must be 0 without vocabulary.reserved: there is no piece to mask "
            "with",
            r->variants.mask);
    if (r->vocabulary.reserved && !r->vocabulary.byte_fallback)
        return dg_error_field(err, DG_EINVAL, "vocabulary.reserved",
            "vocabulary.reserved is %lld, must be 0 without vocabulary.byte_fallback",
            (long long)r->vocabulary.reserved);
    if (!r->vocabulary.from[0] && !dg_recipe_keeps_vocabulary(r) &&
        r->vocabulary.character_coverage < LEAST_COVERAGE)
        return dg_error_field(err, DG_EINVAL, "vocabulary.character_coverage",
            "vocabulary.character_coverage is %g, must be at least %g to train a vocabulary",
            r->vocabulary.character_coverage, LEAST_COVERAGE);
    if (r->vocabulary.characters == DG_CHARACTERS_WESTERN &&
        !keeps_characters(r->vocabulary.normalization))
        return dg_error_field(err, DG_EINVAL, "vocabulary.normalization",
            "vocabulary.normalization is %s, must be nmt_nfc or identity with "
            "vocabulary.characters western",
            r->vocabulary.normalization);
    return 0;
}

static int check_training(const struct dg_recipe *r, struct dg_error *err)
{
    const struct dg_recipe_training *t = &r->training;
    if (t->average_last > t->keep_last)
        return dg_error_field(err, DG_EINVAL, "training.average_last",
            "training.average_last is %lld, must be at most training.keep_last (%lld)",
            (long long)t->average_last, (long long)t->keep_last);
    if (t->average_best > t->keep_best)
        return dg_error_field(err, DG_EINVAL, "training.average_best",
            "training.average_best is %lld, must be at most training.keep_best (%lld)",
            (long long)t->average_best, (long long)t->keep_best);
    if (t->cooldown > t->updates)
        return dg_error_field(err, DG_EINVAL, "training.cooldown",
            "training.cooldown is %lld, must be at most training.updates (%lld)",
            (long long)t->cooldown, (long long)t->updates);
    if (t->batch_tokens < r->cleaning.max_tokens)
        return dg_error_field(err, DG_EINVAL, "training.batch_tokens",
            "training.batch_tokens is %lld, must hold a sentence of cleaning.max_tokens (%lld)",
            (long long)t->batch_tokens, (long long)r->cleaning.max_tokens);
    if (r->cleaning.min_chars > r->cleaning.max_chars)
        return dg_error_field(err, DG_EINVAL, "cleaning.min_chars",
            "cleaning.min_chars is %lld, must be at most cleaning.max_chars (%lld)",
            (long long)r->cleaning.min_chars, (long long)r->cleaning.max_chars);
    if (t->patience && lacks_dev(r))
        return dg_error_field(err, DG_EINVAL, "training.patience",
            "training.patience is %lld, must be 0 without a dev set (data.pairs[].dev)",
            (long long)t->patience);
    if (t->average_best && lacks_dev(r))
        return dg_error_field(err, DG_EINVAL, "training.average_best",
            "training.average_best is %lld, must be 0 without a dev set (data.pairs[].dev): "
            "checkpoints have no scores",
            (long long)t->average_best);
    return 0;
}

/* A model that starts from another has that one's layers and heads: they are checked when it is
 * loaded (trainer/align/guided.h). */
static int check_guided(const struct dg_recipe *r, struct dg_error *err)
{
    const struct dg_recipe_guided *g = &r->guided;
    if (!dg_recipe_guides(r))
        return 0;
    if (!r->init[0] && g->layer > r->model.dec_layers)
        return dg_error_field(err, DG_EINVAL, "guided_alignment.layer",
            "guided_alignment.layer is %u, must be at most model.decoder_layers (%u)", g->layer,
            r->model.dec_layers);
    if (!r->init[0] && g->head > r->model.H)
        return dg_error_field(err, DG_EINVAL, "guided_alignment.head",
            "guided_alignment.head is %u, must be at most model.heads (%u)", g->head, r->model.H);
    if (r->training.bpe_dropout > 0)
        return dg_error_field(err, DG_EINVAL, "training.bpe_dropout",
            "training.bpe_dropout draws other pieces than those that are aligned: with "
            "guided_alignment.weight it must be 0");
    if (r->noise.letter_case > 0 || r->noise.typos > 0 || r->noise.merges > 0)
        return dg_error_field(err, DG_EINVAL, "noise",
            "noise makes other pieces of a source than those that are aligned: with "
            "guided_alignment.weight noise.case, noise.typos and noise.merges must be 0");
    return 0;
}

/* Reads the resolved tree into the struct and writes it back as one canonical tree. */
static int fill(struct dg_recipe *r, const struct dg_json *root, struct dg_error *err)
{
    int rc = dg_recipe_fields_read(root, r, err);
    rc = rc ? rc : dg_recipe_data_read(dg_json_get(root, "data"), r, err);
    rc = rc ? rc : dg_recipe_stages_read(dg_json_get(root, "training"), r, err);
    rc = rc ? rc : check_name(r, err);
    rc = rc ? rc : check_model(r, err);
    rc = rc ? rc : check_vocabulary(r, err);
    rc = rc ? rc : check_training(r, err);
    rc = rc ? rc : check_guided(r, err);
    rc = rc ? rc : check_output(r, err);
    if (rc)
        return rc;
    r->json = dg_json_new_object();
    if (dg_recipe_fields_write(r, r->json) ||
        dg_json_set_take(r->json, "data", dg_recipe_data_write(r)) ||
        dg_json_set_take(dg_json_get(r->json, "training"), "stages", dg_recipe_stages_write(r)))
        return dg_error_set(err, DG_ENOMEM, "out of memory for the recipe");
    return 0;
}

static int resolve(const struct dg_json *recipe, const char *dir, const char *data_dir,
    const char *const *settings, size_t n_settings, struct dg_recipe **out, struct dg_error *err)
{
    struct dg_json *root = dg_recipe_defaults();
    struct dg_recipe *r = dg_alloc(1, sizeof *r, "a recipe");
    dg_alloc_check(root, "a recipe");
    dg_arena_init(&r->arena, 0);
    r->data_dir = dg_alloc_arena_string(&r->arena, data_dir ? data_dir : "");
    int rc = dg_recipe_merge(root, recipe, dir, err);
    for (size_t i = 0; i < n_settings && rc == 0; i++)
        rc = dg_recipe_merge_setting(root, settings[i], err);
    if (rc == 0)
        rc = fill(r, root, err);
    dg_json_free(root);
    if (rc) {
        dg_recipe_free(r);
        r = NULL;
    }
    *out = r;
    return rc;
}

int dg_recipe_load(const char *path, const char *data_dir, const char *const *settings,
    size_t n_settings, struct dg_recipe **out, struct dg_error *err)
{
    struct dg_error why = {0};
    *out = NULL;
    struct dg_json *v = dg_recipe_preset_json(path);
    char *at = dg_recipe_moved(path), *folder = dg_recipe_folder(at);
    if (!v)
        v = dg_json_load(at, &why);
    int rc = v ? resolve(v, folder, data_dir, settings, n_settings, out, &why) : why.code;
    const bool names_preset = !v && rc == DG_ENOTFOUND && !at[strcspn(at, "./")];
    if (rc)
        dg_error_field(err, rc, why.field, "%s%s%s%s%s", v ? at : "", v ? ": " : "", why.message,
            names_preset ? "; presets are " : "", names_preset ? dg_recipe_preset_names() : "");
    dg_json_free(v);
    free(at);
    free(folder);
    return rc;
}

int dg_recipe_parse(const char *text, size_t n, const char *base_dir, const char *data_dir,
    struct dg_recipe **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_json *v = dg_json_parse(text, n, err);
    int rc = v ? resolve(v, base_dir ? base_dir : "", data_dir, NULL, 0, out, err) : DG_EINVAL;
    dg_json_free(v);
    return rc;
}

int dg_recipe_of_json(const struct dg_json *recipe, const char *data_dir,
    const char *const *settings, size_t n_settings, struct dg_recipe **out, struct dg_error *err)
{
    return resolve(recipe, "", data_dir, settings, n_settings, out, err);
}

void dg_recipe_free(struct dg_recipe *r)
{
    if (!r)
        return;
    dg_json_free(r->json);
    dg_arena_deinit(&r->arena);
    free(r);
}
