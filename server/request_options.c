#include "server/request_options.h"

#include <string.h>

int dg_request_options_read(const struct dg_json *o, const char *where,
    const struct dg_request_limits *limits, struct dg_request_options *out, struct dg_error *err)
{
    int64_t beam = 0, n_best = 0;
    double alpha = -1; /* the model's default */
    memset(out, 0, sizeof *out);
    int rc = dg_json_field_int(o, where, "beam_size", 1, limits->beam, &beam, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(o, where, "n_best", 1, limits->beam, &n_best, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, where, "length_penalty", 0, 10, &alpha, err);
    if (rc == DG_OK)
        rc = dg_json_field_bool(o, where, "scores", &out->scores, err);
    out->search.beam = (uint32_t)beam;
    out->search.n_best = (uint32_t)n_best;
    out->search.alpha = (float)alpha;
    return rc;
}

static int check_n_best(
    const struct dg_served *model, const struct dg_search *s, struct dg_error *err)
{
    uint32_t beam =
        s->beam > 0 ? s->beam : dg_model_config(dg_translator_model(model->translator))->beam;
    if (s->n_best <= beam)
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, "n_best",
        "n_best is %u, more than beam_size, which is %u", s->n_best, beam);
}

int dg_request_options_plan(const struct dg_request_options *options, const struct dg_served *model,
    const char *const pair[2], struct dg_translate_options *out, struct dg_error *err)
{
    *out = (struct dg_translate_options){
        .source = pair[0],
        .target = pair[1],
        .search = options->search,
    };
    return check_n_best(model, &options->search, err);
}
