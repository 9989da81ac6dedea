#include "server/api/read.h"

#include "translate/search_fields.h"

#include <stdio.h>
#include <string.h>

static int read_sampling(
    const struct dg_json *o, const char *where, struct dg_sampling *out, struct dg_error *err)
{
    const struct dg_fields t = dg_sampling_fields(out);
    const struct dg_json *s = dg_json_get(o, "sampling");
    char name[64];
    if (!s)
        return DG_OK;
    snprintf(name, sizeof name, "%s%ssampling", where ? where : "", where && where[0] ? "." : "");
    dg_fields_default(&t);
    return dg_fields_from_json(&t, name, s, DG_FROM_FILE, err);
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
