#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *dg_json_name(char out[DG_JSON_NAME], const char *where, const char *key)
{
    bool both = where && where[0] && key;
    snprintf(out, DG_JSON_NAME, "%s%s%s", where ? where : "", both ? "." : "", key ? key : "");
    dg_error_trim_utf8(out);
    return out;
}

static int wrong(
    const struct dg_json *v, const char *name, const char *expected, struct dg_error *err)
{
    return dg_error_field(err, DG_EINVAL, name, "%s%smust be %s, not %s", name, name[0] ? " " : "",
        expected, dg_json_type_name(dg_json_typeof(v)));
}

/* The value under key in *v (NULL when absent), or DG_EINVAL when o is no object. NULL counts as an
 * empty object. */
static int lookup(const struct dg_json *o, const char *where, const char *key,
    const struct dg_json **v, struct dg_error *err)
{
    char name[DG_JSON_NAME];
    *v = NULL;
    if (o && dg_json_typeof(o) != DG_JSON_OBJECT)
        return wrong(o, dg_json_name(name, where, NULL), "an object", err);
    *v = dg_json_get(o, key);
    return 0;
}

int dg_json_field_string(const struct dg_json *o, const char *where, const char *key,
    const char **out, struct dg_error *err)
{
    char name[DG_JSON_NAME];
    const struct dg_json *v;
    int rc = lookup(o, where, key, &v, err);
    if (rc || !v)
        return rc;
    dg_json_name(name, where, key);
    if (dg_json_typeof(v) != DG_JSON_STRING)
        return wrong(v, name, "a string", err);
    const char *s = dg_json_string(v, NULL);
    if (!s)
        return dg_error_field(
            err, DG_EINVAL, name, "%s must not contain the character U+0000", name);
    *out = s;
    return 0;
}

static int out_of_range(
    const char *name, const char *value, const char *min, const char *max, struct dg_error *err)
{
    if (!max)
        return dg_error_field(
            err, DG_EINVAL, name, "%s is %s, must be at least %s", name, value, min);
    if (!min)
        return dg_error_field(
            err, DG_EINVAL, name, "%s is %s, must be at most %s", name, value, max);
    return dg_error_field(
        err, DG_EINVAL, name, "%s is %s, must be from %s to %s", name, value, min, max);
}

int dg_json_field_int(const struct dg_json *o, const char *where, const char *key, int64_t min,
    int64_t max, int64_t *out, struct dg_error *err)
{
    char name[DG_JSON_NAME], value[32], low[32], high[32];
    const struct dg_json *v;
    int rc = lookup(o, where, key, &v, err);
    if (rc || !v)
        return rc;
    dg_json_name(name, where, key);
    double number = dg_json_number(v);
    int64_t i = dg_json_int(v);
    if (dg_json_typeof(v) == DG_JSON_REAL && number == floor(number) && fabs(number) <= 0x1p53)
        i = (int64_t)number; /* 4.0 is an integer to JSON Schema, and so to our clients */
    else if (dg_json_typeof(v) != DG_JSON_INT)
        return wrong(v, name, "an integer", err);
    if (i < min || i > max) {
        snprintf(value, sizeof value, "%lld", (long long)i);
        snprintf(low, sizeof low, "%lld", (long long)min);
        snprintf(high, sizeof high, "%lld", (long long)max);
        return out_of_range(
            name, value, min == INT64_MIN ? NULL : low, max == INT64_MAX ? NULL : high, err);
    }
    *out = i;
    return 0;
}

int dg_json_field_number(const struct dg_json *o, const char *where, const char *key, double min,
    double max, double *out, struct dg_error *err)
{
    char name[DG_JSON_NAME], value[32], low[32], high[32];
    const struct dg_json *v;
    int rc = lookup(o, where, key, &v, err);
    if (rc || !v)
        return rc;
    dg_json_name(name, where, key);
    if (dg_json_typeof(v) != DG_JSON_INT && dg_json_typeof(v) != DG_JSON_REAL)
        return wrong(v, name, "a number", err);
    double number = dg_json_number(v);
    if (number < min || number > max) {
        snprintf(value, sizeof value, "%.9g", number);
        snprintf(low, sizeof low, "%.9g", min);
        snprintf(high, sizeof high, "%.9g", max);
        return out_of_range(name, value, isinf(min) ? NULL : low, isinf(max) ? NULL : high, err);
    }
    *out = number;
    return 0;
}

int dg_json_field_bool(
    const struct dg_json *o, const char *where, const char *key, bool *out, struct dg_error *err)
{
    char name[DG_JSON_NAME];
    const struct dg_json *v;
    int rc = lookup(o, where, key, &v, err);
    if (rc || !v)
        return rc;
    if (dg_json_typeof(v) != DG_JSON_BOOL)
        return wrong(v, dg_json_name(name, where, key), "true or false", err);
    *out = dg_json_bool(v);
    return 0;
}

static bool listed(const char *key, const char *const *allowed)
{
    for (; *allowed; allowed++)
        if (strcmp(key, *allowed) == 0)
            return true;
    return false;
}

int dg_json_only(
    const struct dg_json *o, const char *where, const char *const *allowed, struct dg_error *err)
{
    char name[DG_JSON_NAME];
    if (o && dg_json_typeof(o) != DG_JSON_OBJECT)
        return wrong(o, dg_json_name(name, where, NULL), "an object", err);
    for (const char *key = dg_json_next_key(o, NULL); key; key = dg_json_next_key(o, key))
        if (!listed(key, allowed)) {
            dg_json_name(name, where, key);
            return dg_error_field(err, DG_EINVAL, name, "unknown field %s", name);
        }
    return 0;
}
