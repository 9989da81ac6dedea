/* Tables of fields against JSON: reading, writing, describing. */
#include "base/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Checks the JSON type with JSON's own messages, then parses the value as text like any other
 * source. */
static int read_field(const struct dg_field *f, const char *where, const char *key,
    const struct dg_json *o, void *out, struct dg_error *err)
{
    const int64_t min = dg_field_bound(f->min), max = dg_field_bound(f->max);
    const char *text = NULL;
    char name[DG_JSON_NAME], number[40];
    int64_t i = 0;
    double d = 0;
    bool yes = false;
    int rc = DG_OK;
    switch (f->kind) {
    case DG_FIELD_BOOL:
        rc = dg_json_field_bool(o, where, key, &yes, err);
        text = yes ? "true" : "false";
        break;
    case DG_FIELD_INT:
        if (f->words && dg_json_typeof(dg_json_get(o, key)) == DG_JSON_STRING) {
            rc = dg_json_field_string(o, where, key, &text, err);
            break;
        }
        rc = dg_json_field_int(o, where, key, min, max, &i, err);
        snprintf(number, sizeof number, "%lld", (long long)i);
        text = number;
        break;
    case DG_FIELD_REAL:
    case DG_FIELD_SECONDS:
        rc = dg_json_field_number(o, where, key, f->min, f->max, &d, err);
        snprintf(number, sizeof number, "%.17g", d);
        text = number;
        break;
    case DG_FIELD_WORD:
    case DG_FIELD_STRING:
    case DG_FIELD_TEXT:
    case DG_FIELD_CUSTOM: rc = dg_json_field_string(o, where, key, &text, err); break;
    case DG_FIELD_OTHER:
        dg_json_name(name, where, key);
        return f->read ? f->read(name, dg_json_get(o, key), out, err) : DG_OK;
    case DG_FIELD_MARK:
    case DG_FIELD_LIST: return DG_OK;
    }
    return rc ? rc : dg_field_set(f, dg_json_name(name, where, key), text, out, err);
}

/* Sets *key to the key under which `o` has the field, or to NULL. DG_EINVAL: a required field is
 * missing, or both of its names are given. */
static int find_key(const struct dg_field *f, const char *where, const struct dg_json *o,
    const char **key, struct dg_error *err)
{
    char name[DG_JSON_NAME];
    bool now = dg_json_get(o, f->name) != NULL;
    bool before = f->old && dg_json_get(o, f->old) != NULL;
    *key = now ? f->name : before ? f->old : NULL;
    if (*key ? !(now && before) : !(f->flags & DG_FIELD_REQUIRED))
        return DG_OK; /* before the name is written: most fields are not there */
    dg_json_name(name, where, f->name);
    if (*key)
        return dg_error_field(
            err, DG_EINVAL, name, "%s and %s are the same field: give one", name, f->old);
    return dg_error_field(err, DG_EINVAL, name, "%s is missing", name);
}

static int check_keys(
    const struct dg_fields *t, const char *where, const struct dg_json *o, struct dg_error *err)
{
    static const char *const none[] = {NULL};
    char name[DG_JSON_NAME];
    if (o && dg_json_typeof(o) != DG_JSON_OBJECT)
        return dg_json_only(o, where, none, err);
    for (const char *key = dg_json_next_key(o, NULL); key; key = dg_json_next_key(o, key)) {
        size_t i = dg_fields_find(t, key);
        if (i < t->n && t->rows[i].kind != DG_FIELD_MARK)
            continue;
        dg_json_name(name, where, key);
        return dg_error_field(err, DG_EINVAL, name, "unknown field %s", name);
    }
    return DG_OK;
}

int dg_fields_from_json(const struct dg_fields *t, const char *where, const struct dg_json *o,
    enum dg_field_origin origin, struct dg_error *err)
{
    int rc = check_keys(t, where, o, err);
    for (size_t i = 0; i < t->n && rc == DG_OK; i++) {
        const char *key;
        rc = find_key(&t->rows[i], where, o, &key, err);
        if (rc == DG_OK && key)
            rc = read_field(&t->rows[i], where, key, o, t->out, err);
        if (rc == DG_OK && key && t->given)
            t->given[i] = (unsigned char)origin;
    }
    return rc;
}

void dg_fields_rename(const struct dg_fields *t, struct dg_json *o)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct dg_field *f = &t->rows[i];
        const struct dg_json *v = f->old ? dg_json_get(o, f->old) : NULL;
        if (!v || dg_json_get(o, f->name))
            continue;
        dg_json_set_take(o, f->name, dg_json_copy(v));
        dg_json_remove(o, f->old);
    }
}

static bool has_default(const struct dg_field *f, const void *in)
{
    struct dg_buffer b = {0};
    dg_field_print(f, in, &b);
    bool same = b.data && !b.failed && f->fallback && strcmp(b.data, f->fallback) == 0;
    dg_buffer_deinit(&b);
    return same;
}

static struct dg_json *value_of(const struct dg_field *f, const void *in)
{
    struct dg_buffer b = {0};
    struct dg_json *v;
    int64_t i;
    switch (f->kind) {
    case DG_FIELD_BOOL: return dg_json_new_bool(dg_field_whole(f, in) != 0);
    case DG_FIELD_REAL:
    case DG_FIELD_SECONDS: return dg_json_new_real(dg_field_real(f, in));
    case DG_FIELD_INT:
        i = dg_field_whole(f, in);
        for (int64_t w = 0; f->words && f->words[w]; w++)
            if (i == dg_field_bound(f->min) + w)
                return dg_json_new_string(f->words[w], strlen(f->words[w]));
        return dg_json_new_int(i);
    default:
        dg_field_print(f, in, &b);
        v = b.failed ? NULL : dg_json_new_string(b.data ? b.data : "", b.len);
        dg_buffer_deinit(&b);
        return v;
    }
}

static bool is_value(const struct dg_field *f)
{
    return f->kind != DG_FIELD_MARK && f->kind != DG_FIELD_LIST && f->kind != DG_FIELD_CUSTOM &&
           f->kind != DG_FIELD_OTHER;
}

int dg_fields_to_json(const struct dg_fields *t, struct dg_json *o)
{
    int bad = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct dg_field *f = &t->rows[i];
        if (!is_value(f) || ((f->flags & DG_FIELD_UNWRITTEN) && has_default(f, t->out)))
            continue;
        bad |= dg_json_set_take(o, f->name, value_of(f, t->out));
    }
    return bad ? DG_ENOMEM : DG_OK;
}

static const char *type_of(const struct dg_field *f)
{
    switch (f->kind) {
    case DG_FIELD_BOOL: return "boolean";
    case DG_FIELD_INT: return "integer";
    case DG_FIELD_REAL:
    case DG_FIELD_SECONDS: return "number";
    case DG_FIELD_WORD:
    case DG_FIELD_STRING:
    case DG_FIELD_TEXT: return "string";
    default: return "other";
    }
}

static struct dg_json *bound_of(const struct dg_field *f, double bound)
{
    return f->kind == DG_FIELD_INT ? dg_json_new_int(dg_field_bound(bound))
                                   : dg_json_new_real(bound);
}

static void describe(const struct dg_field *f, const char *where, struct dg_json *list)
{
    struct dg_json *o = dg_json_new_object(), *words = dg_json_new_array();
    const char *type = type_of(f);
    const bool number = strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    char name[DG_JSON_NAME];
    dg_json_set_string(o, "name", dg_json_name(name, where, f->name));
    dg_json_set_string(o, "type", type);
    if (number && isfinite(f->min))
        dg_json_set_take(o, "minimum", bound_of(f, f->min));
    if (number && isfinite(f->max))
        dg_json_set_take(o, "maximum", bound_of(f, f->max));
    for (size_t i = 0; f->words && f->words[i]; i++)
        dg_json_append_take(words, dg_json_new_string(f->words[i], strlen(f->words[i])));
    if (dg_json_length(words))
        dg_json_set_take(o, "enum", words);
    else
        dg_json_free(words);
    if (f->fallback)
        dg_json_set_string(o, "default", f->fallback);
    if (f->help)
        dg_json_set_string(o, "help", f->help);
    dg_json_append_take(list, o);
}

void dg_fields_describe(const struct dg_fields *t, const char *where, struct dg_json *list)
{
    for (size_t i = 0; i < t->n; i++)
        describe(&t->rows[i], where, list);
}
