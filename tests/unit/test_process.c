/* What the process reports about itself, and the memory that it returns. */
#include "server/process.h"

#include "tests/sanitized.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>

#include <cmocka.h>

#define MB (1 << 20)

enum { BLOCK = 4000, BLOCKS = 8 * MB / BLOCK, KEPT_EVERY = 64 };

static double resident_mb(void)
{
    struct dg_process p;
    dg_process_read(&p);
    return p.resident_bytes / MB;
}

/* As after a reload: memory allocated meanwhile is between the freed blocks. */
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

static double start_time_s(void)
{
    struct dg_process p;
    dg_process_read(&p);
    return p.start_time_s;
}

/* main notes the time; until then a program runs for far less than ten seconds. */
static time_t began;

static void start_is_told(void **state)
{
    (void)state;
    assert_true(fabs(start_time_s() - (double)began) < 10);
}

/* The alert DragomanRestarts counts changes. */
static void start_stays_the_same(void **state)
{
    const double first = start_time_s();
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(start_time_s() == first);
}

/* As under ProcSubset=pid of the systemd unit. Comes last: /proc/stat stays empty. */
static void start_is_told_without_proc_stat(void **state)
{
    (void)state;
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        skip();
    if (mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) != 0 ||
        mount("/dev/null", "/proc/stat", NULL, MS_BIND, NULL) != 0)
        skip();
    start_is_told(NULL);
}

int main(void)
{
    began = time(NULL);
    dg_process_keep_heap_small();
    const struct CMUnitTest tests[] = {cmocka_unit_test(enclosed_pages_are_given_back),
        cmocka_unit_test(start_is_told), cmocka_unit_test(start_stays_the_same),
        cmocka_unit_test(start_is_told_without_proc_stat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
