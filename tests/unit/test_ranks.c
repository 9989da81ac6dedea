/* What ranks exchange besides gradients, and the settings allowed in the environment. The ranks
 * here are threads that meet at a barrier; tests/parity and tests/emu run processes. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trainer/update/ranks_device.h"

enum { N = 3, MOST = 256 };

struct meeting {
    pthread_barrier_t barrier;
    double x[N][MOST];
};

struct rank {
    struct meeting *m;
    struct dg_ranks ranks;
    uint64_t gathered[N];
    unsigned char bytes[128];
    bool agreed[2];
    int same, differs;
    struct dg_error err;
};

static int sum_doubles(void *ctx, double *x, size_t n, struct dg_error *err)
{
    struct rank *r = ctx;
    (void)err;
    assert_true(n <= MOST);
    memcpy(r->m->x[r->ranks.rank], x, n * sizeof *x);
    pthread_barrier_wait(&r->m->barrier);
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
        for (size_t k = 0; k < N; k++)
            x[i] += r->m->x[k][i];
    }
    pthread_barrier_wait(&r->m->barrier);
    return 0;
}

static const uint64_t values[N] = {0, UINT64_MAX, 0x0123456789ABCDEF};

static void *talk(void *arg)
{
    struct rank *r = arg;
    for (size_t i = 0; i < sizeof r->bytes; i++)
        r->bytes[i] = (unsigned char)(r->ranks.rank ? 77 : 255 - i);
    dg_ranks_gather(&r->ranks, values[r->ranks.rank], r->gathered, &r->err);
    dg_ranks_share(&r->ranks, r->bytes, sizeof r->bytes, &r->err);
    dg_ranks_agree(&r->ranks, true, &r->agreed[0], &r->err);
    dg_ranks_agree(&r->ranks, r->ranks.rank == 1, &r->agreed[1], &r->err);
    r->same = dg_ranks_same(&r->ranks, UINT64_MAX - 5, "a number", &r->err);
    r->differs = dg_ranks_same(&r->ranks, 5 + r->ranks.rank / 2, "a number", &r->err);
    return NULL;
}

static void test_talk(void **state)
{
    static struct meeting m;
    struct rank rank[N] = {0};
    pthread_t thread[N];
    (void)state;
    pthread_barrier_init(&m.barrier, NULL, N);
    for (size_t i = 0; i < N; i++) {
        rank[i].m = &m;
        rank[i].ranks =
            (struct dg_ranks){.ctx = &rank[i], .rank = i, .ranks = N, .sum_doubles = sum_doubles};
        assert_int_equal(pthread_create(&thread[i], NULL, talk, &rank[i]), 0);
    }
    for (size_t i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
    for (size_t i = 0; i < N; i++) {
        assert_memory_equal(rank[i].gathered, values, sizeof values);
        for (size_t k = 0; k < sizeof rank[i].bytes; k++)
            assert_int_equal(rank[i].bytes[k], 255 - k);
        assert_true(rank[i].agreed[0]);
        assert_false(rank[i].agreed[1]);
        assert_int_equal(rank[i].same, DG_OK);
        assert_int_equal(rank[i].differs, DG_EINVAL);
        assert_string_equal(rank[i].err.message, "rank 2 has a number other than rank 0's");
    }
    pthread_barrier_destroy(&m.barrier);
}

static void test_way(void **state)
{
    static const char *const words[] = {"auto", "nccl", "host", "shared"};
    enum dg_ranks_device_route way = DG_RANKS_HOST;
    struct dg_error err = {0};
    (void)state;
    unsetenv("DRAGOMAN_RANKS");
    assert_int_equal(dg_ranks_device_route(&way, &err), DG_OK);
    assert_int_equal(way, DG_RANKS_AUTO);
    for (int i = 0; i < 4; i++) {
        setenv("DRAGOMAN_RANKS", words[i], 1);
        assert_int_equal(dg_ranks_device_route(&way, &err), DG_OK);
        assert_int_equal(way, i);
    }
    setenv("DRAGOMAN_RANKS", "mpi", 1);
    assert_int_equal(dg_ranks_device_route(&way, &err), DG_EINVAL);
    assert_string_equal(err.field, "DRAGOMAN_RANKS");
    unsetenv("DRAGOMAN_RANKS");
}

static void test_wait(void **state)
{
    static const char *const wrong[] = {"0", "-1", "soon", "5s", "nan"};
    double seconds = 0;
    struct dg_error err = {0};
    (void)state;
    unsetenv("DRAGOMAN_RANKS_WAIT");
    assert_int_equal(dg_ranks_device_wait(&seconds, &err), DG_OK);
    assert_true(seconds == 600);
    setenv("DRAGOMAN_RANKS_WAIT", "1.5", 1);
    assert_int_equal(dg_ranks_device_wait(&seconds, &err), DG_OK);
    assert_true(seconds == 1.5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("DRAGOMAN_RANKS_WAIT", wrong[i], 1);
        dg_error_clear(&err);
        assert_int_equal(dg_ranks_device_wait(&seconds, &err), DG_EINVAL);
        assert_string_equal(err.field, "DRAGOMAN_RANKS_WAIT");
    }
    unsetenv("DRAGOMAN_RANKS_WAIT");
}

static void test_launched(void **state)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    (void)state;
    for (int i = 0; i < 3; i++)
        unsetenv(names[i]);
    assert_int_equal(dg_ranks_launched(), 1);
    for (int i = 0; i < 3; i++) {
        setenv(names[i], "4", 1);
        assert_int_equal(dg_ranks_launched(), 4);
        setenv(names[i], "no", 1);
        assert_int_equal(dg_ranks_launched(), 1);
        unsetenv(names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_talk), cmocka_unit_test(test_way),
        cmocka_unit_test(test_wait), cmocka_unit_test(test_launched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
