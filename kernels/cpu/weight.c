/* Parameters: taken in place where the file holds them as the kernels want them, else converted
 * once. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static const struct dg_stored *find_form(
    const struct dg_weight_spec *spec, enum dg_layout layout, int type)
{
    for (size_t i = 0; i < spec->n_stored; i++)
        if (spec->stored[i].layout == layout && (type < 0 || (int)spec->stored[i].type == type))
            return &spec->stored[i];
    return NULL;
}

/* Our own memory, in huge pages where it fills one: reading weights is then 5-15 % faster (Zen
 * 3). */
static void *own_bytes(struct dg_weight *w, size_t n)
{
    size_t align = n >= HUGE_PAGE ? HUGE_PAGE : 64, bytes = (n + align - 1) / align * align;
    w->block = aligned_alloc(align, bytes ? bytes : align);
#ifdef MADV_HUGEPAGE
    if (w->block && align == HUGE_PAGE)
        madvise(w->block, bytes, MADV_HUGEPAGE); /* a wish: refused is fine */
#endif
    w->data = w->block;
    return w->block;
}

static float *own_floats(struct dg_weight *w, size_t n)
{
    return n > (SIZE_MAX - HUGE_PAGE) / sizeof(float) ? NULL : own_bytes(w, n * sizeof(float));
}

static int no_memory(const struct dg_weight_spec *spec, struct dg_error *err)
{
    return dg_error_field(err, DG_ENOMEM, spec->name, "no memory for tensor %s [%zu,%zu]",
        spec->name, spec->N, spec->K);
}

static int new_matrix(struct dg_weight *w, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, struct dg_error *err)
{
    const struct dg_stored *packed = find_form(spec, DG_LAYOUT_PANEL16, DG_F32);
    w->kind = DG_WEIGHT_PANEL;
    if (packed && (uintptr_t)packed->data % 64 == 0) {
        w->data = packed->data;
        return 0;
    }
    float *panels = own_floats(w, dg_pack_elements(spec->N, spec->K));
    if (!panels)
        return no_memory(spec, err);
    dg_pack_panels(rows, spec->N, spec->K, panels);
    return 0;
}

/* The form to multiply in int8: any s8 form, the packed one first. NULL: there is none, or K is too
 * long for int32 sums. */
static const struct dg_stored *find_int8(const struct dg_weight_spec *spec)
{
    if (spec->K > DG_INT8_K_MAX)
        return NULL;
    const struct dg_stored *packed = find_form(spec, DG_LAYOUT_PANEL16_S8, DG_S8);
    if (packed && packed->scales && (uintptr_t)packed->data % 64 == 0)
        return packed;
    return find_form(spec, DG_LAYOUT_ROWS, DG_S8);
}

static int new_int8(struct dg_weight *w, const struct dg_weight_spec *spec,
    const struct dg_stored *form, struct dg_error *err)
{
    w->kind = DG_WEIGHT_INT8;
    w->type = DG_S8;
    w->data = form->data;
    w->scales = form->scales;
    if (!form->scales)
        return dg_error_field(
            err, DG_EFORMAT, spec->name, "tensor %s is int8 without scales", spec->name);
    w->paired = true; /* a condition of the packed layout */
    if (form->layout == DG_LAYOUT_PANEL16_S8)
        return 0;
    void *packed = own_bytes(w, dg_int8_packed_bytes(spec->N, spec->K));
    if (!packed)
        return no_memory(spec, err);
    w->paired = dg_int8_pack(form->data, spec->N, spec->K, packed);
    return 0;
}

/* bf16 rows that are multiplied as they are; where there is an fp32 form, that is what is
 * wanted. */
static bool stays_bf16(
    const struct dg_cpu *cpu, const struct dg_weight_spec *spec, const struct dg_stored *rows)
{
    return cpu->bf16 && rows->type == DG_BF16 && spec->K <= DG_BF16_K_MAX &&
           !find_form(spec, DG_LAYOUT_PANEL16, DG_F32);
}

static int new_bf16(struct dg_weight *w, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, struct dg_error *err)
{
    w->kind = DG_WEIGHT_BF16;
    w->type = DG_BF16;
    uint16_t *packed = own_bytes(w, dg_bf16_packed(spec->N, spec->K) * sizeof *packed);
    if (!packed)
        return no_memory(spec, err);
    dg_bf16_pack(rows->data, spec->N, spec->K, packed);
    return 0;
}

static int new_vector(struct dg_weight *w, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, struct dg_error *err)
{
    w->kind = DG_WEIGHT_ROWS;
    w->data = rows->data;
    if (rows->type == DG_F32)
        return 0;
    float *floats = own_floats(w, spec->N * spec->K);
    if (!floats)
        return no_memory(spec, err);
    for (size_t n = 0; n < spec->N; n++) {
        dg_convert_floats(rows->data, rows->type, n * spec->K, spec->K, floats + n * spec->K);
        for (size_t k = 0; rows->type == DG_S8 && k < spec->K; k++)
            floats[n * spec->K + k] *= rows->scales[n];
    }
    return 0;
}

static int check_spec(
    const struct dg_weight_spec *spec, const struct dg_stored *rows, struct dg_error *err)
{
    const char *name = spec->name;
    if (!spec->N || !spec->K || spec->N > SIZE_MAX / 64 / spec->K)
        return dg_error_field(err, DG_EINVAL, name, "tensor %s has the impossible shape [%zu,%zu]",
            name, spec->N, spec->K);
    if (!(spec->use & (DG_USE_MATRIX | DG_USE_TABLE | DG_USE_VECTOR)))
        return dg_error_field(err, DG_EINVAL, name, "tensor %s has no use (%u)", name, spec->use);
    if ((spec->use & DG_USE_VECTOR) && spec->N != 1)
        return dg_error_field(err, DG_EINVAL, name,
            "tensor %s is [%zu,%zu], expected a vector [1,%zu]", name, spec->N, spec->K, spec->K);
    if (!rows || !rows->data)
        return dg_error_field(err, DG_EFORMAT, name,
            "tensor %s [%zu,%zu] has no row-major form among its %zu", name, spec->N, spec->K,
            spec->n_stored);
    if (!dg_type_bytes(rows->type))
        return dg_error_field(err, DG_EUNSUP, name,
            "tensor %s has element type %d, which the CPU does not know", name, (int)rows->type);
    if (rows->type == DG_S8 && !rows->scales)
        return dg_error_field(err, DG_EFORMAT, name, "tensor %s is int8 without scales", name);
    if (spec->trainable && rows->type != DG_F32)
        return dg_error_field(
            err, DG_EUNSUP, name, "tensor %s is to be trained but is not fp32", name);
    return 0;
}

int dg_cpu_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    *out = NULL;
    /* fp32 rows where there are several: nothing is lost, and nothing has to be converted. */
    const struct dg_stored *rows = find_form(spec, DG_LAYOUT_ROWS, DG_F32);
    if (!rows)
        rows = find_form(spec, DG_LAYOUT_ROWS, -1);
    int rc = check_spec(spec, rows, err);
    if (rc)
        return rc;
    struct dg_weight *w = calloc(1, sizeof *w);
    if (!w)
        return no_memory(spec, err);
    w->N = spec->N;
    w->K = spec->K;
    if (spec->trainable || (spec->use & DG_USE_VECTOR)) {
        rc = new_vector(w, spec, rows, err);
    } else if (spec->use & DG_USE_MATRIX) {
        const struct dg_stored *int8 = find_int8(spec);
        if (int8)
            rc = new_int8(w, spec, int8, err);
        else if (stays_bf16(dg_cpu_of(be), spec, rows))
            rc = new_bf16(w, spec, rows, err);
        else
            rc = new_matrix(w, spec, rows, err);
    } else {
        w->kind = DG_WEIGHT_TABLE;
        w->type = rows->type;
        w->data = rows->data;
        w->scales = rows->scales;
    }
    if (rc) {
        dg_cpu_weight_free(be, w);
        return rc;
    }
    if (spec->in_place)
        *spec->in_place = w->block ? NULL : w->data;
    *out = w;
    return 0;
}

void dg_cpu_weight_free(struct dg_backend *be, struct dg_weight *w)
{
    (void)be;
    if (!w)
        return;
    free(w->block);
    free(w);
}

void dg_cpu_weight_round_inputs(struct dg_backend *be, struct dg_weight *w, float scale)
{
    (void)be;
    assert(w->kind == DG_WEIGHT_PANEL);
    w->input_scale = scale;
}
