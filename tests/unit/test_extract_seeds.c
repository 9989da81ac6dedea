/* The seeds of tests/fuzz/fuzz_extract.c: every packed kind of file has one with texts, because a
 * fuzzer does not find the form of an archive by itself; and which kinds come back byte for byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <limits.h>

#include "tests/fuzz/fuzz_extract.c"

#define SEEDS "tests/fuzz/corpus/extract"

static size_t read_seed(const char *name, uint8_t **out)
{
    char path[PATH_MAX];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", SEEDS, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *out = malloc(1 << 20);
    assert_non_null(*out);
    n = fread(*out, 1, 1 << 20, f);
    assert_int_equal(fclose(f), 0);
    return n;
}

/* Number of texts of the file. */
static size_t count_texts(const struct input *in)
{
    struct dg_extract *x = NULL;
    struct dg_error err = {0};
    size_t n = 0;
    if (dg_extract_open(in->suffix, in->file, in->n, "de", &limits, &x, &err) == DG_OK)
        n = dg_extract_count(x);
    dg_extract_close(x);
    return n;
}

enum { MOST_KINDS = 64 };

static void test_packed_kinds_have_seeds(void **state)
{
    size_t texts[MOST_KINDS] = {0};
    struct dirent *e;
    DIR *seeds = opendir(SEEDS);
    (void)state;
    assert_non_null(seeds);
    while ((e = readdir(seeds))) {
        uint8_t *data;
        if (e->d_name[0] == '.')
            continue;
        size_t n = read_seed(e->d_name, &data);
        struct input in = make_input(data, n);
        for (size_t i = 0; i < MOST_KINDS && dg_extract_suffix_at(i); i++)
            if (!strcmp(in.suffix, dg_extract_suffix_at(i)))
                texts[i] += count_texts(&in);
        assert_int_equal(LLVMFuzzerTestOneInput(data, n), 0);
        free(in.file);
        free(data);
    }
    closedir(seeds);
    for (size_t i = 0; i < MOST_KINDS && dg_extract_suffix_at(i); i++)
        if (is_packed(dg_extract_suffix_at(i)) && texts[i] == 0)
            fail_msg("no seed in %s has texts of a %s file", SEEDS, dg_extract_suffix_at(i));
}

static void test_files_of_both_languages(void **state)
{
    (void)state;
    const char *s;
    for (size_t i = 0; (s = dg_extract_suffix_at(i)); i++) {
        const bool both = !strcmp(s, ".po") || !strcmp(s, ".pot") || !strcmp(s, ".xlf") ||
                          !strcmp(s, ".xliff") || !strcmp(s, ".ts") || !strcmp(s, ".xcstrings");
        if (is_filled(s) != both)
            fail_msg("%s", s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_kinds_have_seeds),
        cmocka_unit_test(test_files_of_both_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
