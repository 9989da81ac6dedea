/* The order in which gradients are exchanged: every element once, layers in the order in which
 * backward finishes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/param_block.h"
#include "trainer/update/grad_order.h"

static struct dg_config small(bool tied)
{
    struct dg_config c;
    dg_config_base(&c, 50);
    c.D = 16;
    c.F = 32;
    c.H = 2;
    c.Dk = c.Dv = 8;
    c.enc_layers = 2;
    c.dec_layers = 3;
    c.tied_embeddings = tied;
    return c;
}

static void test_every_element_once(void **state)
{
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        const struct dg_config c = small(tied);
        const size_t n = dg_param_block_size(&c);
        struct dg_grad_order s;
        unsigned char *seen = calloc(n, 1);
        dg_grad_order_init(&s, &c);
        assert_int_equal(s.n_groups, 6);
        for (size_t i = 0; i < s.n; i++) {
            assert_true(s.list[i].begin < s.list[i].end && s.list[i].end <= n);
            assert_true(i == 0 || s.list[i].group >= s.list[i - 1].group);
            for (size_t k = s.list[i].begin; k < s.list[i].end; k++)
                assert_int_equal(seen[k]++, 0);
        }
        for (size_t k = 0; k < n; k++)
            assert_int_equal(seen[k], 1);
        free(seen);
        dg_grad_order_deinit(&s);
    }
}

/* Returns the group of a tensor's first element. */
static size_t group_of(const struct dg_grad_order *s, const struct dg_config *c, const char *name)
{
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        if (strcmp(info.name, name))
            continue;
        const size_t at = dg_param_block_offset(c, i);
        for (size_t k = 0; k < s->n; k++)
            if (at >= s->list[k].begin && at < s->list[k].end)
                return s->list[k].group;
    }
    fail_msg("no tensor %s", name);
    return 0;
}

static void test_order(void **state)
{
    (void)state;
    const struct dg_config c = small(true);
    struct dg_grad_order s;
    dg_grad_order_init(&s, &c);
    assert_int_equal(dg_grad_order_after(&c, 1, 2), 1); /* the decoder's last of three */
    assert_int_equal(dg_grad_order_after(&c, 1, 0), 3);
    assert_int_equal(dg_grad_order_after(&c, 0, 1), 4); /* the encoder's last of two */
    assert_int_equal(dg_grad_order_after(&c, 0, 0), 5);
    assert_int_equal(group_of(&s, &c, "dec.2.ffn.w1"), 0);
    assert_int_equal(group_of(&s, &c, "dec.0.ffn.w1"), 2);
    assert_int_equal(group_of(&s, &c, "enc.1.ffn.w1"), 3);
    assert_int_equal(group_of(&s, &c, "enc.0.ffn.w1"), 4);
    assert_int_equal(group_of(&s, &c, "src.embed"), 5);
    dg_grad_order_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_element_once), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
