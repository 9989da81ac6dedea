/* DESIGN. struct dg_json is jansson's json_t under another name: only this file casts and calls
 * jansson. Typed field readers are in json_field.c and use only what json.h offers. */
#include "base/json.h"

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_spare.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define MAX_DEPTH 64
#define REAL_DIGITS 9     /* digits that restore any float exactly */
#define CHECK_BYTES 65536 /* bytes of text between two checks: a third of a millisecond */

static json_t *raw(const struct dg_json *v)
{
    return (json_t *)(uintptr_t)v;
}

static struct dg_json *wrap(json_t *v)
{
    return (struct dg_json *)v;
}

/* jansson's own depth limit is fixed at 2048 when it is built; ours is checked before it runs. For
 * text that is JSON the count is exact; for other text a wrong count does no harm, because the
 * parser refuses it anyway. */
static int check_depth(const char *s, size_t n, struct dg_error *err)
{
    size_t depth = 0, line = 1, line_start = 0;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '\n') {
            line++;
            line_start = i + 1;
        } else if (c == '"') {
            i = dg_json_scan_string(s, n, i); /* strings contain no line ends */
        } else if (c == '[' || c == '{') {
            if (++depth > MAX_DEPTH)
                return dg_error_set(err, DG_EINVAL,
                    "line %zu column %zu: nested deeper than %d arrays and objects", line,
                    i - line_start + 1, MAX_DEPTH);
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return 0;
}

static void parse_error(json_error_t *e, struct dg_error *err)
{
    /* jansson quotes the text it stopped at; that is the user's text, and line and column say
     * where. A key that occurs twice is the exception, because its name is the whole message. */
    char *near = strstr(e->text, " near '");
    if (near && json_error_code(e) != json_error_duplicate_key)
        *near = '\0';
    dg_error_set(err, DG_EINVAL, "line %d column %d: %s", e->line, e->column, e->text);
}

__attribute__((constructor)) static void set_functions(void)
{
    json_set_alloc_funcs(dg_json_spare_malloc, dg_json_spare_free);
}

struct text {
    const char *s;
    size_t n, at; /* bytes; of these, bytes read so far */
    const struct dg_json_check *check;
    size_t check_at;
    struct dg_error why; /* the check's error */
};

static bool is_ended(struct text *text)
{
    if (text->check && text->why.code == DG_OK && text->at >= text->check_at) {
        text->check_at = text->at + CHECK_BYTES;
        text->check->check(text->check->arg, &text->why);
    }
    return text->why.code != DG_OK;
}

/* Give jansson the next part of the text; nothing more once memory ran out or the check failed. */
static size_t next_part(void *to, size_t room, void *arg)
{
    struct text *text = arg;
    size_t n = text->n - text->at;
    n = dg_json_spare_used() || is_ended(text) ? 0 : n < room ? n : room;
    n = n < DG_JSON_SPARE_STEP ? n : DG_JSON_SPARE_STEP;
    memcpy(to, text->s + text->at, n);
    text->at += n;
    return n;
}

struct dg_json *dg_json_parse(const char *s, size_t n, struct dg_error *err)
{
    return dg_json_parse_checked(s, n, NULL, err);
}

struct dg_json *dg_json_parse_checked(
    const char *s, size_t n, const struct dg_json_check *check, struct dg_error *err)
{
    json_error_t e;
    struct text text = {.s = s, .n = n, .check = check, .check_at = CHECK_BYTES};
    if (!s || n == 0) {
        dg_error_set(err, DG_EINVAL, "line 1 column 0: empty, expected JSON");
        return NULL;
    }
    if (check_depth(s, n, err))
        return NULL;
    json_t *v = NULL;
    bool memory = dg_json_spare_begin(n);
    if (memory)
        v = json_load_callback(
            next_part, &text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    memory = memory && !dg_json_spare_used();
    if (!memory || text.why.code != DG_OK) {
        json_decref(v); /* incomplete: made without memory, or from a part of the text */
        v = NULL;
    }
    if (!memory) {
        dg_error_set(err, DG_ENOMEM, "out of memory while parsing JSON");
    } else if (text.why.code != DG_OK) {
        dg_error_set(err, text.why.code, "%s", text.why.message);
    } else if (!v) {
        parse_error(&e, err);
    }
    dg_json_spare_end();
    return wrap(v);
}

struct dg_json *dg_json_load(const char *path, struct dg_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const size_t n = sizeof mark - 1;
    struct dg_buffer b = {0};
    struct dg_error why = {0};
    struct dg_json *v = NULL;
    if (dg_file_read(path, &b, err) == 0) {
        const size_t skip = b.len >= n && !memcmp(b.data, mark, n) ? n : 0;
        v = dg_json_parse(skip ? b.data + skip : b.data, b.len - skip, &why);
        if (!v)
            dg_error_set(
                err, why.code == DG_EINVAL ? DG_EFORMAT : why.code, "%s: %s", path, why.message);
    }
    dg_buffer_deinit(&b);
    return v;
}

void dg_json_free(struct dg_json *v)
{
    json_decref(raw(v));
}

enum dg_json_type dg_json_typeof(const struct dg_json *v)
{
    if (!v)
        return DG_JSON_NULL;
    switch (json_typeof(raw(v))) {
    case JSON_OBJECT: return DG_JSON_OBJECT;
    case JSON_ARRAY: return DG_JSON_ARRAY;
    case JSON_STRING: return DG_JSON_STRING;
    case JSON_INTEGER: return DG_JSON_INT;
    case JSON_REAL: return DG_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE: return DG_JSON_BOOL;
    default: return DG_JSON_NULL;
    }
}

const char *dg_json_type_name(enum dg_json_type type)
{
    switch (type) {
    case DG_JSON_BOOL: return "true or false";
    case DG_JSON_INT: return "an integer";
    case DG_JSON_REAL: return "a number";
    case DG_JSON_STRING: return "a string";
    case DG_JSON_ARRAY: return "an array";
    case DG_JSON_OBJECT: return "an object";
    default: return "null";
    }
}

struct dg_json *dg_json_get(const struct dg_json *object, const char *key)
{
    return wrap(json_object_get(raw(object), key));
}

size_t dg_json_length(const struct dg_json *v)
{
    return json_is_object(raw(v)) ? json_object_size(raw(v)) : json_array_size(raw(v));
}

struct dg_json *dg_json_at(const struct dg_json *array, size_t i)
{
    return wrap(json_array_get(raw(array), i));
}

const char *dg_json_string(const struct dg_json *v, size_t *len)
{
    const char *s = json_string_value(raw(v));
    size_t n = json_string_length(raw(v));
    if (len)
        *len = n;
    else if (s && strlen(s) != n)
        return NULL; /* a caller that takes no length would see it cut at the NUL */
    return s;
}

bool dg_json_bool(const struct dg_json *v)
{
    return json_is_true(raw(v));
}

int64_t dg_json_int(const struct dg_json *v)
{
    return json_integer_value(raw(v));
}

double dg_json_number(const struct dg_json *v)
{
    return json_number_value(raw(v));
}

const char *dg_json_next_key(const struct dg_json *object, const char *key)
{
    json_t *o = raw(object);
    void *at = key ? json_object_iter_at(o, key) : json_object_iter(o);
    if (key && at)
        at = json_object_iter_next(o, at);
    return at ? json_object_iter_key(at) : NULL;
}

void dg_json_begin(void)
{
    (void)dg_json_spare_lost();
}

bool dg_json_lost(void)
{
    return dg_json_spare_lost();
}

struct dg_json *dg_json_new_object(void)
{
    return wrap(json_object());
}

struct dg_json *dg_json_new_array(void)
{
    return wrap(json_array());
}

struct dg_json *dg_json_new_string(const char *s, size_t n)
{
    return wrap(json_stringn(s ? s : "", s ? n : 0));
}

struct dg_json *dg_json_new_int(int64_t v)
{
    return wrap(json_integer(v));
}

struct dg_json *dg_json_new_real(double v)
{
    return wrap(isfinite(v) ? json_real(v) : json_null());
}

struct dg_json *dg_json_new_bool(bool v)
{
    return wrap(json_boolean(v));
}

struct dg_json *dg_json_new_null(void)
{
    return wrap(json_null());
}

struct dg_json *dg_json_copy(const struct dg_json *v)
{
    return wrap(json_deep_copy(raw(v)));
}

int dg_json_set_take(struct dg_json *object, const char *key, struct dg_json *v)
{
    return json_object_set_new(raw(object), key, raw(v));
}

void dg_json_remove(struct dg_json *object, const char *key)
{
    json_object_del(raw(object), key);
}

struct dg_json *dg_json_detach(struct dg_json *object, const char *key)
{
    json_t *v = json_incref(json_object_get(raw(object), key));
    json_object_del(raw(object), key);
    return wrap(v);
}

int dg_json_append_take(struct dg_json *array, struct dg_json *v)
{
    return json_array_append_new(raw(array), raw(v));
}

int dg_json_set_string(struct dg_json *object, const char *key, const char *s)
{
    return dg_json_set_take(object, key, s ? dg_json_new_string(s, strlen(s)) : NULL);
}

int dg_json_set_int(struct dg_json *object, const char *key, int64_t v)
{
    return dg_json_set_take(object, key, dg_json_new_int(v));
}

int dg_json_set_real(struct dg_json *object, const char *key, double v)
{
    return dg_json_set_take(object, key, dg_json_new_real(v));
}

int dg_json_set_bool(struct dg_json *object, const char *key, bool v)
{
    return dg_json_set_take(object, key, dg_json_new_bool(v));
}

static int add_to_buffer(const char *s, size_t n, void *b)
{
    dg_buffer_add(b, s, n);
    return ((struct dg_buffer *)b)->failed ? -1 : 0;
}

static int dump(const struct dg_json *v, int indent, size_t digits, struct dg_buffer *b)
{
    const size_t layout = indent > 0 ? JSON_INDENT((size_t)indent) : JSON_COMPACT;
    const bool lost = dg_json_spare_lost();
    int rc = v && !lost ? json_dump_callback(raw(v), add_to_buffer, b,
                              layout | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits))
                        : -1;
    (void)dg_json_spare_lost(); /* rc reports it now */
    if (v && rc != 0)
        b->failed = true;
    return rc;
}

int dg_json_write(const struct dg_json *v, int indent, struct dg_buffer *b)
{
    return dump(v, indent, REAL_DIGITS, b);
}

int dg_json_write_exact(const struct dg_json *v, int indent, struct dg_buffer *b)
{
    return dump(v, indent, 17, b);
}

int dg_json_save(const char *path, const struct dg_json *v, struct dg_error *err)
{
    struct dg_buffer b = {0};
    int rc = dg_json_write(v, 2, &b) || b.failed
                 ? dg_error_set(err, DG_ENOMEM, "no memory for %s", path)
                 : dg_file_write(path, b.data, b.len, err);
    dg_buffer_deinit(&b);
    return rc;
}

bool dg_json_same(const struct dg_json *a, const struct dg_json *b)
{
    struct dg_buffer x = {0}, y = {0};
    const bool same = !dg_json_write(a, 0, &x) && !dg_json_write(b, 0, &y) && x.len == y.len &&
                      !memcmp(x.data, y.data, x.len);
    dg_buffer_deinit(&x);
    dg_buffer_deinit(&y);
    return same;
}
