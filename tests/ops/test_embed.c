/* embed against its formula: plain and tied tables, every stored type, the zero vector, dropout. */
#include "tests/ops/ops.h"

enum { V = 37, D = 75, P = 12, M = 6 };

static const int32_t ids[M] = {0, 36, -1, 16, 15, 1}, pos[M] = {0, 11, 3, 3, 7, 1};

static void check(struct dg_backend *be, const char *isa, unsigned use, bool trainable, bool drop)
{
    float *table = ops_floats(V * D, 1), *positions = ops_floats(P * D, 2), y[M * D];
    uint32_t keys[M];
    for (uint32_t m = 0; m < M; m++)
        keys[m] = m * 1000;
    struct dg_dropout dropout = {0.25f, 0x99u, keys};
    struct dg_embed op = {ops_weight(be, use, V, D, table, trainable),
        ops_weight(be, DG_USE_TABLE, P, D, positions, trainable), sqrtf(D), ids, pos,
        drop ? &dropout : NULL};
    struct dg_rows yr = ops_rows(be, NULL, M, D, 3, D + 2);
    be->ops->embed(be, &op, yr, M);
    be->ops->read(be, yr, M, D, y);
    for (size_t m = 0; m < M; m++)
        for (size_t d = 0; d < D; d++) {
            double want = positions[(size_t)pos[m] * D + d];
            if (ids[m] >= 0)
                want += (double)sqrtf(D) * table[(size_t)ids[m] * D + d];
            if (drop)
                want = dg_dropout_keep(keys[m] ^ 0x99u, (uint32_t)d, 0.25f) ? want / 0.75 : 0;
            ops_near("embed", isa, m * D + d, y[m * D + d], want,
                32 * EPS); /* three roundings of values up to 13 */
        }
    be->ops->weight_free(be, (struct dg_weight *)op.table);
    be->ops->weight_free(be, (struct dg_weight *)op.positions);
    be->ops->buf_free(be, yr.buf);
    free(table), free(positions);
}

static void run_uses(struct dg_backend *be, const char *isa)
{
    for (int drop = 0; drop < 2; drop++) {
        check(be, isa, DG_USE_TABLE, false, drop);
        check(be, isa, DG_USE_TABLE | DG_USE_MATRIX, false, drop);
        check(be, isa, DG_USE_TABLE, OPS_TRAINABLE, drop);
        check(be, isa, DG_USE_TABLE | DG_USE_MATRIX, OPS_TRAINABLE, drop);
    }
}

static void test_uses(void **state)
{
    (void)state;
    ops_each_isa("embed", run_uses);
}

/* Lookup in the stored type: values that each type holds exactly come out exactly. */
static void run_types(struct dg_backend *be, const char *isa)
{
    (void)isa;
    const uint16_t half[4] = {0x3C00, 0xC100, 0x0001, 0x7BFF},
                   brain[4] = {0x3F80, 0xC020, 0x0001, 0x7F7F};
    const int8_t bytes[4] = {1, -5, 127, -128};
    const float scales[1] = {0.5f}, zero[4] = {0};
    const float want[3][4] = {
        {1, -2.5f, 0x1p-24f, 65504}, {1, -2.5f, 0x1p-133f, 0x1.FEp127f}, {0.5f, -2.5f, 63.5f, -64}};
    const struct dg_stored forms[3] = {{DG_F16, DG_LAYOUT_ROWS, half, NULL},
        {DG_BF16, DG_LAYOUT_ROWS, brain, NULL}, {DG_S8, DG_LAYOUT_ROWS, bytes, scales}};
    struct dg_weight *none = ops_weight(be, DG_USE_TABLE, 1, 4, zero, false);
    struct dg_rows yr = ops_rows(be, NULL, 1, 4, 0, 4);
    for (int type = 0; type < 3; type++)
        for (unsigned use = DG_USE_TABLE; use <= (DG_USE_TABLE | DG_USE_MATRIX);
             use += DG_USE_MATRIX) {
            struct dg_weight_spec spec = {"t", use, 1, 4, false, &forms[type], 1, .in_place = NULL};
            struct dg_weight *w;
            float y[4];
            assert_int_equal(be->ops->weight_new(be, &spec, &w, NULL), 0);
            int32_t at = 0;
            be->ops->embed(be, &(struct dg_embed){w, none, 1, &at, &at, NULL}, yr, 1);
            be->ops->read(be, yr, 1, 4, y);
            assert_memory_equal(y, want[type], sizeof y);
            if (use == DG_USE_TABLE) { /* as positions */
                be->ops->embed(be, &(struct dg_embed){none, w, 1, &at, &at, NULL}, yr, 1);
                be->ops->read(be, yr, 1, 4, y);
                assert_memory_equal(y, want[type], sizeof y);
            }
            be->ops->weight_free(be, w);
        }
    be->ops->weight_free(be, none);
    be->ops->buf_free(be, yr.buf);
}

static void test_types(void **state)
{
    (void)state;
    ops_each_isa("embed, stored types", run_types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_uses), cmocka_unit_test(test_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
