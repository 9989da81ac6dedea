/* What a prepared folder was made from: every input file with its size and hash, and one hash over
 * everything. */
#include "trainer/prepare/prepare_internal.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "trainer/align/aligner.h"
#include "trainer/align/masks.h"
#include "trainer/align/tree_links.h"
#include "trainer/align/variants.h"

#include <stdlib.h>
#include <string.h>

/* The recipe's variants. Newer fields that are off are left out, so that data prepared before them
 * keeps its hash. */
static struct dg_json *variants_part(const struct dg_recipe *r)
{
    struct dg_json *o = dg_json_copy(dg_json_get(r->json, "variants"));
    const double weight = dg_recipe_domain_weight(r, "words");
    if (r->variants.words > 0)
        dg_json_set_string(o, "words_from", DG_DICTIONARY_METHOD);
    else
        dg_json_remove(o, "words");
    /* Older programs did not apply it. */
    if (r->variants.words > 0 && weight != 1)
        dg_json_set_real(o, "words_weight", weight);
    if (r->variants.numbers <= 0)
        dg_json_remove(o, "numbers");
    if (r->variants.mask > 0 || r->variants.signs > 0) {
        dg_json_set_string(o, "masks_from", DG_MASKS_METHOD);
    } else {
        dg_json_remove(o, "mask");
        dg_json_remove(o, "signs");
    }
    if (r->cleaning.remove_overlap)
        dg_json_set_string(o, "overlap", DG_VARIANTS_OVERLAP);
    return o;
}

/* Returns the name that prepared folders store for a field that has been renamed since: their
 * identity is a hash of this part, including its names and their order. */
static const char *stored_name(const char *key)
{
    if (strcmp(key, "max_tokens") == 0)
        return "max_pieces";
    return strcmp(key, "max_token_ratio") == 0 ? "max_piece_ratio" : key;
}

static struct dg_json *cleaning_part(const struct dg_recipe *r)
{
    const struct dg_json *all = dg_json_get(r->json, "cleaning");
    struct dg_json *o = dg_json_new_object();
    for (const char *key = NULL; (key = dg_json_next_key(all, key)) != NULL;)
        dg_json_set_take(o, stored_name(key), dg_json_copy(dg_json_get(all, key)));
    /* these only refuse files and change nothing for files that pass */
    dg_json_remove(o, "max_dropped");
    dg_json_remove(o, "check_relation");
    if (!r->cleaning.near_copies)
        dg_json_remove(o, "near_copies");
    if (r->cleaning.min_relation > 0)
        dg_json_set_string(o, "relation_from", DG_DICTIONARY_METHOD);
    else
        dg_json_remove(o, "min_relation");
    return o;
}

static struct dg_json *vocabulary_part(const struct dg_recipe *r)
{
    struct dg_json *o = dg_json_copy(dg_json_get(r->json, "vocabulary"));
    if (r->vocabulary.characters == DG_CHARACTERS_FREQUENT)
        dg_json_remove(o, "characters");
    if (!r->vocabulary.reserved)
        dg_json_remove(o, "reserved");
    if (dg_recipe_has_trees(r))
        dg_json_set_string(o, "brackets", DG_VOCABULARY_BRACKETS);
    return o;
}

struct dg_json *dg_prepare_data_part(const struct dg_recipe *r)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, "data", dg_json_copy(dg_json_get(r->json, "data")));
    dg_json_set_take(o, "cleaning", cleaning_part(r));
    dg_json_set_take(o, "vocabulary", vocabulary_part(r));
    if (dg_variants_wanted(r))
        dg_json_set_take(o, "variants", variants_part(r));
    if (dg_recipe_guides(r))
        dg_json_set_string(
            o, "alignments", dg_recipe_has_trees(r) ? DG_TREE_LINKS_METHOD : DG_LINKS_METHOD);
    dg_json_set_string(o, "init", dg_recipe_keeps_vocabulary(r) ? r->init : "");
    return o;
}

/* Adds the file `name` to the list, under its path in the recipe. */
static int add_file(const char *name, const char *path, struct dg_json *list, struct dg_error *err)
{
    uint64_t bytes = 0;
    char hex[33];
    int rc = dg_hash_file(name, hex, &bytes, err);
    if (rc)
        return rc;
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "path", path);
    dg_json_set_int(o, "bytes", (int64_t)bytes);
    dg_json_set_string(o, "xxh3", hex);
    return dg_json_append_take(list, o)
               ? dg_error_set(err, DG_ENOMEM, "out of memory for the manifest")
               : 0;
}

static int add_input(
    const struct dg_recipe *r, const char *path, struct dg_json *list, struct dg_error *err)
{
    char *name = dg_recipe_path(r, path);
    int rc = add_file(name, path, list, err);
    free(name);
    return rc;
}

static int add_files(const struct dg_recipe *r, const struct dg_recipe_file *f, size_t n,
    struct dg_json *list, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = add_input(r, f[i].source, list, err);
        if (rc == 0)
            rc = add_input(r, f[i].target, list, err);
        if (rc == 0 && f[i].domains[0])
            rc = add_input(r, f[i].domains, list, err);
    }
    return rc;
}

int dg_prepare_inputs(const struct dg_recipe *r, struct dg_json **out, struct dg_error *err)
{
    struct dg_json *list = dg_json_new_array();
    int rc = list ? 0 : dg_error_set(err, DG_ENOMEM, "out of memory for the manifest");
    for (size_t i = 0; i < r->data.n_pairs && rc == 0; i++) {
        const struct dg_recipe_pair *p = &r->data.pairs[i];
        rc = add_files(r, p->train, p->n_train, list, err);
        if (rc == 0)
            rc = add_files(r, p->dev, p->n_dev, list, err);
        if (rc == 0)
            rc = add_files(r, p->test, p->n_test, list, err);
    }
    for (size_t i = 0; i < r->data.n_held_out && rc == 0; i++)
        rc = add_input(r, r->data.held_out[i], list, err);
    for (size_t i = 0; i < r->data.n_names && rc == 0; i++)
        rc = add_input(r, r->data.names[i].file, list, err);
    struct dg_vocabulary_files v = {{NULL}};
    if (rc == 0)
        rc = dg_vocabulary_find(r, &v, err);
    for (size_t i = 0; rc == 0 && i < 4; i++)
        if (v.paths[i])
            rc = add_file(v.paths[i], v.paths[i], list, err);
    dg_vocabulary_files_free(&v);
    if (rc) {
        dg_json_free(list);
        list = NULL;
    }
    *out = list;
    return rc;
}

int dg_prepare_hash(
    const struct dg_recipe *r, const struct dg_json *inputs, char out[33], struct dg_error *err)
{
    struct dg_buffer b;
    struct dg_json *part = dg_prepare_data_part(r);
    dg_buffer_init(&b);
    dg_buffer_addf(&b, "%d\n", DG_PREPARED_FORMAT);
    int rc = dg_json_write(part, 0, &b) || dg_json_write(inputs, 0, &b) || b.failed
                 ? dg_error_set(err, DG_ENOMEM, "out of memory for the recipe")
                 : 0;
    if (rc == 0)
        dg_hash_print(dg_hash128(b.data, b.len, 0), out);
    dg_json_free(part);
    dg_buffer_deinit(&b);
    return rc;
}
