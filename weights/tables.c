/* Reads the header and the tables of a weights file, and checks every field against the layout in
 * FORMAT.md. The tensors' data is not touched until it is used (or verified). */
#include "weights/disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(size_t) == 8, "sizes of files are kept in size_t");

/* Position in the header's tables. */
struct cursor {
    uint32_t name, form;
    /* offset at which the next block of data must begin */
    uint64_t block;
};

#define REFUSE(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

static int check_identity(const struct dg_disk_header *h, size_t size, struct dg_error *err)
{
    if (memcmp(h->magic, DG_DISK_MAGIC, sizeof h->magic) != 0)
        return REFUSE("magic", "header: magic is not that of a weights file");
    if (h->endian != DG_DISK_ENDIAN)
        return REFUSE(
            "endian", "header: endian is 0x%08x, expected 0x%08x", h->endian, DG_DISK_ENDIAN);
    if (h->version != DG_DISK_VERSION)
        return dg_error_field(err, DG_EUNSUP, "version",
            "header: version is %u, this program reads %u", h->version, DG_DISK_VERSION);
    if (h->file_bytes != size)
        return REFUSE("file_bytes", "header: file_bytes is %llu, but the file has %zu",
            (unsigned long long)h->file_bytes, size);
    return 0;
}

static int check_counts(const struct dg_disk_header *h, size_t size, struct dg_error *err)
{
    if (h->tensor_count < 1 || h->tensor_count > DG_DISK_MAX_TENSORS)
        return REFUSE("tensor_count", "header: tensor_count is %u, expected 1 to %u",
            h->tensor_count, DG_DISK_MAX_TENSORS);
    if (h->form_count < h->tensor_count || h->form_count / DG_MAX_FORMS > h->tensor_count)
        return REFUSE("form_count", "header: form_count is %u for a tensor_count of %u",
            h->form_count, h->tensor_count);
    if (h->reserved0 != 0)
        return REFUSE("reserved0", "header: reserved0 is %u, expected 0", h->reserved0);
    if (h->reserved1 != 0)
        return REFUSE(
            "reserved1", "header: reserved1 is %llu, expected 0", (unsigned long long)h->reserved1);
    /* At most 2^32 entries of 64 bytes: no overflow in 64 bits. */
    uint64_t expected =
        dg_disk_align(sizeof *h + (uint64_t)h->tensor_count * sizeof(struct dg_disk_tensor) +
                      (uint64_t)h->form_count * sizeof(struct dg_disk_form) + h->names_bytes);
    if (h->header_bytes != expected)
        return REFUSE("header_bytes",
            "header: header_bytes is %llu, but tensor_count %u, form_count %u and names_bytes %u "
            "take %llu",
            (unsigned long long)h->header_bytes, h->tensor_count, h->form_count, h->names_bytes,
            (unsigned long long)expected);
    if (h->header_bytes > size)
        return REFUSE("header_bytes", "header: header_bytes is %llu, more than the file's %zu",
            (unsigned long long)h->header_bytes, size);
    return 0;
}

int dg_disk_read_header(struct dg_weights *w, struct dg_error *err)
{
    struct dg_disk_header *h = &w->header;
    if (w->size < sizeof *h)
        return REFUSE("file_bytes", "header: the file has %zu bytes, the header alone takes %zu",
            w->size, sizeof *h);
    memcpy(h, w->data, sizeof *h);
    int rc = check_identity(h, w->size, err);
    if (!rc)
        rc = check_counts(h, w->size, err);
    if (rc)
        return rc;
    uint64_t sum = dg_disk_header_checksum(w->data, h->header_bytes);
    if (sum != h->header_checksum)
        return REFUSE("header_checksum",
            "header: header_checksum is %016llx, its bytes give %016llx",
            (unsigned long long)h->header_checksum, (unsigned long long)sum);
    /* The mapping is aligned and both kinds of entry are multiples of 8 bytes, so they can be read
     * in place. */
    w->entries = (const void *)(w->data + sizeof *h);
    w->forms = (const void *)(w->entries + h->tensor_count);
    w->names = (const char *)(w->forms + h->form_count);
    for (const unsigned char *p = (const unsigned char *)w->names + h->names_bytes;
         p < w->data + h->header_bytes; p++) {
        if (*p)
            return REFUSE("padding", "header: padding at byte %zu is %u, expected 0",
                (size_t)(p - w->data), *p);
    }
    return 0;
}

/* Check the entries' own counts, and that they add up to the header's: then every name and form is
 * within its table, and a wrong tensor_count cannot make a form pass for a tensor. */
static int check_totals(const struct dg_weights *w, struct dg_error *err)
{
    const struct dg_disk_header *h = &w->header;
    uint64_t names = 0, forms = 0;
    for (uint32_t i = 0; i < h->tensor_count; i++) {
        names += (uint64_t)w->entries[i].name_bytes + 1;
        forms += w->entries[i].form_count;
    }
    if (names != h->names_bytes || forms != h->form_count)
        return REFUSE("tensor_count",
            "header: tensor_count is %u, names_bytes %u and form_count %u, but the entries' "
            "name_bytes and "
            "form_count add up to %llu and %llu",
            h->tensor_count, h->names_bytes, h->form_count, (unsigned long long)names,
            (unsigned long long)forms);
    for (uint32_t i = 0; i < h->tensor_count; i++) {
        const struct dg_disk_tensor *t = &w->entries[i];
        if (t->name_bytes < 1 || t->name_bytes > DG_DISK_MAX_NAME)
            return REFUSE("name_bytes", "tensor %u: name_bytes is %u, expected 1 to %u", i,
                t->name_bytes, DG_DISK_MAX_NAME);
        if (t->form_count < 1 || t->form_count > DG_MAX_FORMS)
            return REFUSE("form_count", "tensor %u: form_count is %u, expected 1 to %d", i,
                t->form_count, DG_MAX_FORMS);
    }
    return 0;
}

static int check_name(
    const struct dg_weights *w, uint32_t i, const struct cursor *at, struct dg_error *err)
{
    const struct dg_disk_tensor *t = &w->entries[i];
    const char *name = w->names + at->name;
    if (t->name_offset != at->name)
        return REFUSE("name_offset", "tensor %u: name_offset is %u, expected %u", i, t->name_offset,
            at->name);
    if (name[t->name_bytes] != '\0')
        return REFUSE("name_bytes", "tensor %u: name_bytes is %u, but no NUL follows there", i,
            t->name_bytes);
    if (!dg_disk_name_ok(name, t->name_bytes))
        return REFUSE(
            "name", "tensor %u: name holds a byte that is not a printable ASCII character", i);
    return 0;
}

static int check_shape(const struct dg_disk_tensor *t, const struct dg_weights *w,
    const struct cursor *at, struct dg_error *err)
{
    const char *name = w->names + at->name;
    if (t->rows < 1 || t->rows > DG_DISK_MAX_DIM)
        return REFUSE("rows", "tensor %s: rows is %llu, expected 1 to %u", name,
            (unsigned long long)t->rows, DG_DISK_MAX_DIM);
    if (t->cols < 1 || t->cols > DG_DISK_MAX_DIM)
        return REFUSE("cols", "tensor %s: cols is %llu, expected 1 to %u", name,
            (unsigned long long)t->cols, DG_DISK_MAX_DIM);
    if (t->rows > DG_DISK_MAX_ELEMENTS / t->cols)
        return REFUSE("rows", "tensor %s: rows %llu times cols %llu is too large", name,
            (unsigned long long)t->rows, (unsigned long long)t->cols);
    if (t->first_form != at->form)
        return REFUSE("first_form", "tensor %s: first_form is %u, expected %u", name, t->first_form,
            at->form);
    return 0;
}

/* Check that a block of data begins where the one before it ended, rounded up, and ends within the
 * file. */
static int check_block(const char *what, const char *which, uint64_t offset, uint64_t bytes,
    struct dg_weights *w, struct cursor *at, struct dg_error *err)
{
    char field[32];
    snprintf(field, sizeof field, "%s_offset", which);
    if (offset != at->block)
        return REFUSE(field, "%s: %s is %llu, expected %llu", what, field,
            (unsigned long long)offset, (unsigned long long)at->block);
    snprintf(field, sizeof field, "%s_bytes", which);
    if (bytes < 1 || at->block > w->size || bytes > w->size - at->block)
        return REFUSE(field, "%s: %s is %llu at offset %llu of a file of %zu", what, field,
            (unsigned long long)bytes, (unsigned long long)offset, w->size);
    at->block = dg_disk_align(at->block + bytes);
    return 0;
}

static int check_scales(const char *what, const struct dg_disk_form *f, uint64_t rows,
    struct dg_weights *w, struct cursor *at, struct dg_error *err)
{
    uint64_t expected = f->type == DG_S8 ? rows * sizeof(float) : 0;
    if (f->scales_bytes != expected)
        return REFUSE("scales_bytes", "%s: scales_bytes is %llu, expected %llu", what,
            (unsigned long long)f->scales_bytes, (unsigned long long)expected);
    if (expected)
        return check_block(what, "scales", f->scales_offset, f->scales_bytes, w, at, err);
    if (f->scales_offset)
        return REFUSE("scales_offset", "%s: scales_offset is %llu, expected 0 (no scales)", what,
            (unsigned long long)f->scales_offset);
    if (f->scales_checksum)
        return REFUSE("scales_checksum", "%s: scales_checksum is %016llx, expected 0 (no scales)",
            what, (unsigned long long)f->scales_checksum);
    return 0;
}

/* Check that type and layout are valid and differ from those of earlier forms. */
static int check_kind(
    const char *what, const struct dg_disk_form *first, uint32_t j, struct dg_error *err)
{
    const struct dg_disk_form *f = &first[j];
    if (!dg_type_bytes(f->type))
        return REFUSE("type", "%s: type is %u, which is none of f32, f16, bf16, s8", what, f->type);
    if (j == 0 && f->layout != DG_LAYOUT_ROWS)
        return REFUSE(
            "layout", "%s: layout is %u, the first form must be row-major (0)", what, f->layout);
    for (uint32_t i = 0; i < j; i++) {
        if (first[i].layout == f->layout && first[i].type == f->type)
            return REFUSE("layout", "%s: type %s in layout %u is there twice", what,
                dg_weights_type_name(f->type), f->layout);
    }
    if (f->reserved)
        return REFUSE(
            "reserved", "%s: reserved is %llu, expected 0", what, (unsigned long long)f->reserved);
    return 0;
}

/* Read form j of a tensor, into *t if its layout is known. */
static int read_form(struct dg_weights *w, struct dg_tensor *t, const struct dg_disk_tensor *entry,
    uint32_t j, struct cursor *at, struct dg_error *err)
{
    const struct dg_disk_form *first = w->forms + entry->first_form, *f = &first[j];
    char what[DG_DISK_MAX_NAME + 32];
    snprintf(what, sizeof what, "tensor %s, form %u", t->name, j);
    int rc = check_kind(what, first, j, err);
    if (rc)
        return rc;
    uint64_t expected;
    bool known = dg_disk_data_bytes(f->type, f->layout, entry->rows, entry->cols, &expected);
    if (known && f->data_bytes != expected)
        return REFUSE("data_bytes",
            "%s: data_bytes is %llu, but rows %llu x cols %llu in type %s, layout %u take %llu",
            what, (unsigned long long)f->data_bytes, (unsigned long long)entry->rows,
            (unsigned long long)entry->cols, dg_weights_type_name(f->type), f->layout,
            (unsigned long long)expected);
    rc = check_block(what, "data", f->data_offset, f->data_bytes, w, at, err);
    if (!rc)
        rc = check_scales(what, f, entry->rows, w, at, err);
    if (rc)
        return rc;
    if (!known)
        return 0;
    t->bytes[t->n_stored] = f->data_bytes;
    t->stored[t->n_stored++] = (struct dg_stored){
        .type = f->type,
        .layout = f->layout,
        .data = w->data + f->data_offset,
        .scales = f->scales_bytes ? (const void *)(w->data + f->scales_offset) : NULL,
    };
    return 0;
}

static int read_tensor(struct dg_weights *w, uint32_t i, struct cursor *at, struct dg_error *err)
{
    const struct dg_disk_tensor *entry = &w->entries[i];
    struct dg_tensor *t = &w->tensors[i];
    int rc = check_name(w, i, at, err);
    if (!rc)
        rc = check_shape(entry, w, at, err);
    if (rc)
        return rc;
    t->name = w->names + at->name;
    t->shape[0] = entry->rows;
    t->shape[1] = entry->cols;
    for (uint32_t j = 0; j < entry->form_count && !rc; j++)
        rc = read_form(w, t, entry, j, at, err);
    at->name += entry->name_bytes + 1;
    at->form += entry->form_count;
    return rc;
}

static int compare_names(const void *a, const void *b)
{
    const struct dg_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Sort the names for dg_weights_find; duplicates are refused. */
static int index_names(struct dg_weights *w, struct dg_error *err)
{
    size_t n = w->header.tensor_count;
    for (size_t i = 0; i < n; i++)
        w->by_name[i] = &w->tensors[i];
    qsort(w->by_name, n, sizeof *w->by_name, compare_names);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(w->by_name[i - 1]->name, w->by_name[i]->name) == 0)
            return REFUSE("name", "tensor %s: name is there twice", w->by_name[i]->name);
    }
    return 0;
}

int dg_disk_read_tables(struct dg_weights *w, struct dg_error *err)
{
    const struct dg_disk_header *h = &w->header;
    int rc = check_totals(w, err);
    if (rc)
        return rc;
    /* The size is bounded by the file's, as every entry was checked to be within it. */
    w->tensors = calloc(h->tensor_count, sizeof *w->tensors);
    w->by_name = calloc(h->tensor_count, sizeof *w->by_name);
    if (!w->tensors || !w->by_name)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u tensors", h->tensor_count);
    struct cursor at = {.block = h->header_bytes};
    for (uint32_t i = 0; i < h->tensor_count && !rc; i++)
        rc = read_tensor(w, i, &at, err);
    if (rc)
        return rc;
    if (at.block != h->file_bytes)
        return REFUSE("file_bytes", "header: file_bytes is %llu, the last block ends at %llu",
            (unsigned long long)h->file_bytes, (unsigned long long)at.block);
    return index_names(w, err);
}
