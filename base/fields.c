#include "base/fields.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t dg_field_bound(double bound)
{
    return bound >= 0x1p63 ? INT64_MAX : bound <= -0x1p63 ? INT64_MIN : (int64_t)bound;
}

static void *member(const struct dg_field *f, void *out)
{
    return (char *)out + f->offset;
}

static void put_whole(const struct dg_field *f, void *out, int64_t v)
{
    void *p = member(f, out);
    assert(f->size == 4 || f->size == 8);
    if (f->size == 8)
        memcpy(p, &v, sizeof v);
    else if (f->min < 0)
        *(int32_t *)p = (int32_t)v;
    else
        *(uint32_t *)p = (uint32_t)v;
}

int64_t dg_field_whole(const struct dg_field *f, const void *in)
{
    const void *p = (const char *)in + f->offset;
    int64_t v;
    if (f->kind == DG_FIELD_BOOL)
        return *(const bool *)p;
    if (f->kind == DG_FIELD_WORD || f->kind == DG_FIELD_MARK)
        return *(const int *)p;
    if (f->size == 4)
        return f->min < 0 ? *(const int32_t *)p : (int64_t) * (const uint32_t *)p;
    memcpy(&v, p, sizeof v);
    return v;
}

static void put_real(const struct dg_field *f, void *out, double v)
{
    assert(f->size == sizeof(float) || f->size == sizeof v);
    if (f->size == sizeof v)
        *(double *)member(f, out) = v;
    else
        *(float *)member(f, out) = (float)v;
}

/* The shortest decimal that converts back to this float: 1e-05 and not 9.99999975e-06. */
static double shortest(float x)
{
    char text[32];
    for (int digits = 1; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            return strtod(text, NULL);
    }
    return (double)x;
}

double dg_field_real(const struct dg_field *f, const void *in)
{
    const void *p = (const char *)in + f->offset;
    if (f->kind == DG_FIELD_SECONDS)
        return (double)*(const int64_t *)p / 1000;
    return f->size == sizeof(double) ? *(const double *)p : shortest(*(const float *)p);
}

/* Index of `text` among the words; -1 if it is not there. */
static int word_of(const struct dg_field *f, const char *text)
{
    for (int i = 0; f->words && f->words[i]; i++)
        if (strcmp(f->words[i], text) == 0)
            return i;
    return -1;
}

/* The word for a value, or NULL. */
static const char *word_at(const struct dg_field *f, int64_t value)
{
    int64_t i = 0;
    while (f->words[i] && (int64_t)f->min + i != value)
        i++;
    return f->words[i];
}

static int refuse_word(
    const struct dg_field *f, const char *name, const char *text, struct dg_error *err)
{
    char list[256] = "";
    for (size_t i = 0, n = 0; f->words[i] && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", f->words[i]);
    return dg_error_field(
        err, DG_EINVAL, name, "%s is \"%.40s\", must be one of %s", name, text, list);
}

static int set_whole(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    char *end;
    errno = 0;
    int64_t min = dg_field_bound(f->min), max = dg_field_bound(f->max), v = strtoll(text, &end, 10);
    bool number = isdigit((unsigned char)text[text[0] == '-']) && *end == '\0' && errno == 0;
    int word = word_of(f, text);
    if (word >= 0)
        v = min + word;
    else if (!number || v < min || v > max)
        return dg_error_field(err, DG_EINVAL, name,
            max == INT64_MAX ? "%s is \"%.40s\", must be a whole number from %lld"
                             : "%s is \"%.40s\", must be a whole number from %lld to %lld",
            name, text, (long long)min, (long long)max);
    put_whole(f, out, v);
    return DG_OK;
}

static bool read_number(const char *text, double *v)
{
    char *end;
    const char *digits = text + (text[0] == '-');
    *v = strtod(text, &end);
    return (isdigit((unsigned char)digits[0]) || digits[0] == '.') && *end == '\0';
}

static int refuse_number(const struct dg_field *f, const char *name, const char *text,
    const char *what, struct dg_error *err)
{
    if (isinf(f->max))
        return dg_error_field(
            err, DG_EINVAL, name, "%s is \"%.40s\", must be %s from %g", name, text, what, f->min);
    return dg_error_field(err, DG_EINVAL, name, "%s is \"%.40s\", must be %s from %g to %g", name,
        text, what, f->min, f->max);
}

static int set_real(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    double v;
    if (!read_number(text, &v) || !(v >= f->min && v <= f->max))
        return refuse_number(f, name, text, "a number", err);
    put_real(f, out, v);
    return DG_OK;
}

/* Rounds to milliseconds before it compares with the range. */
static bool take_seconds(const struct dg_field *f, double v, void *out)
{
    double ms = floor(v * 1000 + 0.5);
    if (!(ms >= floor(f->min * 1000 + 0.5) && ms <= floor(f->max * 1000 + 0.5)))
        return false;
    *(int64_t *)member(f, out) = (int64_t)ms;
    return true;
}

static int set_seconds(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    double v;
    if (!read_number(text, &v) || !take_seconds(f, v, out))
        return refuse_number(f, name, text, "seconds", err);
    return DG_OK;
}

static int set_string(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    size_t n = strlen(text);
    if (f->words && word_of(f, text) < 0)
        return refuse_word(f, name, text, err);
    if (f->kind == DG_FIELD_STRING) {
        memcpy(member(f, out), &text, sizeof text);
        return DG_OK;
    }
    if (n >= f->size)
        return dg_error_field(
            err, DG_EINVAL, name, "%s is longer than %zu bytes", name, f->size - 1);
    memcpy(member(f, out), text, n + 1);
    return DG_OK;
}

static int add_item(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    struct dg_field_list *list = member(f, out);
    assert(f->max <= DG_FIELD_LIST_MAX);
    if (list->n >= (size_t)f->max)
        return dg_error_field(
            err, DG_EINVAL, name, "%s can be given %d times at most", name, (int)f->max);
    list->items[list->n++] = text;
    return DG_OK;
}

static int set_bool(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return dg_error_field(
            err, DG_EINVAL, name, "%s is \"%.40s\", must be true or false", name, text);
    *(bool *)member(f, out) = yes;
    return DG_OK;
}

int dg_field_set(
    const struct dg_field *f, const char *name, const char *text, void *out, struct dg_error *err)
{
    int place;
    switch (f->kind) {
    case DG_FIELD_BOOL: return set_bool(f, name, text, out, err);
    case DG_FIELD_MARK: place = (int)f->min; break;
    case DG_FIELD_INT: return set_whole(f, name, text, out, err);
    case DG_FIELD_REAL: return set_real(f, name, text, out, err);
    case DG_FIELD_SECONDS: return set_seconds(f, name, text, out, err);
    case DG_FIELD_STRING:
    case DG_FIELD_TEXT: return set_string(f, name, text, out, err);
    case DG_FIELD_LIST: return add_item(f, name, text, out, err);
    case DG_FIELD_CUSTOM: return f->take(name, text, out, err);
    case DG_FIELD_WORD:
        place = word_of(f, text);
        if (place < 0)
            return refuse_word(f, name, text, err);
        place += (int)f->min;
        break;
    case DG_FIELD_OTHER:
    default: return dg_error_field(err, DG_EINVAL, name, "%s cannot be given as text", name);
    }
    *(int *)member(f, out) = place;
    return DG_OK;
}

void dg_fields_default(const struct dg_fields *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct dg_field *f = &t->rows[i];
        int rc = f->fallback ? dg_field_set(f, f->name, f->fallback, t->out, NULL) : DG_OK;
        assert(rc == DG_OK);
        (void)rc;
        if (t->given)
            t->given[i] = DG_FROM_DEFAULT;
    }
}

size_t dg_fields_find(const struct dg_fields *t, const char *name)
{
    size_t i = 0;
    while (i < t->n && strcmp(t->rows[i].name, name) != 0 &&
           !(t->rows[i].old && strcmp(t->rows[i].old, name) == 0))
        i++;
    return i;
}

const char *dg_field_option(const struct dg_field *f, char out[64])
{
    snprintf(out, 64, "--%s", f->name);
    for (char *p = out; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return out;
}

static const char *variable(const char *name, char out[64])
{
    int n = snprintf(out, 64, "DRAGOMAN_%s", name);
    for (int i = 0; i < n && i < 63; i++)
        out[i] = (char)toupper((unsigned char)out[i]);
    return out;
}

const char *dg_field_variable(const struct dg_field *f, char out[64])
{
    return variable(f->name, out);
}

bool dg_field_has_variable(const struct dg_field *f, const char *name, size_t n)
{
    const char *const names[] = {f->name, f->old};
    char text[64];
    for (size_t i = 0; i < 2; i++)
        if (names[i] && strlen(variable(names[i], text)) == n && memcmp(text, name, n) == 0)
            return true;
    return false;
}

/* A variable's value; NULL also where it is empty, as what fills in templates leaves it. */
static const char *value_of(char *(*env)(const char *name), const char *name)
{
    const char *text = env(name);
    return text && text[0] != '\0' ? text : NULL;
}

int dg_fields_from_environment(
    const struct dg_fields *t, char *(*env)(const char *name), struct dg_error *err)
{
    char name[64];
    for (size_t i = 0; i < t->n; i++) {
        const struct dg_field *f = &t->rows[i];
        const char *text = f->kind == DG_FIELD_MARK ? NULL : value_of(env, variable(f->name, name));
        if (!text && f->old)
            text = value_of(env, variable(f->old, name));
        if (!text)
            continue;
        int rc = dg_field_set(f, name, text, t->out, err);
        if (rc)
            return rc;
        if (t->given)
            t->given[i] = DG_FROM_ENVIRONMENT;
    }
    return DG_OK;
}

int dg_fields_check(const struct dg_fields *t, const char *where, struct dg_error *err)
{
    char name[DG_JSON_NAME];
    for (size_t i = 0; i < t->n; i++) {
        const struct dg_field *f = &t->rows[i];
        if (f->kind == DG_FIELD_WORD && !word_at(f, dg_field_whole(f, t->out))) {
            dg_json_name(name, where, f->name);
            return dg_error_field(err, DG_EINVAL, name, "%s is %lld, which is none of its words",
                name, (long long)dg_field_whole(f, t->out));
        }
        bool number = f->kind == DG_FIELD_INT || f->kind == DG_FIELD_REAL;
        double v = !number                   ? f->min
                   : f->kind == DG_FIELD_INT ? (double)dg_field_whole(f, t->out)
                                             : dg_field_real(f, t->out);
        if (!number || (v >= f->min && v <= f->max))
            continue;
        dg_json_name(name, where, f->name);
        return dg_error_field(
            err, DG_EINVAL, name, "%s is %.9g, must be from %.9g to %.9g", name, v, f->min, f->max);
    }
    return DG_OK;
}

static void print_text(const struct dg_field *f, const void *in, struct dg_buffer *b)
{
    const char *text = (const char *)in + f->offset;
    if (f->kind == DG_FIELD_STRING)
        memcpy(&text, text, sizeof text);
    dg_buffer_adds(b, text ? text : "");
}

void dg_field_print(const struct dg_field *f, const void *in, struct dg_buffer *b)
{
    const char *word;
    switch (f->kind) {
    case DG_FIELD_BOOL: dg_buffer_adds(b, dg_field_whole(f, in) ? "true" : "false"); break;
    case DG_FIELD_INT:
    case DG_FIELD_MARK: dg_buffer_addf(b, "%lld", (long long)dg_field_whole(f, in)); break;
    case DG_FIELD_REAL:
    case DG_FIELD_SECONDS: dg_buffer_addf(b, "%.15g", dg_field_real(f, in)); break;
    case DG_FIELD_STRING:
    case DG_FIELD_TEXT: print_text(f, in, b); break;
    case DG_FIELD_WORD:
        word = word_at(f, dg_field_whole(f, in));
        dg_buffer_adds(b, word ? word : "");
        break;
    case DG_FIELD_LIST:
    case DG_FIELD_CUSTOM:
    case DG_FIELD_OTHER: break;
    }
}
