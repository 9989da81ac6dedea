#include "convert/marian/binary.h"

#include "weights/disk.h" /* refuses big-endian hosts */

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, MAX_ITEMS = 8192, MAX_NAME = 256, HEAD_BYTES = 32 };

#define REFUSE(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

struct dg_marian_binary {
    /* Zero where the bytes are borrowed. */
    struct dg_map map;
    /* [n] */
    struct dg_marian_array *items;
    size_t n;
};

static uint64_t u64_of(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static const char *unsupported(uint64_t type)
{
    static const struct {
        uint64_t type;
        const char *name;
    } types[] = {{0x4102, "intgemm16"}, {0x802, "packed16 (fbgemm)"},
        {0x1801, "packed8avx2 (fbgemm)"}, {0x2801, "packed8avx512 (fbgemm)"},
        {0x10001, "intgemm8 of upstream Marian"}, {0x10002, "intgemm16 of upstream Marian"},
        {0x408, "float64"}, {0x102, "int16"}, {0x104, "int32"}, {0x108, "int64"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type)
            return types[i].name;
    return type & 0x10000 ? "intgemm of upstream Marian, for one kind of processor" : "unknown";
}

static int read_type(struct dg_marian_array *it, uint64_t type, struct dg_error *err)
{
    it->half = type == 0x402;
    switch (type) {
    case 0x101: it->type = DG_MARIAN_BYTE; return 0;
    case 0x402:
    case 0x404: it->type = DG_MARIAN_F32; return 0;
    case 0x4101: it->type = DG_MARIAN_S8; return 0;
    default: break;
    }
    return dg_error_field(err, DG_EUNSUP, it->name,
        "item %s has the type 0x%" PRIx64 " (%s); float32, float16, int8 and intgemm8 as Bergamot "
        "and Firefox have it (0x4101) are supported",
        it->name, type, unsupported(type));
}

static int read_shape(struct dg_input_cursor *c, struct dg_marian_array *it, struct dg_error *err)
{
    it->count = 1;
    for (size_t i = 0; i < it->n_dims; i++) {
        const unsigned char *p = dg_input_take(c, sizeof(int32_t));
        int32_t dim;
        if (!p)
            return REFUSE(it->name, "item %s: the file ends within its shape", it->name);
        memcpy(&dim, p, sizeof dim);
        if (dim < 1 || (uint64_t)dim > DG_DISK_MAX_ELEMENTS / it->count)
            return REFUSE(it->name, "item %s: size %zu of its shape is %d", it->name, i + 1, dim);
        it->shape[i] = (uint64_t)dim;
        it->count *= (uint64_t)dim;
    }
    return 0;
}

/* The elements of intgemm8 are followed by their multiplier. */
static int read_data(
    struct dg_input_cursor *c, struct dg_marian_array *it, uint64_t bytes, struct dg_error *err)
{
    const uint64_t elements = dg_marian_array_bytes(it),
                   needed = elements + (it->type == DG_MARIAN_S8 ? sizeof it->multiplier : 0);
    it->data = dg_input_take(c, bytes);
    if (!it->data)
        return REFUSE(
            it->name, "item %s: the file ends within its %" PRIu64 " bytes", it->name, bytes);
    if (bytes < needed)
        return REFUSE(it->name, "item %s: its shape takes %" PRIu64 " bytes, it has %" PRIu64,
            it->name, needed, bytes);
    if (it->type != DG_MARIAN_S8)
        return 0;
    memcpy(&it->multiplier, it->data + elements, sizeof it->multiplier);
    if (!(it->multiplier > 0) || !isfinite(1 / it->multiplier))
        return REFUSE(it->name, "item %s was multiplied by %g", it->name, (double)it->multiplier);
    return 0;
}

static int read_name(
    struct dg_input_cursor *c, struct dg_marian_array *it, uint64_t length, struct dg_error *err)
{
    const unsigned char *p = length < 2 || length > MAX_NAME ? NULL : dg_input_take(c, length);
    if (!p || memchr(p, 0, length) != p + length - 1)
        return REFUSE("bin", "an item's name has %" PRIu64 " bytes, or no NUL at its end", length);
    it->name = (const char *)p;
    return 0;
}

static int read_items(struct dg_marian_binary *b, struct dg_input_cursor c, struct dg_error *err)
{
    const unsigned char *start = dg_input_take(&c, 16), *heads;
    if (!start || u64_of(start) != VERSION)
        return REFUSE("bin", "no binary Marian model of version 1%s",
            start && u64_of(start) == 2 ? ": version 2 is an encrypted one" : "");
    const uint64_t n = u64_of(start + 8);
    if (n < 1 || n > MAX_ITEMS || !(heads = dg_input_take(&c, n * HEAD_BYTES)))
        return REFUSE("bin", "the file says that it has %" PRIu64 " items", n);
    b->items = calloc(n, sizeof *b->items);
    if (!b->items)
        return dg_error_set(err, DG_ENOMEM, "no memory for %" PRIu64 " items", n);
    b->n = n;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = read_name(&c, &b->items[i], u64_of(heads + i * HEAD_BYTES), err);
    for (size_t i = 0; i < n && !rc; i++) {
        const unsigned char *head = heads + i * HEAD_BYTES;
        const uint64_t dims = u64_of(head + 16);
        struct dg_marian_array *it = &b->items[i];
        for (size_t k = 0; k < i && !rc; k++)
            if (strcmp(b->items[k].name, it->name) == 0)
                rc = REFUSE(it->name, "item %s is there twice", it->name);
        if (!rc && dims > 4)
            rc = REFUSE(it->name, "item %s has %" PRIu64 " dimensions", it->name, dims);
        it->n_dims = (size_t)dims;
        if (!rc)
            rc = read_type(it, u64_of(head + 8), err);
        if (!rc)
            rc = read_shape(&c, it, err);
    }
    const unsigned char *padding = rc ? NULL : dg_input_take(&c, 8);
    if (!rc && (!padding || !dg_input_take(&c, u64_of(padding))))
        rc = REFUSE("bin", "the file ends before its items' data");
    for (size_t i = 0; i < n && !rc; i++)
        rc = read_data(&c, &b->items[i], u64_of(heads + i * HEAD_BYTES + 24), err);
    if (!rc && c.at != c.end)
        rc = REFUSE("bin", "%zu bytes follow the last item", (size_t)(c.end - c.at));
    return rc;
}

int dg_marian_binary_open(struct dg_input in, struct dg_marian_binary **out, struct dg_error *err)
{
    struct dg_marian_binary *m = calloc(1, sizeof *m);
    struct dg_input_cursor all;
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for a model file");
    int rc = dg_input_open(&in, &m->map, &all, err);
    if (!rc)
        rc = dg_input_result(&in, read_items(m, all, err), err);
    if (rc)
        dg_marian_binary_close(m);
    else
        *out = m;
    return rc;
}

void dg_marian_binary_close(struct dg_marian_binary *b)
{
    if (!b)
        return;
    dg_file_unmap(&b->map);
    free(b->items);
    free(b);
}

size_t dg_marian_binary_count(const struct dg_marian_binary *b)
{
    return b->n;
}

const struct dg_marian_array *dg_marian_binary_at(const struct dg_marian_binary *b, size_t i)
{
    return i < b->n ? &b->items[i] : NULL;
}
