/* Preparing a corpus that is larger than the memory it may take. */
#include "tests/sanitized.h"
#include "tests/unit/prepare_corpus.h"

#include <sys/resource.h>

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Prepares a corpus of 100 MB within 64 MB of memory above the program's own at its start: blocks,
 * hashes and a vocabulary's sample are bounded, the text is not held. One thread, because each
 * thread's stack and heap reserve counts too. */
static void test_larger_than_memory(void **state)
{
    (void)state;
    enum { PAIRS = 240000 };
    if (SANITIZED) /* shadow memory does not fit under an address limit */
        skip();
    struct dg_buffer s, t, filler;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    dg_buffer_init(&filler);
    for (int i = 0; i < 12; i++)
        dg_buffer_adds(&filler, "walking paper ");
    FILE *a = fopen(in_folder("big.en"), "w"), *b = fopen(in_folder("big.de"), "w");
    assert_true(a && b);
    size_t bytes = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        dg_buffer_reset(&s);
        dg_buffer_reset(&t);
        add_pair(&s, &t, i / 10); /* nine of ten are duplicates */
        bytes += (size_t)fprintf(a, "%s%s", i % 40 < 38 ? filler.data : "", s.data);
        bytes += (size_t)fprintf(b, "%s%s", i % 40 < 38 ? filler.data : "", t.data);
    }
    assert_int_equal(fclose(a), 0);
    assert_int_equal(fclose(b), 0);
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
    dg_buffer_deinit(&filler);
    assert_true(bytes > 90000000);
    char text[1024];
    struct dg_recipe *r;
    struct dg_error err = {0};
    snprintf(text, sizeof text,
        "{\"vocabulary\":{\"from\":\"%s/"
        "source.spm\"},\"cleaning\":{\"language_check\":false,\"max_tokens\":20},\"data\":{"
        "\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":[{\"source\":\"big."
        "en\",\"target\":\"big.de\"}]}]}}",
        in_folder("a"));
    assert_int_equal(dg_recipe_parse(text, strlen(text), "", folder, &r, &err), 0);
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    tight = old;
    tight.rlim_cur = address_space() + ((rlim_t)64 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    int rc = prepare(r, in_folder("big"), 1, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    if (rc)
        fail_msg("%s", err.message);
    struct dg_prepared *p;
    assert_int_equal(dg_prepared_open(in_folder("big"), &p, NULL), 0);
    assert_int_equal(dropped(p, "read"), PAIRS);
    assert_int_equal(
        dropped(p, "duplicate") + dropped(p, "kept") + dropped(p, "too_many_tokens"), PAIRS);
    dg_prepared_close(p);
    dg_recipe_free(r);
}

/* Prepares the small corpus in folder "a", for its vocabulary. */
static int prepare_a(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_error err = {0};
    int rc = prepare(r, in_folder("a"), 2, NULL, &err);
    if (rc)
        print_error("%s\n", err.message);
    dg_recipe_free(r);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_larger_than_memory)};
    if (make(NULL))
        return 1;
    write_corpus();
    return cmocka_run_group_tests(tests, prepare_a, clear);
}
