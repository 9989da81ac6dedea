/* Parameters: used in place where the file holds them in the kernels' form, else converted once. */
#include "kernels/cpu/internal.h"
#include "kernels/cpu/pack.h"
#include "kernels/weight_form.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/* Allocates a weight's own memory, in huge pages if it fills one: reading weights is then 5-15 %
 * faster (Zen 3). */
static void *own_bytes(struct dg_weight *w, size_t n)
{
    size_t align = n >= HUGE_PAGE ? HUGE_PAGE : 64, bytes = (n + align - 1) / align * align;
    w->block = aligned_alloc(align, bytes ? bytes : align);
#ifdef MADV_HUGEPAGE
    if (w->block && align == HUGE_PAGE)
        madvise(w->block, bytes, MADV_HUGEPAGE); /* only a hint: failure is fine */
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

/* Bytes of a stored form's rows packed at a time: what has been read can be released before all of
 * a large matrix is packed (spec->spent). */
enum { PACK_BYTES = 2 << 20 };

/* A packed form made from rows: self-contained panels of 16 outputs. pack: packs N rows into
 * panels; returns false if sums may not be paired (int8.h). */
struct packing {
    enum dg_weight_kind kind;
    enum dg_type type;
    size_t (*panel_bytes)(size_t K);
    bool (*pack)(const struct dg_stored *rows, size_t N, size_t K, void *panels);
};

static size_t float_panel(size_t K)
{
    return dg_pack_elements(DG_PANEL, K) * sizeof(float);
}

static bool pack_floats(const struct dg_stored *rows, size_t N, size_t K, void *panels)
{
    dg_pack_panels(rows, N, K, panels);
    return true;
}

static bool pack_int8(const struct dg_stored *rows, size_t N, size_t K, void *panels)
{
    return dg_int8_pack(rows->data, N, K, panels);
}

static size_t bf16_panel(size_t K)
{
    return dg_bf16_panel(K) * sizeof(uint16_t);
}

static bool pack_bf16(const struct dg_stored *rows, size_t N, size_t K, void *panels)
{
    dg_bf16_pack(rows->data, N, K, panels);
    return true;
}

static const struct packing as_floats = {DG_WEIGHT_PANEL, DG_F32, float_panel, pack_floats},
                            as_int8 = {DG_WEIGHT_INT8, DG_S8, dg_int8_panel_bytes, pack_int8},
                            as_bf16 = {DG_WEIGHT_BF16, DG_BF16, bf16_panel, pack_bf16};

/* Rows from row n on. */
static struct dg_stored rows_from(const struct dg_stored *rows, size_t n, size_t K)
{
    struct dg_stored from = *rows;
    from.data = (const char *)rows->data + n * K * dg_type_bytes(rows->type);
    from.scales = rows->scales ? rows->scales + n : NULL;
    return from;
}

static int new_packed(struct dg_weight *w, const struct packing *as,
    const struct dg_weight_spec *spec, const struct dg_stored *rows, struct dg_error *err)
{
    const size_t K = spec->K, panel = as->panel_bytes(K), row = K * dg_type_bytes(rows->type);
    const size_t panels = (spec->N + DG_PANEL - 1) / DG_PANEL, most = PACK_BYTES / (DG_PANEL * row),
                 step = (most ? most : 1) * DG_PANEL;
    char *to = panels > (SIZE_MAX - HUGE_PAGE) / panel ? NULL : own_bytes(w, panels * panel);
    if (!to)
        return no_memory(spec, err);
    w->kind = as->kind;
    w->type = as->type;
    w->paired = true;
    for (size_t n = 0; n < spec->N; n += step) {
        const struct dg_stored part = rows_from(rows, n, K);
        const size_t count = spec->N - n < step ? spec->N - n : step;
        w->paired = as->pack(&part, count, K, to + n / DG_PANEL * panel) && w->paired;
        if (spec->spent)
            spec->spent(spec->spent_of, part.data, count * row);
    }
    return 0;
}

static int new_matrix(struct dg_weight *w, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, struct dg_error *err)
{
    const struct dg_stored *packed = dg_weight_form(spec, DG_LAYOUT_PANEL16, DG_F32);
    if (!packed || (uintptr_t)packed->data % 64 != 0)
        return new_packed(w, &as_floats, spec, rows, err);
    w->kind = DG_WEIGHT_PANEL;
    w->data = packed->data;
    return 0;
}

/* Returns the form to multiply in int8: any s8 form, preferably the packed one. NULL: there is
 * none, or K is too long for int32 sums. */
static const struct dg_stored *find_int8(const struct dg_weight_spec *spec)
{
    if (spec->K > DG_INT8_K_MAX)
        return NULL;
    const struct dg_stored *packed = dg_weight_form(spec, DG_LAYOUT_PANEL16_S8, DG_S8);
    if (packed && packed->scales && (uintptr_t)packed->data % 64 == 0)
        return packed;
    return dg_weight_form(spec, DG_LAYOUT_ROWS, DG_S8);
}

static int new_int8(struct dg_weight *w, const struct dg_weight_spec *spec,
    const struct dg_stored *form, struct dg_error *err)
{
    if (!form->scales)
        return dg_error_field(
            err, DG_EFORMAT, spec->name, "tensor %s is int8 without scales", spec->name);
    w->scales = form->scales;
    w->steps = DG_INT8_STEPS;
    if (form->layout != DG_LAYOUT_PANEL16_S8)
        return new_packed(w, &as_int8, spec, form, err);
    w->kind = DG_WEIGHT_INT8;
    w->type = DG_S8;
    w->data = form->data;
    w->paired = true; /* the packed layout requires it */
    return 0;
}

/* Returns whether the bf16 rows are multiplied as they are; if there is an fp32 form, that is
 * preferred. */
static bool stays_bf16(
    const struct dg_cpu *cpu, const struct dg_weight_spec *spec, const struct dg_stored *rows)
{
    return cpu->bf16 && rows->type == DG_BF16 && spec->K <= DG_BF16_K_MAX &&
           !dg_weight_form(spec, DG_LAYOUT_PANEL16, DG_F32);
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
    dg_stored_floats(rows, spec->K, 0, spec->N, floats);
    return 0;
}

int dg_cpu_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    *out = NULL;
    const struct dg_stored *rows;
    int rc = dg_weight_rows(spec, &rows, err);
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
            rc = new_packed(w, &as_bf16, spec, rows, err);
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

int dg_cpu_weight_set_steps(
    struct dg_backend *be, struct dg_weight *w, unsigned steps, struct dg_error *err)
{
    (void)be;
    if (w->kind != DG_WEIGHT_INT8 || steps != DG_INT8_FINE_STEPS || w->K > DG_INT8_FINE_K_MAX)
        return dg_error_set(err, DG_EUNSUP,
            "a matrix [%zu,%zu] wants inputs of %u steps; this program knows %d, of int8 matrices of "
            "at most %zu inputs",
            w->N, w->K, steps, DG_INT8_FINE_STEPS, DG_INT8_FINE_K_MAX);
    if (dg_int8_packed_two_sum(w->data, w->N, w->K) > DG_INT8_FINE)
        return dg_error_set(err, DG_EFORMAT,
            "a matrix [%zu,%zu] has weights too large for inputs of %u steps", w->N, w->K, steps);
    w->steps = DG_INT8_FINE_STEPS;
    w->paired = false;
    return 0;
}
