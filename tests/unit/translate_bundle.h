/* A bundle made here (random weights, a real SentencePiece model) and its translator, for the tests
 * of translate/. The model's output is noise. */
#ifndef DG_TESTS_UNIT_TRANSLATE_BUNDLE_H
#define DG_TESTS_UNIT_TRANSLATE_BUNDLE_H

#include "base/file.h"
#include "tests/invariants/random_model.h"
#include "tests/unit/byte_of.h"
#include "translate/run/runner.h"
#include "weights/bundle.h"

#define SPM "tests/data/tokenizer/joint.model"

static char dir[64];
static struct dg_backend *be;
static struct dg_translator *translator;
static struct dg_runner *runner;

static inline void copy_in(const char *from, const char *name)
{
    char to[128];
    struct dg_map map = {0};
    struct dg_error err = {0};
    snprintf(to, sizeof to, "%s/%s", dir, name);
    if (dg_file_map(from, &map, &err) || dg_file_write(to, map.data, map.size, &err))
        fail_msg("%s", err.message);
    dg_file_unmap(&map);
}

static inline void write_weights(const struct dg_config *c, const char *path)
{
    struct dg_weights_writer *w = NULL;
    struct dg_error err = {0};
    uint64_t seed = 99;
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        float *x = malloc((size_t)info.N * info.K * sizeof *x);
        assert_non_null(x);
        fill(c, &info, x, &seed);
        if (!strcmp(info.name, "out.b"))
            x[c->unk] = 3.0f; /* <unk> now and then */
        assert_int_equal(dg_weights_writer_add(w, info.name, info.N, info.K, DG_F32, x, &err), 0);
        free(x);
    }
    if (dg_weights_writer_commit(w, path, &err))
        fail_msg("%s", err.message);
    dg_weights_writer_close(w);
}

static inline struct dg_json *manifest(const struct dg_config *c)
{
    struct dg_error err = {0};
    static const char text[] = "{\"format\":1,\"name\":\"test\",\"capitals\":\"as_words\","
                               "\"pairs\":[[\"en\",\"de\"]],\"files\":{\"weights\":\"weights.dgw\","
                               "\"source_spm\":\"joint.spm\",\"target_spm\":\"joint.spm\",\"source_"
                               "vocab\":\"joint.vocab\","
                               "\"target_vocab\":\"joint.vocab\"}}";
    struct dg_json *m = dg_json_parse(text, strlen(text), &err);
    assert_non_null(m);
    assert_int_equal(dg_config_write(c, m), 0);
    return m;
}

static inline int set_up(void **state)
{
    (void)state;
    struct dg_config c;
    struct dg_tokenizer *t = NULL;
    struct dg_error err = {0};
    char path[128], vocab[128];
    strcpy(dir, "/tmp/dragoman-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    copy_in(SPM, "joint.spm");
    snprintf(vocab, sizeof vocab, "%s/joint.vocab", dir);
    if (dg_tokenizer_write_vocab(SPM, vocab, &err) || dg_tokenizer_open(SPM, vocab, &t, &err))
        fail_msg("%s", err.message);
    dg_config_base(&c, dg_tokenizer_size(t));
    c.eos = dg_tokenizer_id(t, "</s>");
    c.unk = dg_tokenizer_unk(t);
    c.start = -1;
    dg_tokenizer_close(t);
    c.D = 32;
    c.F = 64;
    c.H = 4;
    c.Dk = c.Dv = 8;
    c.enc_layers = c.dec_layers = 1;
    c.embed_scale = sqrtf(32.0f);
    c.output_bias = true;
    snprintf(path, sizeof path, "%s/weights.dgw", dir);
    write_weights(&c, path);
    struct dg_json *m = manifest(&c);
    if (dg_bundle_seal(dir, m, &err) || dg_cpu_open(NULL, &be, &err) ||
        dg_translator_open(dir, be, 200, &translator, &err) ||
        dg_runner_open(translator, 2, 1, NULL, &runner, &err))
        fail_msg("%s", err.message);
    dg_json_free(m);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"joint.spm", "joint.vocab", "weights.dgw", "manifest.json"};
    dg_runner_close(runner);
    dg_translator_close(translator);
    dg_cpu_close(be);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
    return 0;
}

static inline struct dg_job *translated(
    const char *text, const struct dg_translate_options *o, struct dg_answers *a)
{
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    if (dg_job_encode(translator, text, strlen(text), o, &j, &err) ||
        dg_runner_run(runner, &j, 1, NULL, NULL, &err) || dg_job_finish(j, a, &err))
        fail_msg("%s", err.message);
    return j;
}

/* Checks that the gaps between the answer's sentences are those of the input, byte for byte. */
static inline void check_layout(const char *text, const struct dg_answers *a)
{
    size_t s = 0, t = 0;
    const char *out = a->best[0].text;
    for (size_t i = 0; i <= a->n_sentences; i++) {
        size_t s_end =
            i < a->n_sentences ? byte_of(text, a->sentences[i].source_begin) : strlen(text);
        size_t t_end =
            i < a->n_sentences ? byte_of(out, a->sentences[i].target_begin) : a->best[0].len;
        assert_int_equal(s_end - s, t_end - t);
        assert_memory_equal(text + s, out + t, s_end - s);
        if (i < a->n_sentences) {
            s = byte_of(text, a->sentences[i].source_end);
            t = byte_of(out, a->sentences[i].target_end);
        }
    }
}

#endif
