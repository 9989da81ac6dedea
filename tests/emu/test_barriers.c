/* Runs a few blocks of every kernel that has barriers, small enough for ThreadSanitizer, under
 * which each CUDA thread is a thread (emu.cc) and a missing barrier is a reported race. Results are
 * checked elsewhere; here they only have to be numbers. In other builds the same calls run as
 * fibers. */
#include "tests/ops/ops.h"

#include "kernels/device_search.h"
#include "kernels/train.h"
#include "tests/emu/cuda.h"

static struct dg_backend *be;
static struct dg_train *train;

static int begin(void **state)
{
    struct dg_error err = {0};
    (void)state;
    be = cuda_or_skip("fp32");
    assert_int_equal(dg_train_open(be, &train, &err), 0);
    return 0;
}

static int end(void **state)
{
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(be->ops->status(be, &err), 0);
    dg_train_close(train);
    dg_device_close(be);
    return 0;
}

/* M rows of N numbers. */
static struct dg_rows rows(size_t M, size_t N)
{
    float *x = ops_floats(M * N, 1);
    const struct dg_rows r = ops_rows(be, x, M, N, 0, N);
    free(x);
    return r;
}

static void numbers(struct dg_rows r, size_t M, size_t N)
{
    float *x = malloc(M * N * sizeof *x);
    be->ops->read(be, r, M, N, x);
    for (size_t i = 0; i < M * N; i++)
        assert_true(isfinite(x[i]));
    free(x);
    be->ops->buf_free(be, r.buf);
}

/* One head, forward and backward, with three links of a guide. */
static void attention(uint32_t D, uint32_t Q, uint32_t K, const struct dg_link links[3])
{
    uint32_t keys[40];
    for (uint32_t i = 0; i < Q; i++)
        keys[i] = i;
    const struct dg_dropout drop = {0.2f, 9, keys};
    const struct dg_attn_seg seg = {0, Q, K, 0, NULL, true, 0};
    struct dg_attention op = {
        1, D, D, DG_ATTN_SEGS, &seg, 1, rows(K, D), rows(K, D), rows(1, Q * K), .drop = &drop};
    struct dg_rows q = rows(Q, D), out = rows(Q, D), dq = rows(Q, D), dk = rows(K, D),
                   dv = rows(K, D);
    const size_t first[] = {0, 3};
    uint64_t n_guided = 1;
    for (int i = 1; i < 3; i++)
        n_guided += links[i].query != links[i - 1].query;
    struct dg_loss_sums sums = {0};
    const struct dg_guide guide = {links, first, 0, 1, 1, &sums};
    struct dg_attention_grad g = {&op, q, out, dq, dk, dv, &guide};
    struct dg_error err = {0};
    be->ops->attention(be, &op, q, out);
    assert_int_equal(train->ops->attention_backward(train, &g, &err), 0);
    dg_train_sums(train, &sums);
    assert_true(isfinite(sums.guided) && sums.n_guided == n_guided);
    numbers(dq, Q, D), numbers(dk, K, D), numbers(dv, K, D), numbers(out, Q, D), numbers(q, Q, D);
    numbers(op.probs, 1, Q * K), numbers(op.k, K, D), numbers(op.v, K, D);
}

static void test_attention(void **state)
{
    static const struct dg_link three[] = {{0, 0}, {2, 5}, {2, 39}},
                                one[] = {{0, 0}, {0, 5}, {0, 39}};
    (void)state;
    attention(5, 3, 40, three);
    attention(64, 3, 40, three);
    attention(64, 1, 40, one);
}

/* On tensor cores: two tiles of queries, three of keys, two chunks of keys. */
static void test_attention_mma(void **state)
{
    static const struct dg_link links[] = {{0, 0}, {2, 5}, {33, 69}};
    struct dg_backend *fp32 = be;
    struct dg_train *trains = train;
    struct dg_error err = {0};
    (void)state;
    be = cuda_or_skip("bf16");
    assert_int_equal(dg_train_open(be, &train, &err), 0);
    attention(32, 34, 70, links);
    end(state);
    be = fp32, train = trains;
}

static void test_rows_of_logits(void **state)
{
    enum { M = 2, V = 600 };
    const uint32_t k[M] = {5, 3};
    const int32_t target[M] = {7, 599};
    float logprob[M * 5];
    int32_t ids[M * 5];
    struct dg_rows x = rows(M, V);
    struct dg_loss_sums sums = {0};
    (void)state;
    be->ops->topk(be, &(struct dg_topk){V, 5, k, NULL, logprob, ids, NULL}, x, M);
    assert_true(ids[0] >= 0 && logprob[0] >= logprob[1]);
    train->ops->loss(train, &(struct dg_loss){V, target, 0.1f, 1, true}, x, M, &sums);
    dg_train_sums(train, &sums);
    assert_true(isfinite(sums.smoothed));
    numbers(x, M, V);
}

static void test_square_sum(void **state)
{
    struct dg_error err = {0};
    float one[700], *x;
    (void)state;
    for (int i = 0; i < 700; i++)
        one[i] = 1;
    assert_int_equal(train->ops->block_new(train, 700, &x, &err), 0);
    train->ops->block_write(train, x, one, 700);
    assert_true(train->ops->square_sum(train, x, 700) == 700);
    train->ops->block_free(train, x);
}

/* Two strips of rows, and an id that only some warps of a block look up. */
static void test_sums_over_rows(void **state)
{
    enum { M = 35, D = 40 };
    struct dg_error err = {0};
    int32_t ids[M] = {0};
    float *block;
    struct dg_weight *w;
    (void)state;
    assert_int_equal(train->ops->block_new(train, D, &block, &err), 0);
    const struct dg_stored stored = {DG_F32, DG_LAYOUT_ROWS, block, NULL};
    const struct dg_weight_spec spec = {
        "w", DG_USE_VECTOR, 1, D, true, &stored, 1, .in_place = NULL};
    assert_int_equal(be->ops->weight_new(be, &spec, &w, &err), 0);
    const struct dg_norm op = {
        .gain = w, .bias = w, .eps = 1e-5f, .xhat = rows(M, D), .rstd = rows(M, 1)};
    struct dg_rows dy = rows(M, D), dx = rows(M, D);
    train->ops->add_norm_backward(train,
        &(struct dg_norm_grad){.op = &op, .dy = dy, .dx = dx, .dr = dy, .dgain = w, .dbias = w}, M,
        D);
    const struct dg_embed look = {w, w, 1, ids, ids, NULL};
    train->ops->embed_backward(train, &(struct dg_embed_grad){&look, dx, w, NULL}, M);
    numbers(dx, M, D), numbers(dy, M, D), numbers(op.xhat, M, D), numbers(op.rstd, M, 1);
    be->ops->weight_free(be, w);
    train->ops->block_free(train, block);
}

/* Two steps of two sentences; the logits are the same in both. */
static void test_device_search(void **state)
{
    enum { M = 4, V = 40 };
    const struct dg_device_search_ops *ops = be->ops->device_search;
    const struct dg_device_search_limits most = {.places = 2,
        .width = 3,
        .rows = 6,
        .positions = 9,
        .memory = 2,
        .candidates = 7,
        .V = V,
        .weights = rows(1, 6 * 2 * 2), /* of two heads; left unwritten */
        .H = 2,
        .n_heads = 2,
        .eos = 0,
        .never = -1};
    const int32_t memory[] = {1, 2}, slots[] = {3, 4, 5, 6}, last[] = {-1};
    const double zero[] = {0};
    struct dg_device_search *t;
    struct dg_error err = {0};
    struct dg_rows logits = rows(6, V);
    (void)state;
    assert_int_equal(ops->open(be, &most, &t, &err), 0);
    assert_non_null(t);
    const struct dg_device_search_sentence both[] = {
        {0, 1, 0, memory, 2, last, zero, slots, 1}, {1, 1, 0, memory, 2, last, zero, slots, 1}};
    ops->place(be, t, both, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct dg_device_search_part parts[] = {
            {0, i ? 3 : 1, 3, i, 2, 6, -1, false, false}, {1, 1, 1, i, 2, 2, -1, true, true}};
        const struct dg_device_search_step step = {parts, 2, i ? 4 : 2, slots, 0};
        struct dg_device_search_found found;
        size_t rows_run;
        if (ops->begin(be, t, &step, &rows_run))
            assert_int_equal(rows_run, 4);
        ops->end(be, t, logits);
        assert_true(ops->wait(be, t, &found));
        for (uint32_t r = 0; r < 4; r++)
            assert_true(found.pieces[r] > 0 && found.parents[r] >= 0 && found.parents[r] < 3);
        for (uint32_t r = 0; r < step.n_rows; r++)
            assert_true(found.sources[r] == 0 || found.sources[r] == 1);
    }
    ops->close(be, t);
    be->ops->buf_free(be, logits.buf);
    be->ops->buf_free(be, most.weights.buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attention_mma), cmocka_unit_test(test_rows_of_logits),
        cmocka_unit_test(test_device_search), cmocka_unit_test(test_square_sum),
        cmocka_unit_test(test_sums_over_rows)};
    return cmocka_run_group_tests(tests, begin, end);
}
