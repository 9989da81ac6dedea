#include "server/api/libretranslate/parameters.h"

int dg_lt_read(struct dg_request *r, bool *form, struct dg_error *err)
{
    static const char *const strings[] = {"s", "source", "target", "format", "api_key", NULL};
    static const char *const single[] = {"alternatives", NULL};
    int rc = dg_parameters_read_request(r, form, err);
    if (rc == DG_OK)
        rc = dg_parameters_check_strings(r->body, *form, strings, err);
    return rc == DG_OK ? dg_parameters_check_single(r->body, *form, single, err) : rc;
}

int dg_lt_string(const struct dg_json *o, const char *key, const char **out, struct dg_error *err)
{
    const struct dg_json *v = dg_parameter(o, key);
    *out = dg_json_string(v, NULL);
    if (!v || (*out && (*out)[0] == '\0'))
        return dg_error_field(err, DG_EINVAL, key, "Invalid request: missing %s parameter", key);
    if (!*out)
        return dg_error_field(
            err, DG_EINVAL, key, "Invalid request: %s parameter is not a string", key);
    return DG_OK;
}

int dg_lt_check_size(size_t size, size_t limit, struct dg_error *err)
{
    return size <= limit
               ? DG_OK
               : dg_error_field(err, DG_EINVAL, "q",
                     "Invalid request: request (%zu) exceeds text limit (%zu)", size, limit);
}
