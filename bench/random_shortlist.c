/* random-shortlist: gives a bundle a vocabulary shortlist of the size that training text gives,
 * with random pieces in it, so that its speed can be measured with random weights. Usage:
 * random-shortlist BUNDLE BEST ALWAYS (pieces for each source piece; pieces in every list) */
#include "base/json.h"
#include "bench/random.h"
#include "model/config.h"
#include "weights/bundle.h"
#include "weights/shortlist.h"

#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int write_list(const char *path, const struct dg_config *c, uint32_t best, uint32_t always,
    struct dg_error *err)
{
    uint64_t state = 1;
    uint32_t *first = calloc((size_t)c->source_vocab + 1, sizeof *first),
             *ids = calloc((size_t)c->source_vocab * best, sizeof *ids),
             *common = calloc(always, sizeof *common);
    int rc = first && ids && common ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for the lists");
    for (uint32_t i = 0; !rc && i < always; i++)
        common[i] = i; /* </s> and the unknown piece come first */
    for (uint32_t i = 0; !rc && i < c->source_vocab; i++) {
        first[i + 1] = first[i] + best;
        for (uint32_t k = 0; k < best; k++) { /* one from each of `best` ranges: no two are equal */
            const uint32_t drawn = dg_bench_number(&state) % c->target_vocab;
            ids[first[i] + k] = (uint32_t)(((uint64_t)k * c->target_vocab + drawn) / best);
        }
        qsort(ids + first[i], best, sizeof *ids, ascending);
    }
    struct dg_shortlist_data d = {.source_vocab = c->source_vocab,
        .target_vocab = c->target_vocab,
        .always = common,
        .n_always = always,
        .first = first,
        .ids = ids};
    if (!rc)
        rc = dg_shortlist_write(path, &d, err);
    free(first);
    free(ids);
    free(common);
    return rc;
}

int main(int argc, char **argv)
{
    struct dg_bundle *b = NULL;
    struct dg_config c;
    struct dg_error err = {0};
    char path[4096];
    if (argc != 4 || atoi(argv[2]) < 1 || atoi(argv[3]) < 2) {
        fprintf(stderr, "usage: random-shortlist BUNDLE BEST ALWAYS\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/" DG_SHORTLIST_FILE, argv[1]);
    int rc = dg_bundle_open(argv[1], &b, &err);
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(b), &c, &err);
    if (!rc)
        rc = write_list(path, &c, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), &err);
    if (!rc)
        rc = dg_bundle_add_file(b, "shortlist", DG_SHORTLIST_FILE, &err);
    dg_bundle_close(b);
    if (rc)
        fprintf(stderr, "random-shortlist: %s\n", err.message);
    return rc ? 1 : 0;
}
