/* The layers of a trained model from which a model of another depth starts
 * (trainer/update/init.h). */
#include "trainer/update/init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void expect(uint32_t of, uint32_t to, const char *wanted)
{
    const struct dg_init_from from = {NULL, of, 3};
    struct dg_config c;
    char got[64] = "", name[64], origin[64];
    dg_config_base(&c, 100);
    c.enc_layers = to;
    c.dec_layers = 3;
    for (uint32_t i = 0; i < to; i++) {
        snprintf(name, sizeof name, "enc.%u.ffn.w1", i);
        dg_init_origin(&from, &c, name, origin);
        unsigned layer;
        assert_int_equal(sscanf(origin, "enc.%u.ffn.w1", &layer), 1);
        snprintf(got + 2 * (size_t)i, 3, "%u ", layer);
    }
    assert_string_equal(got, wanted);
    dg_init_origin(&from, &c, "dec.1.self.qkv.w", origin);
    assert_string_equal(origin, "dec.1.self.qkv.w");
    dg_init_origin(&from, &c, "src.embed", origin);
    assert_string_equal(origin, "src.embed");
}

static void test_origins(void **state)
{
    (void)state;
    expect(3, 3, "0 1 2 ");
    expect(3, 6, "0 0 1 1 2 2 ");
    expect(3, 2, "0 2 ");
    expect(6, 3, "0 3 5 "); /* of two middle ones, the later */
    expect(1, 4, "0 0 0 0 ");
    expect(3, 1, "2 ");
    expect(6, 12, "0 0 1 1 2 2 3 3 4 4 5 5 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_origins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
