/* Words of DRAGOMAN_DEBUG. */
#include "base/debug.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void words(void **state)
{
    static const struct {
        const char *value;
        bool log, graphs, valid;
    } cases[] = {
        {"", false, false, true},
        {"cuda-log", true, false, true},
        {"cuda-graphs-off,cuda-log", true, true, true},
        {",cuda-graphs-off,", false, true, true},
        {"cuda-log-more", false, false, false},
        {"cuda-lo", false, false, false},
        {"cuda-log,1", true, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_error err = {0};
        setenv("DRAGOMAN_DEBUG", cases[i].value, 1);
        assert_int_equal(dg_debug("cuda-log"), cases[i].log);
        assert_int_equal(dg_debug("cuda-graphs-off"), cases[i].graphs);
        assert_int_equal(dg_debug_check(&err), cases[i].valid ? DG_OK : DG_EINVAL);
    }
    struct dg_error err = {0};
    dg_debug_check(&err);
    assert_string_equal(err.message, "DRAGOMAN_DEBUG has \"1\", it can have cuda-log, "
                                     "cuda-graphs-off, cuda-plain-attention, cuda-one-stream, "
                                     "cuda-one-algorithm and cuda-late-launches");
    unsetenv("DRAGOMAN_DEBUG");
    assert_false(dg_debug("cuda-log"));
    assert_int_equal(dg_debug_check(NULL), DG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
