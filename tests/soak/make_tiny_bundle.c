/* make-tiny-bundle SPM DIR [D]: makes a bundle with random weights over a real SentencePiece model,
 * for runs in which the server matters and the model does not. Its output is noise of varying
 * length: the end of the sentence is as likely as a few other pieces. The numbers are the same each
 * time. */
#include "base/file.h"
#include "model/params.h"
#include "tokenizer/tokenizer.h"
#include "weights/bundle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(*state >> 33) / 1073741824.0f - 1.0f; /* -1..1 */
}

/* Fills matrices uniformly with Glorot's variance, gains around 1, the last gain larger so that
 * outputs are peaked. */
static void fill(
    const struct dg_config *c, const struct dg_param_info *info, float *x, uint64_t *state)
{
    char last[64];
    size_t n = (size_t)info->N * info->K;
    float range = info->N == 1 ? 0.05f : sqrtf(6.0f / (float)(info->N + info->K));
    float centre = strstr(info->name, "gain") ? 1.0f : 0.0f;
    snprintf(last, sizeof last, "dec.%u.ffn.norm.gain", c->dec_layers - 1);
    if ((info->use & DG_USE_TABLE) || strcmp(info->name, "out.w") == 0)
        range = sqrtf(3.0f / (float)c->D);
    if (strcmp(info->name, last) == 0)
        centre = 3.0f;
    for (size_t i = 0; i < n; i++)
        x[i] = centre + range * uniform(state);
    if (strcmp(info->name, "out.b") == 0)
        x[c->eos] = 4.0f;
}

static int write_weights(const struct dg_config *c, const char *path, struct dg_error *err)
{
    struct dg_weights_writer *w = NULL;
    uint64_t seed = 99;
    int rc = dg_weights_writer_open(&w, err);
    for (size_t i = 0; i < dg_params_count(c) && rc == DG_OK; i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        float *x = malloc((size_t)info.N * info.K * sizeof *x);
        if (!x)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %s", info.name);
        if (rc == DG_OK) {
            fill(c, &info, x, &seed);
            rc = dg_weights_writer_add(w, info.name, info.N, info.K, DG_F32, x, err);
        }
        free(x);
    }
    if (rc == DG_OK)
        rc = dg_weights_writer_commit(w, path, err);
    dg_weights_writer_close(w);
    return rc;
}

static int copy_in(const char *from, const char *to, struct dg_error *err)
{
    struct dg_map map = {0};
    int rc = dg_file_map(from, &map, err);
    if (rc == DG_OK)
        rc = dg_file_write(to, map.data, map.size, err);
    dg_file_unmap(&map);
    return rc;
}

static int configure(
    const char *spm, const char *vocab, uint32_t D, struct dg_config *c, struct dg_error *err)
{
    struct dg_tokenizer *t = NULL;
    int rc = dg_tokenizer_write_vocab(spm, vocab, err);
    if (rc == DG_OK)
        rc = dg_tokenizer_open(spm, vocab, &t, err);
    if (rc != DG_OK)
        return rc;
    dg_config_base(c, dg_tokenizer_size(t));
    c->eos = dg_tokenizer_id(t, "</s>");
    c->unk = dg_tokenizer_unk(t);
    c->start = -1;
    c->D = D;
    c->F = 2 * D;
    c->H = 4;
    c->Dk = c->Dv = D / 4;
    c->enc_layers = c->dec_layers = 1;
    c->embed_scale = sqrtf((float)D);
    c->output_bias = true;
    c->tied_output = false; /* a tied output would repeat its last piece */
    c->extra_length = 10;
    dg_tokenizer_close(t);
    return DG_OK;
}

static int make(const char *spm, const char *dir, uint32_t D, struct dg_error *err)
{
    static const char text[] = "{\"format\":1,\"name\":\"tiny\",\"pairs\":[[\"en\",\"de\"]],"
                               "\"files\":{\"weights\":\"weights.dgw\","
                               "\"source_spm\":\"joint.spm\",\"target_spm\":\"joint.spm\",\"source_"
                               "vocab\":\"joint.vocab\","
                               "\"target_vocab\":\"joint.vocab\"}}";
    char own_spm[1024], vocab[1024], weights[1024];
    struct dg_config c;
    struct dg_json *m = NULL;
    snprintf(own_spm, sizeof own_spm, "%s/joint.spm", dir);
    snprintf(vocab, sizeof vocab, "%s/joint.vocab", dir);
    snprintf(weights, sizeof weights, "%s/weights.dgw", dir);
    int rc = dg_file_make_dir(dir, err);
    if (rc == DG_OK)
        rc = copy_in(spm, own_spm, err);
    if (rc == DG_OK)
        rc = configure(own_spm, vocab, D, &c, err);
    if (rc == DG_OK)
        rc = write_weights(&c, weights, err);
    if (rc == DG_OK &&
        (!(m = dg_json_parse(text, strlen(text), err)) || dg_config_write(&c, m) != 0))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    if (rc == DG_OK)
        rc = dg_bundle_seal(dir, m, err);
    dg_json_free(m);
    return rc;
}

int main(int argc, char *argv[])
{
    struct dg_error err = {0};
    long D = argc > 3 ? strtol(argv[3], NULL, 10) : 8;
    if (argc < 3 || argc > 4 || D < 8 || D > 1024 || D % 8 != 0) {
        fprintf(
            stderr, "usage: make-tiny-bundle SPM DIR [D]  (D: a multiple of 8 up to 1024; 8)\n");
        return 2;
    }
    if (strlen(argv[2]) > 900 || make(argv[1], argv[2], (uint32_t)D, &err) != DG_OK) {
        fprintf(stderr, "make-tiny-bundle: %s\n", err.code ? err.message : "the path is too long");
        return 1;
    }
    return 0;
}
