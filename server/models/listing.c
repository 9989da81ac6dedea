#include "server/models/listing.h"

#include "server/models/models.h"

#include <stdlib.h>

/* Returns the index of one of the bundle's own codes. *hint: where the search starts, as pairs
 * repeat languages in the same order. */
static uint32_t index_of(
    const struct dg_bundle_language *list, size_t n, const char *code, size_t *hint)
{
    while (list[*hint].code != code)
        *hint = (*hint + 1) % n;
    return (uint32_t)*hint;
}

static int index_pairs(struct dg_listing *l, struct dg_error *err)
{
    const size_t n_pairs = dg_bundle_pairs(l->bundle);
    size_t n, hints[2] = {0, 0};
    const char *source, *target;
    const struct dg_bundle_language *list = dg_bundle_languages(l->bundle, &n);
    l->codes = calloc(n, sizeof *l->codes);
    l->pairs = calloc(n_pairs, sizeof *l->pairs);
    l->first = calloc(n + 2, sizeof *l->first);
    if (!l->codes || !l->pairs || !l->first)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu pairs of languages", n_pairs);
    for (size_t i = 0; i < n; i++)
        if (!dg_language_canonical(list[i].code, l->codes[i]))
            l->codes[i][0] = '\0';
    /* Counts the pairs of each source two places on, sums them up, then places each pair: first[i +
     * 1] is where the next pair of i goes, and in the end where those of i + 1 begin. */
    for (size_t p = 0; p < n_pairs; p++) {
        dg_bundle_pair(l->bundle, p, &source, &target);
        l->first[index_of(list, n, source, &hints[0]) + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++)
        l->first[i] += l->first[i - 1];
    for (size_t p = 0; p < n_pairs; p++) {
        dg_bundle_pair(l->bundle, p, &source, &target);
        l->pairs[l->first[index_of(list, n, source, &hints[0]) + 1]++] =
            (struct dg_listing_pair){index_of(list, n, target, &hints[1]), (uint32_t)p};
    }
    return DG_OK;
}

int dg_listing_open(const char *dir, struct dg_listing **out, struct dg_error *err)
{
    struct dg_listing *l = calloc(1, sizeof *l);
    if (!l)
        return dg_error_set(err, DG_ENOMEM, "no memory for a bundle");
    atomic_init(&l->refs, 1);
    int rc = dg_bundle_open(dir, &l->bundle, err);
    if (rc == DG_OK && (rc = dg_config_read(dg_bundle_manifest(l->bundle), &l->config, err)))
        dg_error_prefix(err, "%s", dir);
    if (rc == DG_OK)
        rc = index_pairs(l, err);
    if (rc != DG_OK) {
        dg_listing_unref(l);
        return rc;
    }
    dg_bundle_forget_weights(l->bundle);
    *out = l;
    return DG_OK;
}

void dg_listing_ref(struct dg_listing *l)
{
    atomic_fetch_add(&l->refs, 1);
}

void dg_listing_unref(struct dg_listing *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
        return;
    dg_served_unref(l->open);
    dg_bundle_close(l->bundle);
    free(l->codes);
    free(l->pairs);
    free(l->first);
    free(l);
}
