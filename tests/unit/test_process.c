/* What the process reports about itself, and the memory that it returns. */
#include "server/process.h"

#include "tests/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MB (1 << 20)

enum { BLOCK = 4000, BLOCKS = 8 * MB / BLOCK, KEPT_EVERY = 64 };

static double resident_mb(void)
{
    struct dg_process p;
    dg_process_read(&p);
    return p.resident_bytes / MB;
}

/* As after a reload: memory allocated meanwhile lies between the freed blocks. */
static void enclosed_pages_are_given_back(void **state)
{
    static void *blocks[BLOCKS];
    (void)state;
    if (SANITIZED)
        skip();
    const double before = resident_mb();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (i % KEPT_EVERY != KEPT_EVERY - 1) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    assert_true(resident_mb() > before + 7);
    dg_process_shrink_heap();
    assert_true(resident_mb() < before + 1);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

int main(void)
{
    dg_process_keep_heap_small();
    const struct CMUnitTest tests[] = {cmocka_unit_test(enclosed_pages_are_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
