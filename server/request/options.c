#include "server/request/options.h"

#include "translate/translator/way_back.h"

struct dg_request_options dg_request_options_first(const struct dg_request_options *options)
{
    struct dg_request_options first = {.alignments = options->alignments,
        .format = options->format,
        .whole = options->whole,
        .markup = options->markup};
    first.search.beam = options->search.beam;
    first.search.alpha = options->search.alpha;
    return first;
}

/* Checks that n_best is at most the beam, which is `usual` unless the request has its own; if wide,
 * the beam grows to it. */
static int fit_n_best(uint32_t usual, bool wide, struct dg_search *s, struct dg_error *err)
{
    uint32_t beam = s->beam > 0 ? s->beam : usual;
    if (s->n_best > beam && wide)
        beam = s->beam = s->n_best;
    if (s->n_best <= beam)
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, "n_best",
        "n_best is %u, more than beam_size, which is %u", s->n_best, beam);
}

int dg_request_options_plan(const struct dg_request_options *options, const struct dg_config *model,
    const char *const pair[2], struct dg_translate_options *out, struct dg_error *err)
{
    const char *given = options->target_prefix, *prefix = given && given[0] ? given : NULL;
    *out = (struct dg_translate_options){
        .source = pair[0],
        .target = pair[1],
        .search = options->search,
        .alignments = options->alignments,
        .rerank = options->rerank,
        .format = options->format,
        .markup = options->markup,
        .one_sentence = options->whole,
        .prefix = prefix,
        .glossary = options->glossary,
    };
    const bool has_terms = options->glossary || options->named_glossary;
    if (has_terms && (prefix || options->search.sampling.temperature > 0))
        return dg_error_field(err, DG_EINVAL, "glossary", "glossary cannot be combined with %s",
            prefix ? "target_prefix" : "sampling");
    if (options->search.sampling.temperature > 0) {
        if (options->search.beam > 1 || options->search.n_best > 1)
            return dg_error_field(err, DG_EINVAL, "sampling",
                "sampling draws one answer: beam_size and n_best must be 1 or left out");
        out->search.beam = 1;
    }
    const uint32_t usual = options->rerank ? dg_way_back_beam(model->beam, 0) : model->beam;
    return fit_n_best(usual, options->wide, &out->search, err);
}
