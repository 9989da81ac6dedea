#include "translate/translator/way_back.h"

#include "translate/translate.h"

#include <string.h>

static bool is_joint(const struct dg_bundle *b)
{
    return strcmp(dg_bundle_source_spm(b), dg_bundle_target_spm(b)) == 0 &&
           strcmp(dg_bundle_source_vocab(b), dg_bundle_target_vocab(b)) == 0;
}

int dg_way_back_find(const struct dg_bundle *b, const struct dg_search *s, const char *from,
    const char *to, size_t *pair, struct dg_error *err)
{
    if (s->sampling.temperature > 0 || s->beam == 1)
        return dg_error_field(err, DG_EINVAL, "rerank",
            "rerank chooses among several answers, and %s has one",
            s->beam == 1 ? "a beam of 1" : "sampling");
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        const char *source, *target;
        dg_bundle_pair(b, i, &source, &target);
        if (strcmp(source, to) != 0 || strcmp(target, from) != 0)
            continue;
        if (!is_joint(b))
            break;
        *pair = i;
        return 0;
    }
    return dg_error_field(err, DG_EUNSUP, "rerank",
        "rerank needs a model that also translates back, from %s to %s, with one vocabulary: %s "
        "does not",
        to, from, dg_bundle_name(b));
}

uint32_t dg_way_back_beam(uint32_t of_model, uint32_t most)
{
    const uint32_t beam = most && most < DG_RERANK_BEAM ? most : DG_RERANK_BEAM;
    return beam > of_model ? beam : of_model;
}
