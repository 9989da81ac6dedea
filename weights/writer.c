/* Writes a weights file: collects tensors in memory, then makes the header and writes everything
 * under a temporary name, syncs and renames. */
#include "base/array.h"
#include "base/buffer.h"
#include "weights/disk.h"
#include "weights/half.h"

#include <stdlib.h>
#include <string.h>

struct form {
    enum dg_type type;
    enum dg_layout layout;
    void *data;
    /* [N] or NULL */
    float *scales;
    size_t data_bytes, scales_bytes;
};

struct entry {
    char *name;
    uint64_t N, K;
    struct form forms[DG_MAX_FORMS];
    uint32_t n_forms;
};

struct dg_weights_writer {
    struct entry *entries;
    size_t n, cap;
};

int dg_weights_writer_open(struct dg_weights_writer **out, struct dg_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a weights writer");
}

void dg_weights_writer_close(struct dg_weights_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++) {
        for (uint32_t j = 0; j < w->entries[i].n_forms; j++) {
            free(w->entries[i].forms[j].data);
            free(w->entries[i].forms[j].scales);
        }
        free(w->entries[i].name);
    }
    free(w->entries);
    free(w);
}

static struct entry *find(struct dg_weights_writer *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->entries[i].name, name) == 0)
            return &w->entries[i];
    }
    return NULL;
}

/* Add an entry without forms; NULL with the error set on failure. */
static struct entry *add_entry(
    struct dg_weights_writer *w, const char *name, uint64_t N, uint64_t K, struct dg_error *err)
{
    uint64_t bytes;
    if (!dg_disk_name_ok(name, strlen(name))) {
        dg_error_field(err, DG_EINVAL, "name",
            "a tensor's name is not 1 to %u printable characters", DG_DISK_MAX_NAME);
        return NULL;
    }
    if (!dg_disk_data_bytes(DG_F32, DG_LAYOUT_ROWS, N, K, &bytes)) {
        dg_error_field(err, DG_EINVAL, name,
            "tensor %s is [%llu,%llu], which is empty or too large", name, (unsigned long long)N,
            (unsigned long long)K);
        return NULL;
    }
    if (find(w, name) || w->n == DG_DISK_MAX_TENSORS) {
        dg_error_field(
            err, DG_EINVAL, name, "tensor %s was added before, or there are too many", name);
        return NULL;
    }
    struct entry *entries = dg_array_grow(w->entries, w->n, &w->cap, sizeof *entries);
    if (entries)
        w->entries = entries;
    char *copy = entries ? strdup(name) : NULL;
    if (!copy) {
        dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", name);
        return NULL;
    }
    w->entries[w->n] = (struct entry){.name = copy, .N = N, .K = K};
    return &w->entries[w->n++];
}

static void *copy_of(const void *data, size_t n)
{
    void *p = malloc(n);
    if (p)
        memcpy(p, data, n);
    return p;
}

static int add_form(
    struct entry *e, const struct dg_stored *form, size_t bytes, struct dg_error *err)
{
    if ((form->type == DG_S8) != (form->scales != NULL))
        return dg_error_field(err, DG_EINVAL, e->name, "tensor %s: type %s %s scales", e->name,
            dg_weights_type_name(form->type), form->scales ? "takes no" : "needs");
    struct form *f = &e->forms[e->n_forms];
    *f = (struct form){.type = form->type, .layout = form->layout, .data_bytes = bytes};
    f->data = copy_of(form->data, bytes);
    if (form->scales) {
        f->scales_bytes = e->N * sizeof(float);
        f->scales = copy_of(form->scales, f->scales_bytes);
    }
    if (!f->data || (form->scales && !f->scales)) {
        free(f->data);
        free(f->scales);
        return dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", e->name);
    }
    e->n_forms++;
    return 0;
}

/* If rc is an error, remove the entry just added, so that a failed add leaves nothing. Return
 * rc. */
static int drop_last(struct dg_weights_writer *w, int rc)
{
    if (rc)
        free(w->entries[--w->n].name);
    return rc;
}

int dg_weights_writer_add_rows(struct dg_weights_writer *w, const char *name, uint64_t N,
    uint64_t K, const struct dg_stored *rows, struct dg_error *err)
{
    struct entry *e = add_entry(w, name, N, K, err);
    if (!e)
        return err && err->code ? err->code : DG_EINVAL;
    uint64_t bytes;
    if (rows->layout != DG_LAYOUT_ROWS ||
        !dg_disk_data_bytes(rows->type, rows->layout, N, K, &bytes))
        return drop_last(
            w, dg_error_field(err, DG_EINVAL, name,
                   "tensor %s: the first form must be row-major, of a known type", name));
    return drop_last(w, add_form(e, rows, bytes, err));
}

int dg_weights_writer_add(struct dg_weights_writer *w, const char *name, uint64_t N, uint64_t K,
    enum dg_type type, const float *rows, struct dg_error *err)
{
    struct dg_stored stored = {.type = type, .layout = DG_LAYOUT_ROWS, .data = rows};
    if (type == DG_F32)
        return dg_weights_writer_add_rows(w, name, N, K, &stored, err);
    if (type != DG_F16 && type != DG_BF16)
        return dg_error_field(err, DG_EINVAL, name, "tensor %s: fp32 rows cannot be stored as %s",
            name, dg_weights_type_name(type));
    uint64_t bytes;
    if (!dg_disk_data_bytes(type, DG_LAYOUT_ROWS, N, K, &bytes))
        return dg_error_field(err, DG_EINVAL, name,
            "tensor %s is [%llu,%llu], which is empty or too large", name, (unsigned long long)N,
            (unsigned long long)K);
    uint16_t *half = malloc(bytes);
    if (!half)
        return dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", name);
    for (uint64_t i = 0; i < N * K; i++)
        half[i] = type == DG_F16 ? dg_f16_from_f32(rows[i]) : dg_bf16_from_f32(rows[i]);
    stored.data = half;
    int rc = dg_weights_writer_add_rows(w, name, N, K, &stored, err);
    free(half);
    return rc;
}

int dg_weights_writer_add_form(struct dg_weights_writer *w, const char *name,
    const struct dg_stored *form, size_t bytes, struct dg_error *err)
{
    struct entry *e = find(w, name);
    if (!e)
        return dg_error_field(err, DG_ENOTFOUND, name, "tensor %s was not added before", name);
    uint64_t expected;
    if (!dg_type_bytes(form->type) || bytes < 1 ||
        (dg_disk_data_bytes(form->type, form->layout, e->N, e->K, &expected) && bytes != expected))
        return dg_error_field(err, DG_EINVAL, name,
            "tensor %s: %zu bytes do not fit type %s, layout %u", name, bytes,
            dg_weights_type_name(form->type), form->layout);
    for (uint32_t j = 0; j < e->n_forms; j++) {
        if (e->forms[j].type == form->type && e->forms[j].layout == form->layout)
            return dg_error_field(err, DG_EINVAL, name,
                "tensor %s: type %s in layout %u was added before", name,
                dg_weights_type_name(form->type), form->layout);
    }
    if (e->n_forms == DG_MAX_FORMS)
        return dg_error_field(
            err, DG_ELIMIT, name, "tensor %s has %d forms already", name, DG_MAX_FORMS);
    return add_form(e, form, bytes, err);
}

static struct dg_disk_header count(const struct dg_weights_writer *w)
{
    struct dg_disk_header h = {.endian = DG_DISK_ENDIAN, .version = DG_DISK_VERSION};
    memcpy(h.magic, DG_DISK_MAGIC, sizeof h.magic);
    uint64_t blocks = 0;
    h.tensor_count = (uint32_t)w->n;
    for (size_t i = 0; i < w->n; i++) {
        h.names_bytes += (uint32_t)strlen(w->entries[i].name) + 1;
        h.form_count += w->entries[i].n_forms;
        for (uint32_t j = 0; j < w->entries[i].n_forms; j++) {
            const struct form *f = &w->entries[i].forms[j];
            blocks += dg_disk_align(f->data_bytes) + dg_disk_align(f->scales_bytes);
        }
    }
    h.header_bytes =
        dg_disk_align(sizeof h + h.tensor_count * sizeof(struct dg_disk_tensor) +
                      (uint64_t)h.form_count * sizeof(struct dg_disk_form) + h.names_bytes);
    h.file_bytes = h.header_bytes + blocks;
    return h;
}

static struct dg_disk_form describe(const struct form *f, uint64_t *at)
{
    struct dg_disk_form d = {.type = f->type, .layout = f->layout};
    d.data_offset = *at;
    d.data_bytes = f->data_bytes;
    d.data_checksum = dg_disk_checksum(f->data, f->data_bytes);
    *at += dg_disk_align(f->data_bytes);
    if (f->scales) {
        d.scales_offset = *at;
        d.scales_bytes = f->scales_bytes;
        d.scales_checksum = dg_disk_checksum(f->scales, f->scales_bytes);
        *at += dg_disk_align(f->scales_bytes);
    }
    return d;
}

static void pad(struct dg_buffer *b)
{
    static const unsigned char zeros[DG_DISK_ALIGN];
    dg_buffer_add(b, zeros, dg_disk_align(b->len) - b->len);
}

/* Make the header with its tables and names, checksum included. */
static int make_header(const struct dg_weights_writer *w, struct dg_buffer *b, struct dg_error *err)
{
    struct dg_disk_header h = count(w);
    struct dg_disk_tensor t = {0};
    dg_buffer_add(b, &h, sizeof h);
    for (size_t i = 0; i < w->n; i++) {
        t.name_bytes = (uint32_t)strlen(w->entries[i].name);
        t.rows = w->entries[i].N;
        t.cols = w->entries[i].K;
        t.form_count = w->entries[i].n_forms;
        dg_buffer_add(b, &t, sizeof t);
        t.name_offset += t.name_bytes + 1;
        t.first_form += t.form_count;
    }
    uint64_t at = h.header_bytes;
    for (size_t i = 0; i < w->n; i++) {
        for (uint32_t j = 0; j < w->entries[i].n_forms; j++) {
            struct dg_disk_form d = describe(&w->entries[i].forms[j], &at);
            dg_buffer_add(b, &d, sizeof d);
        }
    }
    for (size_t i = 0; i < w->n; i++)
        dg_buffer_add(b, w->entries[i].name, strlen(w->entries[i].name) + 1);
    pad(b);
    if (b->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for the header of %zu tensors", w->n);
    h.header_checksum = dg_disk_header_checksum((unsigned char *)b->data, b->len);
    memcpy(b->data, &h, sizeof h);
    return 0;
}

static int append(struct dg_file_writer *file, const void *data, size_t n, struct dg_error *err)
{
    static const unsigned char zeros[DG_DISK_ALIGN];
    int rc = dg_file_append(file, data, n, err);
    size_t gap = dg_disk_align(n) - n;
    return rc || !gap ? rc : dg_file_append(file, zeros, gap, err);
}

static int append_blocks(
    const struct dg_weights_writer *w, struct dg_file_writer *file, struct dg_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        for (uint32_t j = 0; j < w->entries[i].n_forms; j++) {
            const struct form *f = &w->entries[i].forms[j];
            int rc = append(file, f->data, f->data_bytes, err);
            if (!rc && f->scales)
                rc = append(file, f->scales, f->scales_bytes, err);
            if (rc)
                return rc;
        }
    }
    return 0;
}

int dg_weights_writer_write(const struct dg_weights_writer *w, const char *path,
    struct dg_file_writer **out, struct dg_error *err)
{
    struct dg_buffer header;
    struct dg_file_writer *file = NULL;
    if (!w->n)
        return dg_error_set(err, DG_EINVAL, "%s: a weights file without tensors", path);
    dg_buffer_init(&header);
    int rc = make_header(w, &header, err);
    if (!rc)
        rc = dg_file_begin(path, &file, err);
    if (!rc)
        rc = dg_file_append(file, header.data, header.len, err);
    if (!rc)
        rc = append_blocks(w, file, err);
    dg_buffer_deinit(&header);
    if (rc)
        dg_file_abort(file);
    else
        *out = file;
    return rc;
}

int dg_weights_writer_commit(struct dg_weights_writer *w, const char *path, struct dg_error *err)
{
    struct dg_file_writer *file;
    int rc = dg_weights_writer_write(w, path, &file, err);
    return rc ? rc : dg_file_commit_take(file, err);
}
