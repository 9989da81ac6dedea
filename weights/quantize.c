#include "weights/quantize.h"

#include "base/file.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/pack.h"
#include "kernels/cpu/quantize.h"
#include "weights/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct job {
    const struct dg_quantize *o;
    struct dg_bundle *bundle;
    struct dg_weights_writer *writer;
    struct dg_json *manifest;
};

static const struct dg_stored *find_form(
    const struct dg_tensor *t, enum dg_layout layout, enum dg_type type)
{
    for (size_t i = 0; i < t->n_stored; i++)
        if (t->stored[i].layout == layout && t->stored[i].type == type)
            return &t->stored[i];
    return NULL;
}

/* Copy all forms of a tensor unchanged. */
static int copy_tensor(struct job *j, const struct dg_tensor *t, struct dg_error *err)
{
    int rc = dg_weights_writer_add_rows(
        j->writer, t->name, t->shape[0], t->shape[1], &t->stored[0], err);
    for (size_t i = 1; i < t->n_stored && !rc; i++)
        rc = dg_weights_writer_add_form(j->writer, t->name, &t->stored[i], t->bytes[i], err);
    return rc;
}

/* Write q's rows, and also the packed form if `packed` is set. */
static int write_int8(
    struct job *j, const struct dg_quantized *q, bool packed, struct dg_error *err)
{
    struct dg_stored form = {DG_S8, DG_LAYOUT_ROWS, q->q, q->scales};
    int rc = dg_weights_writer_add_rows(j->writer, q->name, q->N, q->K, &form, err);
    if (rc || !packed || q->K > DG_INT8_K_MAX)
        return rc;
    size_t bytes = dg_int8_packed_bytes(q->N, q->K);
    void *panels = malloc(bytes);
    if (!panels)
        return dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", q->name);
    /* Rows that another program quantised may not meet the packed layout's condition: they are then
     * packed at load. */
    if (dg_int8_pack(q->q, q->N, q->K, panels)) {
        form = (struct dg_stored){DG_S8, DG_LAYOUT_PANEL16_S8, panels, q->scales};
        rc = dg_weights_writer_add_form(j->writer, q->name, &form, bytes, err);
    }
    free(panels);
    return rc;
}

/* Write the tensor NAME.steps [1,1]. */
static int write_steps(struct job *j, const char *name, int steps, struct dg_error *err)
{
    const float number = (float)steps;
    char beside[256 + 8];
    snprintf(beside, sizeof beside, "%s.steps", name);
    return dg_weights_writer_add(j->writer, beside, 1, 1, DG_F32, &number, err);
}

/* Read rows[N,K] in fp32 from the tensor's row-major form. */
static void read_rows(const struct dg_tensor *t, float *rows)
{
    const struct dg_stored *form = find_form(t, DG_LAYOUT_ROWS, DG_F32);
    if (!form)
        form = &t->stored[0];
    dg_convert_floats(form->data, form->type, 0, t->shape[0] * t->shape[1], rows);
}

static int quantize_tensor(struct job *j, const struct dg_tensor *t, enum dg_quantize_as as,
    struct dg_quantized *q, struct dg_error *err)
{
    size_t N = q->N, K = q->K;
    const bool fine = as == DG_QUANTIZE_FINE && K <= DG_INT8_FINE_K_MAX;
    const int steps = fine ? DG_INT8_FINE_STEPS : DG_INT8_STEPS;
    float *rows = malloc(N * K * sizeof *rows), *scales = malloc(N * sizeof *scales);
    int8_t *bytes = malloc(N * K);
    int rc = rows && scales && bytes
                 ? 0
                 : dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", t->name);
    if (!rc) {
        read_rows(t, rows);
        q->rows = rows;
        q->q = bytes;
        q->scales = scales;
        if (!dg_quantize_rows(rows, N, K, steps, bytes, scales))
            rc = dg_error_field(err, DG_EFORMAT, t->name,
                "tensor %s [%zu,%zu] holds a value that is not finite", t->name, N, K);
    }
    if (!rc) {
        q->error = dg_quantize_error(rows, N, K, bytes, scales);
        rc = write_int8(j, q, j->o->packed && as != DG_QUANTIZE_TABLE, err);
    }
    if (!rc && fine)
        rc = write_steps(j, t->name, steps, err);
    if (!rc && j->o->done)
        rc = j->o->done(j->o->arg, q, err);
    free(rows);
    free(scales);
    free(bytes);
    return rc;
}

static int add_tensor(struct job *j, const struct dg_tensor *t, struct dg_error *err)
{
    enum dg_quantize_as as = j->o->choose(j->o->arg, t->name);
    if (as == DG_QUANTIZE_NO)
        return copy_tensor(j, t, err);
    struct dg_quantized q = {.name = t->name, .N = t->shape[0], .K = t->shape[1]};
    const struct dg_stored *before = find_form(t, DG_LAYOUT_ROWS, DG_S8);
    if (!before)
        return quantize_tensor(j, t, as, &q, err);
    q.q = before->data;
    q.scales = before->scales;
    int rc = write_int8(j, &q, j->o->packed && as != DG_QUANTIZE_TABLE, err);
    return !rc && j->o->done ? j->o->done(j->o->arg, &q, err) : rc;
}

static int write_weights(struct job *j, struct dg_error *err)
{
    const struct dg_weights *w = dg_bundle_weights(j->bundle);
    int rc = dg_weights_writer_open(&j->writer, err);
    for (size_t i = 0; i < dg_weights_count(w) && !rc; i++)
        rc = add_tensor(j, dg_weights_at(w, i), err);
    if (!rc)
        rc = dg_bundle_begin_with(
            j->o->out, dg_manifest_file(j->manifest, DG_FILE_WEIGHTS), j->writer, err);
    dg_weights_writer_close(j->writer);
    return rc;
}

static int copy_file(const struct job *j, const char *name, struct dg_error *err)
{
    char *from = dg_file_join(dg_bundle_dir(j->bundle), name), *to = dg_file_join(j->o->out, name);
    int rc = from && to ? dg_file_copy(from, to, err)
                        : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    free(from);
    free(to);
    return rc;
}

/* Copy all files that the manifest names except the weights. */
static int copy_files(const struct job *j, struct dg_error *err)
{
    int rc = 0;
    for (int i = 0; i < DG_FILE_COUNT && !rc; i++) {
        const char *name = dg_manifest_file(j->manifest, i);
        bool again = false; /* one vocabulary may serve both sides */
        for (int k = 0; k < i && name; k++) {
            const char *earlier = dg_manifest_file(j->manifest, k);
            again = again || (earlier && strcmp(earlier, name) == 0);
        }
        if (i != DG_FILE_WEIGHTS && name && !again)
            rc = copy_file(j, name, err);
    }
    return rc;
}

static int start_manifest(struct job *j, struct dg_error *err)
{
    j->manifest = dg_json_copy(dg_bundle_manifest(j->bundle));
    if (j->manifest && !dg_json_get(j->manifest, "training"))
        dg_json_set_take(j->manifest, "training", dg_json_new_object());
    struct dg_json *training = dg_json_get(j->manifest, "training");
    if (training && dg_json_get(training, "quantised_from"))
        return 0;
    if (!training ||
        dg_json_set_string(training, "quantised_from", dg_bundle_version(j->bundle)) != 0)
        return dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    return 0;
}

/* Make `out`, which must not be the bundle's own directory. */
static int prepare_out(const struct job *j, struct dg_error *err)
{
    struct stat from, to;
    if (stat(j->o->bundle, &from) == 0 && stat(j->o->out, &to) == 0 && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino)
        return dg_error_field(
            err, DG_EINVAL, "out", "%s is the bundle itself; name another directory", j->o->out);
    return dg_file_make_dir(j->o->out, err);
}

int dg_quantize_bundle(const struct dg_quantize *o, struct dg_error *err)
{
    struct job j = {.o = o};
    int rc = dg_bundle_open(o->bundle, &j.bundle, err);
    if (!rc)
        rc = start_manifest(&j, err);
    if (!rc)
        rc = prepare_out(&j, err);
    if (!rc)
        rc = write_weights(&j, err);
    if (!rc)
        rc = copy_files(&j, err);
    if (!rc)
        rc = dg_bundle_seal(o->out, j.manifest, err);
    dg_json_free(j.manifest);
    dg_bundle_close(j.bundle);
    return rc;
}
