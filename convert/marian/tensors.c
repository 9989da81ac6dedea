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

/* Our parameter is these arrays of Marian's below each other. */
struct row {
    const char *ours; /* without "enc.I." or "dec.I." */
    enum form form;
    const char *arrays[3]; /* without "encoder_lI_" or "decoder_lI_" */
};

static const struct row layer_rows[] = {
    {"self.qkv.w", INPUTS, {"self_Wq", "self_Wk", "self_Wv"}},
    {"self.qkv.b", VECTOR, {"self_bq", "self_bk", "self_bv"}},
    {"self.out.w", INPUTS, {"self_Wo"}},
    {"self.out.b", VECTOR, {"self_bo"}},
    {"self.norm.gain", VECTOR, {"self_Wo_ln_scale"}},
    {"self.norm.bias", VECTOR, {"self_Wo_ln_bias"}},
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
};

static const struct row top_rows[] = {
    {"src.embed", ROWS, {"encoder_Wemb"}},
    {"tgt.embed", ROWS, {"decoder_Wemb"}},
    {"out.w", ROWS, {"decoder_ff_logit_out_Wt"}},
    {"out.b", VECTOR, {"decoder_ff_logit_out_b"}},
    {"src.pos", ROWS, {DG_MARIAN_POSITIONS}},
    {"tgt.pos", ROWS, {DG_MARIAN_POSITIONS}},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct job {
    struct dg_npz *npz;
    const struct dg_config *config;
    const struct dg_marian_options *options;
    enum dg_type type;
    struct dg_weights_writer *writer;
    bool *used; /* [arrays of the archive] */
};

static const struct row *find_row(const struct row *rows, size_t n, const char *ours)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].ours, ours) == 0)
            return &rows[i];
    }
    return NULL;
}

/* The array and what it must be called by the parameter's row; marks it used. NULL with an
 * error. */
static const struct dg_npy *find_array(struct job *j, const char *name, struct dg_error *err)
{
    for (size_t i = 0; i < dg_npz_count(j->npz); i++) {
        const struct dg_npy *a = dg_npz_at(j->npz, i);
        if (strcmp(a->name, name) == 0) {
            j->used[i] = true;
            return a;
        }
    }
    dg_error_field(err, DG_EFORMAT, name, "array %s is missing", name);
    return NULL;
}

/* Its two dimensions; a vector is [1,n]. */
static void dims_of(const struct dg_npy *a, uint64_t d[2])
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

/* One array into dst, of which it may fill up to `room` rows (for a vector: elements); *rows says
 * how many it did. */
static int read_part(struct job *j, const char *name, enum form form, const struct dg_param_info *p,
    uint64_t room, float *dst, uint64_t *rows, struct dg_error *err)
{
    const struct dg_npy *a = find_array(j, name, err);
    if (!a)
        return DG_EFORMAT;
    uint64_t d[2];
    dims_of(a, d);
    *rows = form == ROWS ? d[0] : d[1];
    bool fits = a->n_dims <= 2 && *rows <= room;
    if (form == VECTOR)
        fits = fits && d[0] == 1;
    else
        fits = fits && a->n_dims == 2 && (form == ROWS ? d[1] : d[0]) == p->K;
    if (!fits || a->type != DG_NPY_F32)
        return dg_error_field(err, DG_EFORMAT, name,
            "array %s is [%llu,%llu] of %s, which does not fit %s [%u,%u]", name,
            (unsigned long long)d[0], (unsigned long long)d[1],
            a->type == DG_NPY_F32 ? "fp32" : "bytes", p->name, p->N, p->K);
    if (form != INPUTS)
        return dg_npz_read(j->npz, a, dst, err);
    float *inputs = malloc(a->count * sizeof *inputs); /* [K,rows] */
    if (!inputs)
        return dg_error_set(err, DG_ENOMEM, "no memory for array %s", name);
    int rc = dg_npz_read(j->npz, a, inputs, err);
    if (!rc)
        transpose(inputs, p->K, *rows, dst);
    free(inputs);
    return rc;
}

/* All parts of a parameter below each other; together they must fill it. */
static int read_parts(struct job *j, const struct row *r, const char *prefix,
    const struct dg_param_info *p, float *dst, struct dg_error *err)
{
    uint64_t room = r->form == VECTOR ? p->K : p->N, width = r->form == VECTOR ? 1 : p->K, done = 0;
    size_t parts = 0;
    while (parts < COUNT(r->arrays) && r->arrays[parts])
        parts++;
    for (size_t i = 0; i < parts; i++) {
        char name[128];
        uint64_t rows;
        snprintf(name, sizeof name, "%s%s", prefix, r->arrays[i]);
        int rc = read_part(j, name, r->form, p, room - done, dst + done * width, &rows, err);
        if (rc)
            return rc;
        done += rows;
    }
    if (done != room)
        return dg_error_field(err, DG_EFORMAT, p->name,
            "%s[%s...]: %llu rows for %s, which has %llu", prefix, r->arrays[0],
            (unsigned long long)done, p->name, (unsigned long long)room);
    return 0;
}

/* Where tied tables and older models keep a top parameter; otherwise as the table says. */
static struct row resolve_top(const struct job *j, const struct row *r)
{
    struct row row = *r;
    if (strcmp(r->ours, "src.embed") == 0 && j->options->tied_source)
        row.arrays[0] = "Wemb";
    if (strcmp(r->ours, "out.w") == 0 && !dg_npz_find(j->npz, r->arrays[0])) {
        row.arrays[0] = "decoder_ff_logit_out_W";
        row.form = INPUTS;
    }
    return row;
}

/* Without biases in Marian, ours of the feed-forward network are zeros. */
static bool is_zeros(const struct job *j, const struct row *r)
{
    return j->options->no_bias &&
           (strcmp(r->ours, "ffn.b1") == 0 || strcmp(r->ours, "ffn.b2") == 0);
}

static int read_parameter(
    struct job *j, const struct dg_param_info *p, float *dst, struct dg_error *err)
{
    char side[4], prefix[32] = "";
    unsigned layer;
    int at = 0;
    struct row row;
    const struct row *found;
    if (sscanf(p->name, "%3[a-z].%u.%n", side, &layer, &at) == 2 && at > 0) {
        found = find_row(layer_rows, COUNT(layer_rows), p->name + at);
        snprintf(prefix, sizeof prefix, "%s_l%u_", strcmp(side, "enc") == 0 ? "encoder" : "decoder",
            layer + 1);
    } else {
        found = find_row(top_rows, COUNT(top_rows), p->name);
    }
    if (!found)
        return dg_error_field(
            err, DG_EINTERNAL, p->name, "parameter %s has no place in a Marian model", p->name);
    if (is_zeros(j, found))
        return 0;
    row = prefix[0] ? *found : resolve_top(j, found);
    return read_parts(j, &row, prefix, p, dst, err);
}

static int add_parameter(struct job *j, const struct dg_param_info *p, struct dg_error *err)
{
    float *rows = calloc((size_t)p->N * p->K, sizeof *rows); /* [N,K] */
    if (!rows)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s [%u,%u]", p->name, p->N, p->K);
    int rc = read_parameter(j, p, rows, err);
    if (!rc)
        rc = dg_weights_writer_add(
            j->writer, p->name, p->N, p->K, p->use & DG_USE_VECTOR ? DG_F32 : j->type, rows, err);
    free(rows);
    return rc;
}

/* An array that nothing read means a model with something we do not have. */
static int check_unused(const struct job *j, struct dg_error *err)
{
    for (size_t i = 0; i < dg_npz_count(j->npz); i++) {
        const char *name = dg_npz_at(j->npz, i)->name;
        if (!j->used[i] && strncmp(name, "special:", 8) != 0)
            return dg_error_field(err, DG_EUNSUP, name,
                "array %s belongs to no part of a model that is supported", name);
    }
    return 0;
}

int dg_marian_tensors_add(struct dg_npz *npz, const struct dg_config *c,
    const struct dg_marian_options *o, enum dg_type type, struct dg_weights_writer *w,
    struct dg_error *err)
{
    struct job j = {npz, c, o, type, w, calloc(dg_npz_count(npz), sizeof(bool))};
    int rc =
        j.used ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for %zu arrays", dg_npz_count(npz));
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
