#include "text/protected/alphabet.h"
#include "text/language_code.h"
#include "text/utf8.h"
#include "tokenizer/word_mark.h"
#include "translate/translator/translator.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Collect the characters of both vocabularies' pieces, without those that training hardly saw. */
static int read_alphabet(struct dg_translator *t, struct dg_error *err)
{
    t->alphabet = dg_alphabet_open();
    bool there = t->alphabet != NULL;
    for (int side = 0; side < 2; side++) {
        const struct dg_tokenizer *of = side == DG_ALPHABET_READ ? t->source : t->target;
        for (uint32_t id = 0; there && id < dg_tokenizer_size(of); id++) {
            const char *piece = dg_tokenizer_piece(of, (int32_t)id);
            const bool first = dg_word_mark(piece) > 0;
            piece += dg_word_mark(piece);
            const size_t n = strlen(piece);
            there = dg_alphabet_add(t->alphabet, side, piece, n);
            if (there && first && side == DG_ALPHABET_READ && dg_utf8_count(piece, n) == 1)
                there = dg_alphabet_add(t->alphabet, DG_ALPHABET_FIRST, piece, n);
        }
    }
    if (!there)
        return dg_error_set(err, DG_ENOMEM, "no memory for the vocabularies' characters");
    const char *rare = dg_bundle_rare(t->bundle);
    dg_alphabet_remove(t->alphabet, rare, strlen(rare));
    return 0;
}

static int check_vocab(
    const struct dg_tokenizer *t, uint32_t expected, const char *side, struct dg_error *err)
{
    if (dg_tokenizer_size(t) == expected)
        return 0;
    return dg_error_set(err, DG_EFORMAT, "the %s vocabulary has %u tokens, the model expects %u",
        side, dg_tokenizer_size(t), expected);
}

/* Check that the vocabularies have all tags: an unknown tag would be read as an unknown word, and
 * the answer might be in any language. */
static int check_tags(const struct dg_translator *t, struct dg_error *err)
{
    static const char *const fields[] = {"tags", "source_tags", "target_tags"};
    for (int i = 0; i < 3; i++) {
        const struct dg_json *tags = dg_json_get(dg_bundle_manifest(t->bundle), fields[i]);
        const struct dg_tokenizer *vocabulary = i == 2 ? t->target : t->source;
        for (const char *k = dg_json_next_key(tags, NULL); k; k = dg_json_next_key(tags, k)) {
            const char *token = dg_json_string(dg_json_get(tags, k), NULL);
            if (!dg_tokenizer_has_piece(vocabulary, token))
                return dg_error_field(err, DG_EFORMAT, fields[i],
                    "tag \"%s\" for \"%s\" is no token of the %s vocabulary", token, k,
                    i == 2 ? "target" : "source");
        }
    }
    return 0;
}

/* Open the tokenizers: a single one if both sides have the same files. */
static int open_tokenizers(struct dg_translator *t, struct dg_error *err)
{
    const struct dg_bundle *b = t->bundle;
    const char *spm = dg_bundle_source_spm(b), *list = dg_bundle_source_vocab(b);
    int rc = dg_tokenizer_open(spm, list, &t->source, err);
    if (rc)
        return rc;
    if (strcmp(spm, dg_bundle_target_spm(b)) == 0 && strcmp(list, dg_bundle_target_vocab(b)) == 0)
        t->target = t->source;
    else
        rc = dg_tokenizer_open(dg_bundle_target_spm(b), dg_bundle_target_vocab(b), &t->target, err);
    return rc;
}

/* Restrict searches to byte pieces that form whole characters. */
static int read_bytes(struct dg_translator *t, struct dg_error *err)
{
    int32_t id[256];
    dg_tokenizer_bytes(t->target, id);
    int rc = dg_byte_pieces_open(id, dg_tokenizer_size(t->target), &t->bytes, err);
    if (!rc)
        dg_model_use_byte_pieces(t->model, t->bytes);
    return rc;
}

/* Open the bundle's shortlist, if it has one; the output matrix then stays as it is stored. */
static int open_shortlist(
    struct dg_translator *t, const struct dg_config *config, struct dg_error *err)
{
    const char *path = dg_bundle_shortlist(t->bundle);
    if (!path[0])
        return 0;
    dg_model_keep_output(config, dg_bundle_weights(t->bundle));
    return dg_shortlist_open(path, config->source_vocab, config->target_vocab, &t->shortlist, err);
}

int dg_translator_open(const char *bundle_dir, struct dg_backend *be, uint32_t max_positions,
    struct dg_translator **out, struct dg_error *err)
{
    return dg_translator_open_lists(bundle_dir, DG_LISTS_AUTO, be, max_positions, out, err);
}

int dg_translator_open_lists(const char *bundle_dir, enum dg_list_use lists, struct dg_backend *be,
    uint32_t max_positions, struct dg_translator **out, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_load(bundle_dir, &b, err);
    if (rc) {
        dg_error_prefix(err, "%s", bundle_dir);
        return rc;
    }
    dg_bundle_use_lists(b, lists);
    rc = dg_translator_open_take(b, be, max_positions, out, err);
    if (rc)
        dg_bundle_close(b);
    return rc;
}

int dg_translator_open_take(struct dg_bundle *b, struct dg_backend *be, uint32_t max_positions,
    struct dg_translator **out, struct dg_error *err)
{
    struct dg_config config;
    int rc = 0;
    struct dg_translator *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for a translator");
    t->bundle = b;
    if ((rc = dg_config_read(dg_bundle_manifest(b), &config, err)) ||
        (rc = open_tokenizers(t, err)) ||
        (rc = check_vocab(t->source, config.source_vocab, "source", err)) ||
        (rc = check_vocab(t->target, config.target_vocab, "target", err)) ||
        (rc = check_tags(t, err)) || (rc = dg_word_pieces_open(t->target, &t->words, err)) ||
        (rc = open_shortlist(t, &config, err)) ||
        (rc = dg_model_open(&config, dg_bundle_weights(b), be, max_positions ? max_positions : 1024,
             &t->model, err)))
        goto out;
    if (t->shortlist)
        dg_model_use_shortlist(t->model, dg_bundle_weights(b), t->shortlist);
    if ((rc = dg_pair_search_read(b, dg_bundle_manifest(b), &t->pair_search, err)) ||
        (rc = read_alphabet(t, err)) || (rc = read_bytes(t, err)) ||
        (rc = dg_stand_ins_open(
             b, (const struct dg_tokenizer *const[2]){t->source, t->target}, &t->stand_ins, err)))
        goto out;
    *out = t;
    return 0;
out:
    dg_error_prefix(err, "%s", dg_bundle_dir(b));
    t->bundle = NULL; /* still owned by the caller */
    dg_translator_close(t);
    return rc;
}

void dg_translator_close(struct dg_translator *t)
{
    if (!t)
        return;
    dg_stand_ins_close(&t->stand_ins);
    dg_alphabet_close(t->alphabet);
    free(t->pair_search);
    dg_byte_pieces_close(t->bytes);
    dg_model_close(t->model);
    if (t->target != t->source)
        dg_tokenizer_close(t->target);
    dg_tokenizer_close(t->source);
    dg_word_pieces_close(&t->words);
    dg_shortlist_close(t->shortlist);
    dg_bundle_close(t->bundle);
    free(t);
}

const struct dg_model *dg_translator_model(const struct dg_translator *t)
{
    return t->model;
}

int dg_translator_copy(const struct dg_translator *t, struct dg_backend *be, struct dg_model **out,
    struct dg_error *err)
{
    struct dg_weights *again = NULL;
    int rc = dg_bundle_load_again(t->bundle, &again, err);
    if (!rc)
        rc = dg_model_open(
            dg_model_config(t->model), again, be, dg_model_max_positions(t->model), out, err);
    if (rc) {
        dg_error_prefix(err, "%s", dg_bundle_dir(t->bundle));
        dg_weights_close(again);
        return rc;
    }
    dg_model_own_take(*out, again);
    if (t->shortlist)
        dg_model_use_shortlist(*out, dg_bundle_weights(t->bundle), t->shortlist);
    dg_model_use_byte_pieces(*out, t->bytes);
    return 0;
}

const struct dg_bundle *dg_translator_bundle(const struct dg_translator *t)
{
    return t->bundle;
}

const struct dg_tokenizer *dg_translator_source(const struct dg_translator *t)
{
    return t->source;
}

const struct dg_tokenizer *dg_translator_target(const struct dg_translator *t)
{
    return t->target;
}

/* Distance of a served code from the requested one; below 0: another language. */
typedef int distance_of(const char *asked, const char *served);

/* Most callers, such as the server, name a model's own codes, which are found without more. */
static int same_code(const char *asked, const char *served)
{
    return strcasecmp(asked, served) == 0 ? 0 : -1;
}

/* The distance of the nearest pair (NULL: any language); below 0: there is none, and *source_known
 * says whether the source is served. */
static int find_nearest(const struct dg_translator *t, const char *const asked[2],
    distance_of *distance, size_t *pair, bool *source_known)
{
    const char *last = NULL;
    int from = -1, nearest = -1;
    for (size_t i = 0; i < dg_bundle_pairs(t->bundle) && nearest != 0; i++) {
        const char *s, *g;
        dg_bundle_pair(t->bundle, i, &s, &g);
        /* pairs of one source follow one another */
        from = s == last ? from : asked[0] ? distance(asked[0], s) : 0;
        last = s;
        if (from < 0)
            continue;
        *source_known = true;
        const int to = asked[1] ? distance(asked[1], g) : 0;
        if (to >= 0 && (nearest < 0 || from + to < nearest)) {
            nearest = from + to;
            *pair = i;
        }
    }
    return nearest;
}

int dg_translator_pair(const struct dg_translator *t, const char *source, const char *target,
    size_t *pair, struct dg_error *err)
{
    const char *const asked[2] = {source, target};
    bool source_known = false;
    if (find_nearest(t, asked, same_code, pair, &source_known) >= 0 ||
        find_nearest(t, asked, dg_language_distance, pair, &source_known) >= 0)
        return 0;
    if (!source_known)
        return dg_error_field(err, DG_EINVAL, "source", "model %s does not translate from \"%s\"",
            dg_bundle_name(t->bundle), source);
    return dg_error_field(err, DG_EINVAL, "target", "model %s does not translate to \"%s\"",
        dg_bundle_name(t->bundle), target ? target : "");
}
