/* No step of the engine allocates: malloc, calloc and realloc are counted. */
#include "tests/invariants/random_model.h"
#include "tests/sanitized.h"

#if !SANITIZED
extern void *__libc_malloc(size_t n);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_calloc(size_t n, size_t size);
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
static size_t allocations;

void *malloc(size_t n)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_realloc(p, n);
}
#endif

static void steps_allocate_nothing(void **state)
{
    (void)state;
#if !SANITIZED
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    int32_t source[30];
    uint64_t rng = 21;
    static const uint64_t none[1];
    const struct dg_term_form form = {0, 0, 3, DG_TERM_ANYWHERE};
    const int32_t term[] = {5, 9, 7};
    const struct dg_terms terms = {&form, 1, 1, term, 3, none, none, NULL, NULL};
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 200, 17);
    assert_int_equal(dg_engine_open(m.model, m.be, NULL, &e, &err), 0);
    for (uint64_t i = 0; i < 12; i++) {
        uint32_t n = 3 + (uint32_t)i * 2;
        random_sentence(&c, source, n, &rng);
        struct dg_sentence s = {.source = source,
            .n_source = n,
            .search = {.beam = 1 + (uint32_t)i % 5, .alpha = 0.6f},
            .terms = i % 4 == 0 ? &terms : NULL};
        assert_int_equal(dg_engine_admit(e, i, &s, &err), 0);
    }
    size_t before = allocations, steps = 0;
    while (dg_engine_step(e))
        steps++;
    assert_int_equal(allocations, before);
    assert_true(steps > 5);
    for (const struct dg_result *r; (r = dg_engine_poll(e));)
        dg_engine_release(e, r);
    dg_engine_close(e);
    random_model_close(&m);
#else
    skip(); /* the sanitizer's allocator cannot be counted */
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
