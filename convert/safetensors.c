#include "convert/safetensors.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "weights/disk.h" /* refuses big-endian hosts */
#include "weights/half.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The limits of the reference implementation. */
#define MAX_HEADER 100000000u
#define MAX_NAME 255

#define REFUSE(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

struct dg_safetensors {
    /* of a file; zeroed when the bytes are borrowed */
    struct dg_map map;
    struct dg_arena arena;
    /* [n] */
    struct dg_safetensor *tensors;
    size_t n;
};

/* The tensors' bytes within the file. */
struct body {
    const unsigned char *data;
    uint64_t size;
};

static int read_type(
    const struct dg_json *o, const char *name, enum dg_type *type, struct dg_error *err)
{
    static const struct {
        const char *word;
        enum dg_type type;
    } types[] = {{"F32", DG_F32}, {"F16", DG_F16}, {"BF16", DG_BF16}};
    const char *word = dg_json_string(dg_json_get(o, "dtype"), NULL);
    if (!word)
        return REFUSE(name, "tensor %s: dtype is missing or no text", name);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(word, types[i].word) == 0) {
            *type = types[i].type;
            return 0;
        }
    }
    return dg_error_field(err, DG_EUNSUP, name,
        "tensor %s: dtype is \"%.20s\", only F32, F16 and BF16 are supported", name, word);
}

/* A whole number of at least `min`; false for anything else. */
static bool take_size(const struct dg_json *v, uint64_t min, uint64_t *out)
{
    if (dg_json_typeof(v) != DG_JSON_INT || dg_json_int(v) < 0)
        return false;
    *out = (uint64_t)dg_json_int(v);
    return *out >= min;
}

static int read_shape(const struct dg_json *o, struct dg_safetensor *t, struct dg_error *err)
{
    const struct dg_json *shape = dg_json_get(o, "shape");
    t->n_dims = dg_json_length(shape);
    t->count = 1;
    if (dg_json_typeof(shape) != DG_JSON_ARRAY || t->n_dims > 4)
        return REFUSE(t->name, "tensor %s: shape is not a list of at most 4 sizes", t->name);
    for (size_t i = 0; i < t->n_dims; i++) {
        if (!take_size(dg_json_at(shape, i), 1, &t->shape[i]))
            return REFUSE(t->name, "tensor %s: size %zu of its shape is not a number above 0",
                t->name, i + 1);
        if (t->shape[i] > DG_DISK_MAX_ELEMENTS / t->count)
            return REFUSE(t->name, "tensor %s: its shape has more than %llu elements", t->name,
                (unsigned long long)DG_DISK_MAX_ELEMENTS);
        t->count *= t->shape[i];
    }
    return 0;
}

static int read_offsets(
    const struct dg_json *o, struct dg_safetensor *t, const struct body *body, struct dg_error *err)
{
    const struct dg_json *offsets = dg_json_get(o, "data_offsets");
    uint64_t begin, end, bytes = t->count * dg_type_bytes(t->type);
    if (dg_json_typeof(offsets) != DG_JSON_ARRAY || dg_json_length(offsets) != 2 ||
        !take_size(dg_json_at(offsets, 0), 0, &begin) ||
        !take_size(dg_json_at(offsets, 1), 0, &end))
        return REFUSE(t->name, "tensor %s: data_offsets is not a pair of offsets", t->name);
    if (begin > end || end > body->size)
        return REFUSE(t->name,
            "tensor %s: data_offsets %llu to %llu, the file has %llu bytes of data", t->name,
            (unsigned long long)begin, (unsigned long long)end, (unsigned long long)body->size);
    if (end - begin != bytes)
        return REFUSE(t->name, "tensor %s: its shape takes %llu bytes, data_offsets hold %llu",
            t->name, (unsigned long long)bytes, (unsigned long long)(end - begin));
    t->data = body->data + begin;
    return 0;
}

static int read_tensor(struct dg_safetensors *s, const char *key, const struct dg_json *o,
    const struct body *body, struct dg_safetensor *t, struct dg_error *err)
{
    static const char *const allowed[] = {"dtype", "shape", "data_offsets", NULL};
    size_t n = strlen(key);
    if (n < 1 || n > MAX_NAME)
        return REFUSE(NULL, "a tensor's name has %zu bytes, expected 1 to %d", n, MAX_NAME);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)key[i] < 0x20 || key[i] == 0x7f)
            return REFUSE(NULL, "tensor %zu: its name holds a control character", s->n + 1);
    }
    t->name = dg_arena_strdup(&s->arena, key);
    if (!t->name)
        return dg_error_set(err, DG_ENOMEM, "no memory for a tensor's name");
    if (dg_json_typeof(o) != DG_JSON_OBJECT)
        return REFUSE(
            key, "tensor %s is %s, expected an object", key, dg_json_type_name(dg_json_typeof(o)));
    if (dg_json_only(o, key, allowed, NULL))
        return REFUSE(key, "tensor %s: more is said than dtype, shape and data_offsets", key);
    int rc = read_type(o, key, &t->type, err);
    if (!rc)
        rc = read_shape(o, t, err);
    return rc ? rc : read_offsets(o, t, body, err);
}

static int compare_places(const void *a, const void *b)
{
    const struct dg_safetensor *x = a, *y = b;
    return x->data < y->data ? -1 : x->data > y->data;
}

/* Each byte belongs to exactly one tensor (none is empty). */
static int check_places(struct dg_safetensors *s, const struct body *body, struct dg_error *err)
{
    uint64_t at = 0;
    if (s->n)
        qsort(s->tensors, s->n, sizeof *s->tensors, compare_places);
    for (size_t i = 0; i < s->n; i++) {
        const struct dg_safetensor *t = &s->tensors[i];
        uint64_t begin = (uint64_t)(t->data - body->data);
        if (begin != at)
            return REFUSE(t->name, "tensor %s begins at byte %llu of the data, expected %llu",
                t->name, (unsigned long long)begin, (unsigned long long)at);
        at += t->count * dg_type_bytes(t->type);
    }
    if (at != body->size)
        return REFUSE(NULL, "the tensors take %llu bytes, the file has %llu bytes of data",
            (unsigned long long)at, (unsigned long long)body->size);
    return 0;
}

static int read_header(struct dg_safetensors *s, const struct dg_json *header,
    const struct body *body, struct dg_error *err)
{
    if (dg_json_typeof(header) != DG_JSON_OBJECT)
        return REFUSE(NULL, "the header is %s, expected an object",
            dg_json_type_name(dg_json_typeof(header)));
    size_t most = dg_json_length(header);
    s->tensors = dg_arena_array(&s->arena, most, sizeof *s->tensors);
    if (!s->tensors)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu tensors", most);
    for (const char *k = dg_json_next_key(header, NULL); k; k = dg_json_next_key(header, k)) {
        const struct dg_json *o = dg_json_get(header, k);
        if (strcmp(k, "__metadata__") == 0) {
            if (dg_json_typeof(o) != DG_JSON_OBJECT)
                return REFUSE(NULL, "__metadata__ is not an object");
            continue;
        }
        int rc = read_tensor(s, k, o, body, &s->tensors[s->n], err);
        if (rc)
            return rc;
        s->n++;
    }
    if (!s->n)
        return REFUSE(NULL, "there is no tensor in it");
    return check_places(s, body, err);
}

static int open_bytes(
    struct dg_safetensors *s, const unsigned char *data, size_t size, struct dg_error *err)
{
    uint64_t n = 0;
    if (size < 8)
        return REFUSE(NULL, "%zu bytes are not a safetensors file", size);
    memcpy(&n, data, 8);
    if (n > MAX_HEADER || n > size - 8)
        return REFUSE(NULL, "the header has %llu bytes, the file %zu: no safetensors file",
            (unsigned long long)n, size);
    if (n < 2 || data[8] != '{')
        return REFUSE(NULL, "the header does not begin with '{': no safetensors file");
    struct dg_error why = {0};
    struct dg_json *header = dg_json_parse((const char *)data + 8, n, &why);
    if (!header)
        return dg_error_set(
            err, why.code == DG_ENOMEM ? DG_ENOMEM : DG_EFORMAT, "header: %s", why.message);
    struct body body = {data + 8 + n, size - 8 - n};
    int rc = read_header(s, header, &body, err);
    dg_json_free(header);
    return rc;
}

int dg_safetensors_open(struct dg_input in, struct dg_safetensors **out, struct dg_error *err)
{
    struct dg_safetensors *s = calloc(1, sizeof *s);
    struct dg_input_cursor all;
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a safetensors file");
    dg_arena_init(&s->arena, 0);
    int rc = dg_input_open(&in, &s->map, &all, err);
    if (!rc)
        rc = dg_input_result(&in, open_bytes(s, all.at, (size_t)(all.end - all.at), err), err);
    if (rc)
        dg_safetensors_close(s);
    else
        *out = s;
    return rc;
}

void dg_safetensors_close(struct dg_safetensors *s)
{
    if (!s)
        return;
    dg_file_unmap(&s->map);
    dg_arena_deinit(&s->arena);
    free(s);
}

size_t dg_safetensors_count(const struct dg_safetensors *s)
{
    return s->n;
}

const struct dg_safetensor *dg_safetensors_at(const struct dg_safetensors *s, size_t i)
{
    return i < s->n ? &s->tensors[i] : NULL;
}

void dg_safetensors_read(const struct dg_safetensor *t, float *dst)
{
    if (t->type == DG_F32) {
        memcpy(dst, t->data, t->count * sizeof *dst);
        return;
    }
    for (uint64_t i = 0; i < t->count; i++) {
        uint16_t h;
        memcpy(&h, t->data + 2 * i, 2);
        dst[i] = t->type == DG_F16 ? dg_f16_to_f32(h) : dg_bf16_to_f32(h);
    }
}
