/* Alignments are those of the decoding steps themselves: over real sentences of a trained model,
 * searched side by side with several beams, each piece of an answer points where a teacher-forced
 * pass over that answer attends most. In fp32 always. A quantised model's steps keep keys and
 * values in 16 bits, which the pass does not: there a piece may point to another position of equal
 * weight. Built once more for the CUDA backend (tests/emu), whose steps keep the search on the
 * device. */
#include "tests/invariants/random_model.h"

#include "model/trace.h"
#include "translate/translate.h"

#ifdef DG_TEST_CUDA
#include "tests/emu/cuda.h"
#endif

enum { SENTENCES = 24 };

/* Keys of 11 significant bits move a weight between 0 and 1 by less (measured: 0.0024 at most). */
static const double SAME_WEIGHT = 1e-2;

static const char text[] =
    "Two dogs are playing in the snow. A man in a blue shirt is standing on a ladder. "
    "A little girl climbs into a wooden playhouse. Several people wait at the station for the "
    "train to the city. A woman holds a red umbrella while it rains. The children built a castle "
    "of sand on the beach. Three musicians play in the street in front of a crowd. An old man "
    "sells fruit and vegetables at the market. A boy jumps over a puddle. People are sitting at "
    "long tables and eat. A black cat sleeps on the roof of a car. The cyclist wears a yellow "
    "helmet and gloves. Workers repair the road near a tall building. A group of friends takes a "
    "picture of the mountains. A girl in a white dress dances on a stage. Two men push a boat "
    "into the water. A dog with a stick in its mouth runs through the grass. A student reads a "
    "book under a tree. The goalkeeper catches the ball with both hands. A family has a picnic "
    "in the park. A young woman paints a picture of the sea. Some birds sit on a fence. A chef "
    "prepares a meal in a large kitchen. A man and a woman walk along the river at night.";

/* Converts an int8 tensor's elements to fp32. */
static float *widen(const struct dg_tensor *t)
{
    const struct dg_stored *s = &t->stored[0];
    const size_t N = t->shape[0], K = t->shape[1];
    float *x = malloc(N * K * sizeof *x);
    assert_non_null(x);
    assert_true(s->type == DG_S8 || s->type == DG_F32);
    for (size_t i = 0; i < N * K; i++)
        x[i] = s->type == DG_F32 ? ((const float *)s->data)[i]
                                 : (float)((const int8_t *)s->data)[i] * s->scales[i / K];
    return x;
}

/* Copies the weights with all tensors in fp32. */
static struct dg_weights *widened(const struct dg_weights *from)
{
    char path[] = "/tmp/dragoman-test-XXXXXX";
    struct dg_error err = {0};
    struct dg_weights_writer *w = NULL;
    struct dg_weights *out = NULL;
    close(mkstemp(path));
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    for (size_t i = 0; i < dg_weights_count(from); i++) {
        const struct dg_tensor *t = dg_weights_at(from, i);
        float *x = widen(t);
        assert_int_equal(
            dg_weights_writer_add(w, t->name, t->shape[0], t->shape[1], DG_F32, x, &err), 0);
        free(x);
    }
    if (dg_weights_writer_commit(w, path, &err) || dg_weights_open(path, &out, &err))
        fail_msg("%s", err.message);
    dg_weights_writer_close(w);
    unlink(path);
    return out;
}

/* Counts the pieces of one answer that point elsewhere than the pass; fails where the two
 * positions' weights differ by more than `tolerance`. */
static uint32_t compare(const struct dg_model *m, struct dg_backend *be,
    const struct dg_sentence *s, const struct dg_result *r, double tolerance)
{
    const struct dg_config *c = dg_model_config(m);
    const uint32_t T = r->hyps[0].n, S = s->n_source, layer = c->align_layer - 1;
    struct dg_trace trace;
    struct dg_error err = {0};
    uint32_t moved = 0;
    /* as in the manifest: all heads of layer 3 */
    assert_true(c->align_layer == 3 && !c->align_head);
    if (dg_trace_run(m, be, &(struct dg_trace_ids){s->source, S, r->hyps[0].ids, T}, &trace, &err))
        fail_msg("%s", err.message);
    for (uint32_t t = 0; t < T; t++) {
        double mean[512] = {0};
        uint32_t best = 0;
        const int32_t at = r->alignment[t];
        assert_true(at >= 0 && (uint32_t)at < S);
        for (uint32_t k = 0; k < S; k++) {
            for (uint32_t h = 0; h < c->H; h++)
                mean[k] += (double)trace.cross[((layer * c->H + h) * T + t) * S + k] / c->H;
            best = mean[k] > mean[best] ? k : best;
        }
        if (mean[best] - mean[at] > tolerance)
            fail_msg("piece %u of %u: position %d has weight %g, %u has %g", t, T, at, mean[at],
                best, mean[best]);
        moved += (uint32_t)r->alignment[t] != best;
    }
    dg_trace_deinit(&trace);
    return moved;
}

/* Runs all sentences at once through an engine with room for a few, with every beam from 1 to 5. */
static void check(const struct dg_model *m, struct dg_backend *be, const struct dg_job *job,
    double tolerance, uint32_t most_moved)
{
    const struct dg_engine_limits limits = {.max_rows = 24, .max_sentences = 8};
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    struct dg_sentence s[SENTENCES];
    uint32_t next = 0, answered = 0, moved = 0, pieces = 0, away = 0;
    assert_int_equal(dg_job_sentences(job), SENTENCES);
    assert_int_equal(dg_engine_open(m, be, &limits, &e, &err), 0);
    while (answered < SENTENCES) {
        for (int rc = 0; !rc && next < SENTENCES; next += !rc) {
            dg_job_sentence(job, next, &s[next]);
            s[next].search.beam = 1 + next % 5;
            s[next].want_alignment = true;
            rc = dg_engine_admit(e, next, &s[next], &err);
            assert_true(rc == 0 || rc == DG_EAGAIN);
        }
        dg_engine_step(e);
        for (const struct dg_result *r; (r = dg_engine_poll(e)); answered++) {
            assert_non_null(r->alignment);
            moved += compare(m, be, &s[r->id], r, tolerance);
            pieces += r->hyps[0].n;
            for (uint32_t t = 0; t < r->hyps[0].n; t++)
                away += r->alignment[t] != (int32_t)t;
            dg_engine_release(e, r);
        }
    }
    print_message("%u of %u pieces point elsewhere\n", moved, pieces);
    assert_true(pieces > 200 && away > pieces / 5); /* more than a diagonal */
    assert_true(moved <= most_moved);
    dg_engine_close(e);
}

static struct dg_backend *open_backend(void)
{
#ifdef DG_TEST_CUDA
    return cuda_or_skip("fp32");
#else
    struct dg_backend *be = NULL;
    assert_int_equal(dg_cpu_open(NULL, &be, NULL), 0);
    return be;
#endif
}

static void test_real_sentences(void **state)
{
    (void)state;
    struct dg_backend *be = open_backend();
    struct dg_translator *t;
    struct dg_job *job;
    struct dg_error err = {0};
    struct dg_model *wide;
    if (dg_translator_open("tests/data/en-de", be, 512, &t, &err) ||
        dg_job_encode(t, text, strlen(text), &(struct dg_translate_options){0}, &job, &err))
        fail_msg("%s", err.message);
    const struct dg_model *stored = dg_translator_model(t);
    struct dg_bundle *file; /* the translator's own copy drops its rows as it packs them */
    if (dg_bundle_open("tests/data/en-de", &file, &err))
        fail_msg("%s", err.message);
    struct dg_weights *weights = widened(dg_bundle_weights(file));
    assert_string_equal(dg_weights_main_type(dg_bundle_weights(file)), "int8");
    dg_bundle_close(file);
    if (dg_model_open(dg_model_config(stored), weights, be, 512, &wide, &err))
        fail_msg("%s", err.message);
    check(wide, be, job, 0, 0);
    check(stored, be, job, SAME_WEIGHT, 5);
    dg_model_close(wide);
    dg_weights_close(weights);
    dg_job_free(job);
    dg_translator_close(t);
    be->ops->close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real_sentences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
