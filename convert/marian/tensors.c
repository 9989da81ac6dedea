#include "convert/marian/tensors.h"

#include "model/params.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form {
    VECTOR, /* [1,N] or [N]: as it is */
    INPUTS, /* Marian's usual matrix, [K,N] (inputs x outputs): transposed */
    ROWS,   /* a table, [N,K]: as it is */
};

#define ZEROS "" /* no array: d_model rows of zeros */

/* One of our parameters, and Marian's arrays that are stacked to make it. Within a layer, the
 * arrays' names begin with "encoder_lI_" or "decoder_lI_", and those of a pre-norm model's norms
 * end in "_pre". */
struct row {
    /* dg_param_info's part */
    const char *ours;
    enum form form;
    const char *arrays[3];
};

static const struct row parameters[] = {
    {"self.qkv.w", INPUTS, {"self_Wq", "self_Wk", "self_Wv"}},
    {"self.qkv.b", VECTOR, {"self_bq", "self_bk", "self_bv"}},
    {"self.out.w", INPUTS, {"self_Wo"}},
    {"self.out.b", VECTOR, {"self_bo"}},
    {"self.norm.gain", VECTOR, {"self_Wo_ln_scale"}},
    {"self.norm.bias", VECTOR, {"self_Wo_ln_bias"}},
    {"ssru.w", INPUTS, {"rnn_W", "rnn_Wf"}},
    {"ssru.b", VECTOR, {ZEROS, "rnn_bf"}},
    {"ssru.norm.gain", VECTOR, {"rnn_ffn_ln_scale"}},
    {"ssru.norm.bias", VECTOR, {"rnn_ffn_ln_bias"}},
    {"cross.q.w", INPUTS, {"context_Wq"}},
    {"cross.q.b", VECTOR, {"context_bq"}},
    {"cross.kv.w", INPUTS, {"context_Wk", "context_Wv"}},
    {"cross.kv.b", VECTOR, {"context_bk", "context_bv"}},
    {"cross.out.w", INPUTS, {"context_Wo"}},
    {"cross.out.b", VECTOR, {"context_bo"}},
    {"cross.norm.gain", VECTOR, {"context_Wo_ln_scale"}},
    {"cross.norm.bias", VECTOR, {"context_Wo_ln_bias"}},
    {"ffn.w1", INPUTS, {"ffn_W1"}},
    {"ffn.b1", VECTOR, {"ffn_b1"}},
    {"ffn.w2", INPUTS, {"ffn_W2"}},
    {"ffn.b2", VECTOR, {"ffn_b2"}},
    {"ffn.norm.gain", VECTOR, {"ffn_ffn_ln_scale"}},
    {"ffn.norm.bias", VECTOR, {"ffn_ffn_ln_bias"}},
    {"src.embed", ROWS, {"encoder_Wemb"}},
    {"tgt.embed", ROWS, {"decoder_Wemb"}},
    {"out.w", ROWS, {"decoder_ff_logit_out_Wt"}},
    {"out.b", VECTOR, {"decoder_ff_logit_out_b"}},
    {"src.pos", ROWS, {DG_MARIAN_POSITIONS}},
    {"tgt.pos", ROWS, {DG_MARIAN_POSITIONS}},
    {"src.norm.gain", VECTOR, {"encoder_top_ln_scale"}},
    {"src.norm.bias", VECTOR, {"encoder_top_ln_bias"}},
    {"tgt.norm.gain", VECTOR, {"decoder_top_ln_scale"}},
    {"tgt.norm.bias", VECTOR, {"decoder_top_ln_bias"}},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct job {
    struct dg_marian_arrays *arrays;
    const struct dg_config *config;
    const struct dg_marian_options *options;
    const struct dg_convert_marian *o;
    struct dg_weights_writer *writer;
    /* [arrays of the file] */
    bool *used;
};

/* A parameter that is being read: fp32, or int8 as in the file. */
struct values {
    /* [N,K] */
    float *rows;
    /* [N,K], or NULL */
    int8_t *bytes;
    /* [N]; only with bytes */
    float *scales;
};

/* Find the array and mark it as used. NULL with an error. */
static const struct dg_marian_array *find_array(
    struct job *j, const char *name, struct dg_error *err)
{
    const struct dg_marian_array *a = dg_marian_arrays_find(j->arrays, name);
    if (!a) {
        dg_error_field(err, DG_EFORMAT, name, "array %s is missing", name);
        return NULL;
    }
    j->used[a - dg_marian_arrays_at(j->arrays, 0)] = true;
    return a;
}

/* The array's two dimensions; a vector is [1,n]. */
static void dims_of(const struct dg_marian_array *a, uint64_t d[2])
{
    d[0] = a->n_dims == 2 ? a->shape[0] : 1;
    d[1] = a->n_dims == 2 ? a->shape[1] : a->count;
}

/* dst[N,K] = src[K,N] transposed, in squares that stay in the cache. */
static void transpose(const float *src, uint64_t K, uint64_t N, float *dst)
{
    enum { SQUARE = 32 };
    for (uint64_t n0 = 0; n0 < N; n0 += SQUARE)
        for (uint64_t k0 = 0; k0 < K; k0 += SQUARE)
            for (uint64_t n = n0; n < N && n < n0 + SQUARE; n++)
                for (uint64_t k = k0; k < K && k < k0 + SQUARE; k++)
                    dst[n * K + k] = src[k * N + n];
}

static int read_floats(struct job *j, const struct dg_marian_array *a, enum form form, uint64_t K,
    uint64_t rows, float *dst, struct dg_error *err)
{
    if (form != INPUTS)
        return dg_marian_arrays_read(j->arrays, a, dst, err);
    float *inputs = malloc(a->count * sizeof *inputs); /* [K,rows] */
    if (!inputs)
        return dg_error_set(err, DG_ENOMEM, "no memory for array %s", a->name);
    int rc = dg_marian_arrays_read(j->arrays, a, inputs, err);
    if (!rc)
        transpose(inputs, K, rows, dst);
    free(inputs);
    return rc;
}

/* Reads int8 data, which are rows of outputs already, whatever the shape says: as they are, or as
 * fp32 if to->bytes is NULL. */
static int read_bytes(struct job *j, const struct dg_marian_array *a, uint64_t K, uint64_t first,
    uint64_t rows, const struct values *to, struct dg_error *err)
{
    int8_t *bytes = to->bytes ? to->bytes + first * K : malloc(a->count);
    if (!bytes)
        return dg_error_set(err, DG_ENOMEM, "no memory for array %s", a->name);
    int rc = dg_marian_arrays_read(j->arrays, a, bytes, err);
    for (uint64_t i = 0; !to->bytes && !rc && i < a->count; i++)
        to->rows[first * K + i] = (float)bytes[i] / a->multiplier;
    for (uint64_t i = 0; to->bytes && i < rows; i++)
        to->scales[first + i] = 1 / a->multiplier;
    if (!to->bytes)
        free(bytes);
    return rc;
}

/* Read one array into the rows (for a vector: elements) from *done on, and add their number to
 * *done. */
static int read_part(struct job *j, const char *name, enum form form, const struct dg_param_info *p,
    uint64_t *done, const struct values *to, struct dg_error *err)
{
    const uint64_t room = (form == VECTOR ? p->K : p->N) - *done, width = form == VECTOR ? 1 : p->K;
    const struct dg_marian_array *a = find_array(j, name, err);
    if (!a)
        return DG_EFORMAT;
    uint64_t d[2];
    dims_of(a, d);
    const uint64_t rows = form == ROWS ? d[0] : d[1];
    bool fits = a->n_dims <= 2 && rows <= room && a->type != DG_MARIAN_BYTE;
    if (form == VECTOR)
        fits = fits && d[0] == 1 && a->type == DG_MARIAN_F32;
    else
        fits = fits && a->n_dims == 2 && (form == ROWS ? d[1] : d[0]) == p->K;
    if (!fits || (to->bytes && a->type != DG_MARIAN_S8))
        return dg_error_field(err, DG_EFORMAT, name,
            "array %s is [%llu,%llu] of %s, which does not fit %s [%u,%u]", name,
            (unsigned long long)d[0], (unsigned long long)d[1],
            a->type == DG_MARIAN_F32  ? "fp32"
            : a->type == DG_MARIAN_S8 ? "int8"
                                      : "bytes",
            p->name, p->N, p->K);
    int rc = a->type == DG_MARIAN_S8
                 ? read_bytes(j, a, p->K, *done, rows, to, err)
                 : read_floats(j, a, form, p->K, rows, to->rows + *done * width, err);
    *done += rows;
    return rc;
}

/* Make the array's name; norms in the layers of pre-norm models are named differently. */
static void name_array(const struct job *j, const char *ours, const char *prefix, const char *array,
    char *out, size_t cap)
{
    const bool pre = j->config->pre_norm && prefix[0] && strstr(ours, ".norm.");
    if (pre && strncmp(array, "rnn_ffn_ln", 10) == 0) /* "ffn" is in post-norm models only */
        array = strcmp(array, "rnn_ffn_ln_scale") == 0 ? "rnn_ln_scale" : "rnn_ln_bias";
    snprintf(out, cap, "%s%s%s", prefix, array, pre ? "_pre" : "");
}

/* Read all parts of a parameter, stacked; together they must fill it. */
static int read_parts(struct job *j, const struct row *r, const char *prefix,
    const struct dg_param_info *p, const struct values *to, struct dg_error *err)
{
    const uint64_t room = r->form == VECTOR ? p->K : p->N;
    uint64_t done = 0;
    for (size_t i = 0; i < COUNT(r->arrays) && r->arrays[i]; i++) {
        char name[128];
        if (strcmp(r->arrays[i], ZEROS) == 0) {
            done += j->config->D;
            continue;
        }
        name_array(j, r->ours, prefix, r->arrays[i], name, sizeof name);
        int rc = read_part(j, name, r->form, p, &done, to, err);
        if (rc)
            return rc;
    }
    if (done != room)
        return dg_error_field(err, DG_EFORMAT, p->name,
            "%s[%s...]: %llu rows for %s, which has %llu", prefix, r->arrays[0],
            (unsigned long long)done, p->name, (unsigned long long)room);
    return 0;
}

/* If Marian has no biases, ours of the feed-forward network are zeros. */
static bool is_zeros(const struct job *j, const struct row *r)
{
    return j->options->no_bias &&
           (strcmp(r->ours, "ffn.b1") == 0 || strcmp(r->ours, "ffn.b2") == 0);
}

/* Find the parameter's row with its arrays' names, and the prefix of these names. Tied tables and
 * older models have other names than the table says. */
static int find_parameter(const struct job *j, const struct dg_param_info *p, struct row *row,
    char *prefix, size_t cap, struct dg_error *err)
{
    size_t i = 0;
    while (i < COUNT(parameters) && strcmp(parameters[i].ours, p->part) != 0)
        i++;
    if (i == COUNT(parameters))
        return dg_error_field(
            err, DG_EINTERNAL, p->name, "parameter %s has no place in a Marian model", p->name);
    *row = parameters[i];
    prefix[0] = '\0';
    if (p->stack)
        snprintf(prefix, cap, "%s_l%u_", p->stack, p->layer + 1);
    if (strcmp(p->part, "src.embed") == 0 && j->options->tied_source)
        row->arrays[0] = "Wemb";
    if (strcmp(p->part, "out.w") == 0 && !dg_marian_arrays_find(j->arrays, row->arrays[0])) {
        row->arrays[0] = "decoder_ff_logit_out_W";
        row->form = INPUTS;
    }
    return 0;
}

/* Does the file have the parameter in int8, and should it stay so? */
static bool stays_int8(const struct job *j, const struct row *row, const char *prefix)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s", prefix, row->arrays[0]);
    const struct dg_marian_array *a = dg_marian_arrays_find(j->arrays, name);
    return j->o->to.keep_int8 && a && a->type == DG_MARIAN_S8;
}

static int write_parameter(
    struct job *j, const struct dg_param_info *p, const struct values *v, struct dg_error *err)
{
    if (v->bytes) {
        struct dg_stored stored = {DG_S8, DG_LAYOUT_ROWS, v->bytes, v->scales};
        return dg_weights_writer_add_rows(j->writer, p->name, p->N, p->K, &stored, err);
    }
    return dg_weights_writer_add(j->writer, p->name, p->N, p->K,
        p->use & DG_USE_VECTOR ? DG_F32 : j->o->to.type, v->rows, err);
}

/* Find the scale that the file has for an array's inputs; the output's has one of three names. */
static int find_scale(struct job *j, const char *array, float *scale, struct dg_error *err)
{
    const bool output = strstr(array, "Wemb") || strstr(array, "ff_logit_out");
    const char *const names[] = {array, output ? "none" : array, output ? "Wemb" : array};
    for (size_t i = 0; i < COUNT(names); i++) {
        char name[160];
        snprintf(name, sizeof name, "%s_QuantMultA", names[i]);
        const struct dg_marian_array *a = dg_marian_arrays_find(j->arrays, name);
        if (a && a->type == DG_MARIAN_F32 && a->count == 1)
            return dg_marian_arrays_read(j->arrays, a, scale, err);
    }
    return dg_error_field(err, DG_EFORMAT, array,
        "the file has no %s_QuantMultA, the scale of what %s multiplies", array, array);
}

/* Add the scale of a parameter's inputs. Matrices that are joined into one have the same inputs, so
 * their scales must be the same. */
static int add_scale(struct job *j, const struct dg_param_info *p, const struct row *row,
    const char *prefix, struct dg_error *err)
{
    float scale = 0, other = 0;
    char name[128];
    int rc = 0;
    for (size_t i = 0; i < COUNT(row->arrays) && row->arrays[i] && !rc; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, row->arrays[i]);
        rc = find_scale(j, name, i ? &other : &scale, err);
        if (!rc && i && other != scale)
            rc = dg_error_field(err, DG_EUNSUP, name,
                "%s has inputs of the scale %g, the matrix beside it %g", name, (double)other,
                (double)scale);
    }
    if (!rc && !(scale > 0 && scale < 1e9f))
        rc = dg_error_field(
            err, DG_EFORMAT, name, "%s has inputs of the scale %g", name, (double)scale);
    snprintf(name, sizeof name, "%s.in", p->name);
    return rc ? rc : dg_weights_writer_add(j->writer, name, 1, 1, DG_F32, &scale, err);
}

static int add_parameter(struct job *j, const struct dg_param_info *p, struct dg_error *err)
{
    const size_t n = (size_t)p->N * p->K;
    struct values v = {0};
    struct row row = {0};
    char prefix[32];
    int rc = find_parameter(j, p, &row, prefix, sizeof prefix, err);
    if (rc)
        return rc;
    if (stays_int8(j, &row, prefix)) {
        v.bytes = malloc(n);
        v.scales = malloc(p->N * sizeof *v.scales);
    } else {
        v.rows = calloc(n, sizeof *v.rows);
    }
    if (!v.rows && !(v.bytes && v.scales))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %s [%u,%u]", p->name, p->N, p->K);
    if (!rc && !is_zeros(j, &row))
        rc = read_parts(j, &row, prefix, p, &v, err);
    if (!rc)
        rc = write_parameter(j, p, &v, err);
    if (!rc && j->o->input_scales && (p->use & DG_USE_MATRIX))
        rc = add_scale(j, p, &row, prefix, err);
    free(v.rows);
    free(v.bytes);
    free(v.scales);
    return rc;
}

/* An array that nothing used means that the model has a part we do not support. Scales of
 * activations are not part of the model. */
static int check_unused(const struct job *j, struct dg_error *err)
{
    for (size_t i = 0; i < dg_marian_arrays_count(j->arrays); i++) {
        const char *name = dg_marian_arrays_at(j->arrays, i)->name;
        if (!j->used[i] && strncmp(name, "special:", 8) != 0 && !strstr(name, "_QuantMultA"))
            return dg_error_field(err, DG_EUNSUP, name,
                "array %s belongs to no part of a model that is supported", name);
    }
    return 0;
}

int dg_marian_tensors_add(struct dg_marian_arrays *arrays, const struct dg_config *c,
    const struct dg_marian_options *options, const struct dg_convert_marian *o,
    struct dg_weights_writer *w, struct dg_error *err)
{
    const size_t n = dg_marian_arrays_count(arrays);
    struct job j = {arrays, c, options, o, w, calloc(n, sizeof(bool))};
    int rc = j.used ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for %zu arrays", n);
    for (size_t i = 0; i < dg_params_count(c) && !rc; i++) {
        struct dg_param_info p;
        dg_params_info(c, i, &p);
        rc = add_parameter(&j, &p, err);
    }
    if (!rc)
        rc = check_unused(&j, err);
    free(j.used);
    return rc;
}
