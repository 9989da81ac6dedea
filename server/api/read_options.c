#include "server/api/read.h"

#include <stdio.h>
#include <string.h>

static int read_sampling(
    const struct dg_json *o, const char *where, struct dg_sampling *out, struct dg_error *err)
{
    static const char *const allowed[] = {"temperature", "top_k", "seed", NULL};
    const struct dg_json *s = dg_json_get(o, "sampling");
    double temperature = 1;
    int64_t top_k = 0, seed = 0;
    char name[64];
    if (!s)
        return DG_OK;
    snprintf(name, sizeof name, "%s%ssampling", where ? where : "", where && where[0] ? "." : "");
    if (dg_json_typeof(s) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, name, "%s must be an object, not %s", name,
            dg_json_type_name(dg_json_typeof(s)));
    int rc = dg_json_only(s, name, allowed, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(s, name, "temperature", 0.01, 100, &temperature, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(s, name, "top_k", 0, DG_MAX_SAMPLE_TOP_K, &top_k, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(s, name, "seed", 0, INT64_MAX, &seed, err);
    *out = (struct dg_sampling){(float)temperature, (uint32_t)top_k, (uint64_t)seed};
    return rc;
}

static int read_format(
    const struct dg_json *o, const char *where, enum dg_format *out, struct dg_error *err)
{
    const char *text = "text";
    char name[64];
    int rc = dg_json_field_string(o, where, "format", &text, err);
    if (rc != DG_OK || dg_format_find(text, out))
        return rc;
    snprintf(name, sizeof name, "%s%sformat", where ? where : "", where && where[0] ? "." : "");
    return dg_error_field(err, DG_EINVAL, name,
        "%s must be text, wrapped, srt or markdown, not \"%.40s\"", name, text);
}

int dg_read_search(const struct dg_json *o, const char *where, const struct dg_limits *limits,
    struct dg_search *out, struct dg_error *err)
{
    int64_t beam = 0;
    double alpha = -1; /* the model's default */
    int rc = dg_json_field_int(o, where, "beam_size", 1, limits->beam, &beam, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, where, "length_penalty", 0, 10, &alpha, err);
    out->beam = (uint32_t)beam;
    out->alpha = (float)alpha;
    return rc;
}

int dg_read_options(const struct dg_json *o, const char *where, const struct dg_limits *limits,
    struct dg_request_options *out, struct dg_error *err)
{
    int64_t n_best = 0;
    int rc = dg_read_search(o, where, limits, &out->search, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(o, where, "n_best", 1, limits->beam, &n_best, err);
    if (rc == DG_OK)
        rc = dg_json_field_bool(o, where, "scores", &out->scores, err);
    if (rc == DG_OK)
        rc = dg_json_field_bool(o, where, "alignments", &out->alignments, err);
    if (rc == DG_OK)
        rc = dg_json_field_string(o, where, "target_prefix", &out->target_prefix, err);
    if (rc == DG_OK)
        rc = read_sampling(o, where, &out->search.sampling, err);
    if (rc == DG_OK)
        rc = read_format(o, where, &out->format, err);
    out->search.n_best = (uint32_t)n_best;
    return rc;
}
