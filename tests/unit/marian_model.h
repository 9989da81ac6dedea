/* A temporary folder for the tests of Marian models, cleared afterwards. */
#ifndef DG_TESTS_UNIT_MARIAN_MODEL_H
#define DG_TESTS_UNIT_MARIAN_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int set_up(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = calloc(1, 256);
    snprintf(dir, 256, "%s/dg_marian_XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static inline int tear_down(void **state)
{
    static const char *const names[] = {"manifest.json", "weights.dgw", "joint.vocab",
        "source.vocab", "target.vocab", "joint.spm", "source.spm", "target.spm", "other.yml",
        "other.spm"};
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", (char *)*state, names[i]);
        unlink(path);
    }
    rmdir(*state);
    free(*state);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
