/* DESIGN. As in prepare_clean.c: blocks read by the caller, encoded in parallel, written in order
 * by the caller. A pair is encoded once; both directions of it are cut out of the same ids: [tag]
 * source </s> and [tag] target </s>. */
#include "trainer/prepare/encode_set.h"

#include "trainer/align/masks.h"
#include "trainer/align/variants.h"

#include <string.h>

/* Forms and words may be held out even though the pairs that they come from are not. */
static bool is_held_out(const struct dg_encode_block *b, const struct dg_pair *p)
{
    return dg_prepare_held_out_as(b->job, p->source, p->source_len, p->target, p->target_len) !=
           DG_KEEP;
}

/* The makers of a pair's further forms. */
struct forms {
    struct dg_variants variants;
    struct dg_masks *masks;
};

/* Adds a form of a pair to the block, unless it is held out; made: what its maker returned. */
static int add_form(struct dg_encode_block *b, struct dg_encode_set *s, const struct dg_pair *form,
    int made, struct dg_error *err)
{
    if (made < 0)
        return made;
    if (made != 1 || is_held_out(b, form))
        return 0;
    int rc = dg_encode_block_is_full(b) ? dg_encode_set_flush(s, b, err) : 0;
    if (rc)
        return rc;
    dg_encode_block_add(b, form);
    b->pairs[b->n - 1].variant = true;
    return 0;
}

/* Adds a pair and its further forms to the block, which must not be full; flushes it when the next
 * form does not fit. */
static int add_pair(struct dg_encode_block *b, struct dg_encode_set *s, struct forms *f,
    const struct dg_pair *p, struct dg_error *err)
{
    struct dg_pair form;
    int made, rc = 0;
    dg_encode_block_add(b, p);
    for (int kind = 0; !rc && (made = dg_variants_make(&f->variants, p, kind, &form, err)); kind++)
        rc = add_form(b, s, &form, made, err);
    for (int kind = DG_MASK_PIECES; !rc && kind <= DG_MASK_SIGNS; kind++) {
        made = dg_masks_make(f->masks, p, (enum dg_mask_kind)kind, &form);
        rc = add_form(b, s, &form, made, err);
    }
    if (!rc)
        dg_variants_next(&f->variants, p);
    return rc;
}

/* Adds the learned words, each as a pair of the domain "words", unless its weight is 0. */
static int add_dictionaries(
    struct dg_encode_block *b, struct dg_encode_set *s, struct dg_error *err)
{
    struct dg_prepare_job *j = b->job;
    const double weight = j->r->variants.words * dg_recipe_domain_weight(j->r, "words");
    struct dg_pair p = {.weight = (float)weight};
    if (j->r->variants.words <= 0)
        return 0;
    int rc = dg_prepare_domain(j, "words", strlen("words"), &p.domain, err);
    if (rc || weight <= 0)
        return rc;
    for (; p.pair < j->r->data.n_pairs && !rc; p.pair++)
        for (size_t i = 0; i < dg_dictionary_count(j->dictionaries[p.pair]) && !rc; i++) {
            const struct dg_dictionary_entry w = dg_dictionary_at(j->dictionaries[p.pair], i);
            p.source = w.source;
            p.source_len = w.source_len;
            p.target = w.target;
            p.target_len = w.target_len;
            if (is_held_out(b, &p))
                continue;
            if (dg_encode_block_is_full(b))
                rc = dg_encode_set_flush(s, b, err);
            if (rc)
                break;
            dg_encode_block_add(b, &p);
            struct dg_encoded_pair *e = &b->pairs[b->n - 1];
            e->variant = true;
            e->left_out[0] = !w.there;
            e->left_out[1] = !w.back;
        }
    return rc ? rc : dg_encode_set_flush(s, b, err);
}

int dg_prepare_encode(struct dg_prepare_job *j, struct dg_error *err)
{
    struct dg_encode_block b;
    struct forms forms = {.masks = dg_masks_new(j->r, j->dictionaries)};
    struct dg_encode_set s = {.name = "train", .direction = -1, .list = dg_json_new_array()};
    struct dg_json *o = dg_json_new_object();
    struct dg_pair p = {0};
    int got = 1;
    dg_encode_block_init(&b, j);
    dg_variants_init(&forms.variants, j->r, j->names);
    int rc = dg_pairs_rewind(j->pairs, err);
    while (rc == 0 && got > 0) {
        got = dg_pairs_next(j->pairs, &p, err);
        if (got < 0)
            rc = got;
        else if (got && p.left_out)
            j->counts[p.file].by[p.left_out]++;
        else if (got)
            rc = add_pair(&b, &s, &forms, &p, err);
        if (rc == 0 && (dg_encode_block_is_full(&b) || got == 0)) {
            rc = dg_prepare_check(j, err);
            if (rc == 0)
                rc = dg_encode_set_flush(&s, &b, err);
            dg_progress_pairs(&j->progress, "encoding", p.item + 1, dg_pairs_count(j->pairs));
        }
    }
    if (rc == 0)
        rc = add_dictionaries(&b, &s, err);
    if (rc == 0 && s.n_shards == 0)
        rc = dg_prepare_none_left(j, err);
    if (rc == 0)
        rc = dg_encode_set_end(&s, err);
    if (rc == 0)
        dg_prepare_warn_names(j, forms.variants.names_used);
    dg_shard_abort(s.shard);
    dg_variants_deinit(&forms.variants);
    dg_masks_free(forms.masks);
    dg_encode_block_deinit(&b);
    if (rc == 0) {
        dg_json_set_string(o, "kind", "train");
        return dg_encode_set_list_take(&s, j, o, err);
    }
    dg_json_free(s.list);
    dg_json_free(o);
    return rc;
}
