#include "convert/ctranslate2/reader.h"

#include "weights/disk.h" /* refuses big-endian hosts */
#include "weights/half.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIABLES = 16384, MAX_NAME = 1024 };

#define REFUSE(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

struct alias {
    const char *name, *of;
};

struct dg_ct2 {
    /* Zero where the bytes are borrowed. */
    struct dg_map map;
    uint32_t version;
    const char *spec;
    /* [n] */
    struct dg_ct2_variable *list;
    size_t n;
    /* [n_aliases] */
    struct alias *aliases;
    size_t n_aliases;
};

static bool take_u32(struct dg_input_cursor *c, uint32_t *out)
{
    const unsigned char *p = dg_input_take(c, sizeof *out);
    if (p)
        memcpy(out, p, sizeof *out);
    return p != NULL;
}

/* Take a text; NULL when it is cut, empty, or has no NUL at its end or another one before. */
static const char *take_text(struct dg_input_cursor *c)
{
    const unsigned char *p = dg_input_take(c, 2);
    uint16_t n;
    if (!p)
        return NULL;
    memcpy(&n, p, sizeof n);
    p = n < 2 || n > MAX_NAME ? NULL : dg_input_take(c, n);
    return p && memchr(p, 0, n) == p + n - 1 ? (const char *)p : NULL;
}

static size_t element_bytes(enum dg_ct2_type type)
{
    static const size_t bytes[] = {4, 1, 2, 4, 2, 2};
    return bytes[type];
}

static int read_variable(struct dg_input_cursor *c, struct dg_ct2_variable *v, struct dg_error *err)
{
    const unsigned char *p;
    uint32_t bytes;
    v->name = take_text(c);
    if (!v->name || !(p = dg_input_take(c, 1)) || *p > 4)
        return REFUSE(v->name, "a variable's name or rank is cut, or its rank is above 4");
    v->n_dims = *p;
    v->count = 1;
    for (size_t i = 0; i < v->n_dims; i++) {
        uint32_t size;
        if (!take_u32(c, &size) || !size || size > DG_DISK_MAX_ELEMENTS / v->count)
            return REFUSE(v->name, "variable %s: its shape is cut or impossible", v->name);
        v->shape[i] = size;
        v->count *= size;
    }
    if (!(p = dg_input_take(c, 1)) || *p > DG_CT2_BF16 || !take_u32(c, &bytes))
        return REFUSE(v->name, "variable %s: its type is cut or unknown", v->name);
    v->type = (enum dg_ct2_type) * p;
    if (bytes != v->count * element_bytes(v->type) || !(v->data = dg_input_take(c, bytes)))
        return REFUSE(v->name, "variable %s: its shape takes %" PRIu64 " bytes, the file has %u",
            v->name, v->count * element_bytes(v->type), bytes);
    return 0;
}

static int read_all(struct dg_ct2 *m, struct dg_input_cursor c, struct dg_error *err)
{
    uint32_t revision, n;
    if (!take_u32(&c, &m->version) || m->version < 4 || m->version > 6)
        return dg_error_field(err, DG_EUNSUP, "model.bin",
            "no model.bin of CTranslate2 of version 4 to 6 (older ones: convert them again)");
    m->spec = take_text(&c);
    if (!m->spec || !take_u32(&c, &revision) || !take_u32(&c, &n) || n < 1 || n > MAX_VARIABLES)
        return REFUSE("model.bin", "its header is cut short, or it has too many variables");
    m->list = calloc(n, sizeof *m->list);
    if (!m->list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u variables", n);
    int rc = 0;
    for (; m->n < n && !rc; m->n++) {
        rc = read_variable(&c, &m->list[m->n], err);
        for (size_t i = 0; i < m->n && !rc; i++)
            if (strcmp(m->list[i].name, m->list[m->n].name) == 0)
                rc = REFUSE(m->list[i].name, "variable %s is there twice", m->list[i].name);
    }
    if (rc)
        return rc;
    if (!take_u32(&c, &n) || n > MAX_VARIABLES)
        return REFUSE("model.bin", "its list of aliases is cut or too long");
    m->aliases = calloc(n ? n : 1, sizeof *m->aliases);
    if (!m->aliases)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u aliases", n);
    for (; m->n_aliases < n; m->n_aliases++) {
        struct alias *a = &m->aliases[m->n_aliases];
        a->name = take_text(&c);
        a->of = a->name ? take_text(&c) : NULL;
        if (!a->of)
            return REFUSE("model.bin", "an alias is cut");
    }
    return c.at == c.end ? 0 : REFUSE("model.bin", "bytes follow the last alias");
}

int dg_ct2_open(struct dg_input in, struct dg_ct2 **out, struct dg_error *err)
{
    struct dg_ct2 *m = calloc(1, sizeof *m);
    struct dg_input_cursor all;
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for a model file");
    int rc = dg_input_open(&in, &m->map, &all, err);
    if (!rc)
        rc = dg_input_result(&in, read_all(m, all, err), err);
    if (rc)
        dg_ct2_close(m);
    else
        *out = m;
    return rc;
}

void dg_ct2_close(struct dg_ct2 *m)
{
    if (!m)
        return;
    dg_file_unmap(&m->map);
    free(m->list);
    free(m->aliases);
    free(m);
}

uint32_t dg_ct2_version(const struct dg_ct2 *m)
{
    return m->version;
}

const char *dg_ct2_spec(const struct dg_ct2 *m)
{
    return m->spec;
}

size_t dg_ct2_count(const struct dg_ct2 *m)
{
    return m->n;
}

const struct dg_ct2_variable *dg_ct2_at(const struct dg_ct2 *m, size_t i)
{
    return i < m->n ? &m->list[i] : NULL;
}

static const struct dg_ct2_variable *find_own(const struct dg_ct2 *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->list[i].name, name) == 0)
            return &m->list[i];
    return NULL;
}

const struct dg_ct2_variable *dg_ct2_find(const struct dg_ct2 *m, const char *name)
{
    const struct dg_ct2_variable *v = find_own(m, name);
    char other[MAX_NAME + 16];
    for (size_t i = 0; i < m->n_aliases && !v; i++) {
        const size_t n = strlen(m->aliases[i].name);
        if (strncmp(name, m->aliases[i].name, n) == 0 &&
            (!name[n] || strcmp(name + n, "_scale") == 0)) {
            snprintf(other, sizeof other, "%s%s", m->aliases[i].of, name + n);
            v = find_own(m, other);
        }
    }
    return v;
}

void dg_ct2_read(const struct dg_ct2_variable *v, float *dst)
{
    for (uint64_t i = 0; i < v->count; i++) {
        const unsigned char *p = v->data + i * element_bytes(v->type);
        uint16_t half;
        int16_t word;
        int32_t whole;
        memcpy(&half, p, v->type == DG_CT2_S8 ? 1 : sizeof half);
        switch (v->type) {
        case DG_CT2_F32: memcpy(&dst[i], p, sizeof dst[i]); break;
        case DG_CT2_S8: dst[i] = *(const int8_t *)p; break;
        case DG_CT2_S16: memcpy(&word, p, sizeof word), dst[i] = word; break;
        case DG_CT2_S32: memcpy(&whole, p, sizeof whole), dst[i] = (float)whole; break;
        case DG_CT2_F16: dst[i] = dg_f16_to_f32(half); break;
        case DG_CT2_BF16: dst[i] = dg_bf16_to_f32(half); break;
        }
    }
}
