#include "kernels/cpu/cpu.h"
#include "trainer/update/adam.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct setup {
    struct dg_backend *be;
    struct dg_train *train;
    struct dg_adam_state *a;
};

static void begin(struct setup *s, const char *isa, const struct dg_adam_options *o, size_t n)
{
    struct dg_error err = {0};
    struct dg_cpu_options cpu = {.isa = isa, .threads = 1};
    assert_int_equal(dg_cpu_open(&cpu, &s->be, &err), 0);
    assert_int_equal(dg_cpu_train_open(s->be, &s->train, &err), 0);
    assert_int_equal(dg_adam_open(o, s->train, n, &s->a, &err), 0);
}

static void end(struct setup *s)
{
    dg_adam_close(s->a);
    dg_cpu_train_close(s->train);
    dg_cpu_close(s->be);
}

static void expect(const float *got, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= 1e-6 * (1 + fabs(want[i]))))
            fail_msg("[%zu] is %.8g, expected %.8g", i, (double)got[i], want[i]);
}

/* Three steps of Kingma & Ba's algorithm 1 with clipping (gradients halved), decoupled decay 0.1
 * and an average with decay 0.75, computed in numpy float64. */
static void test_three_steps(void **state)
{
    (void)state;
    static const float g[3][4] = {
        {0.1f, -0.2f, 0.3f, 4}, {0.05f, 0.2f, -0.3f, 2}, {-0.4f, 0, 0.3f, 1}};
    static const double p_want[] = {0.48336184, -0.24020535, 1.48269234, -3.01881375},
                        m_want[] = {-0.0137, 0.0009, 0.01365, 0.302},
                        v_want[] = {0.00086027, 0.00038808, 0.00132318, 0.101432},
                        ema_want[] = {0.49055047, -0.24424179, 1.49171924, -3.00818939};
    struct dg_adam_options o = {0.9, 0.98, 1e-9, 0.1, 0.75};
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++) {
        struct setup s;
        float p[4] = {0.5f, -0.25f, 1.5f, -3};
        begin(&s, *isa, &o, 4);
        dg_adam_start(s.a, p);
        for (int t = 0; t < 3; t++) {
            s.a->step++;
            dg_adam_update(s.a, s.train, &(struct dg_adam_input){0.01, 0.5, g[t], p}, 0, 4);
        }
        expect(p, p_want, 4);
        expect(s.a->m, m_want, 4);
        expect(s.a->v, v_want, 4);
        expect(s.a->ema, ema_want, 4);
        end(&s);
    }
}

/* The bits are the same however the block is sliced: threads share it in any order. */
static void test_slices(void **state)
{
    (void)state;
    enum { N = 4096 };
    struct dg_adam_options o = {0.9, 0.98, 1e-9, 0, 0};
    struct setup whole, parts;
    float *p = malloc(2 * N * sizeof *p), *g = malloc(N * sizeof *g);
    begin(&whole, NULL, &o, N);
    begin(&parts, NULL, &o, N);
    for (int i = 0; i < N; i++) {
        p[i] = p[N + i] = (float)(i % 97) / 97;
        g[i] = (float)(i % 31) / 31 - 0.5f;
    }
    for (int t = 0; t < 4; t++) {
        whole.a->step++;
        parts.a->step++;
        dg_adam_update(whole.a, whole.train, &(struct dg_adam_input){0.001, 1, g, p}, 0, N);
        for (size_t at = N; at > 0; at -= 256)
            dg_adam_update(
                parts.a, parts.train, &(struct dg_adam_input){0.001, 1, g, p + N}, at - 256, at);
    }
    assert_memory_equal(p, p + N, N * sizeof *p);
    assert_memory_equal(whole.a->v, parts.a->v, N * sizeof *p);
    end(&whole);
    end(&parts);
    free(p), free(g);
}

/* Without decay and average nothing is allocated for them, and a zero gradient moves nothing. */
static void test_nothing_to_learn(void **state)
{
    (void)state;
    struct dg_adam_options o = {0.9, 0.98, 1e-9, 0, 0};
    struct setup s;
    float p[3] = {1, -2, 3}, g[3] = {0};
    begin(&s, NULL, &o, 3);
    assert_null(s.a->ema);
    s.a->step = 1;
    dg_adam_update(s.a, s.train, &(struct dg_adam_input){0.1, 1, g, p}, 0, 3);
    assert_true(p[0] == 1 && p[1] == -2 && p[2] == 3);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_three_steps),
        cmocka_unit_test(test_slices), cmocka_unit_test(test_nothing_to_learn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
