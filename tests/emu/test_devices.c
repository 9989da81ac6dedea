/* Two devices in one process, as in a server: ops of both in turn on one thread, ops on a thread
 * each, and memory freed while the other device works give the same results as one device. The
 * emulation gives each device memory that only it can touch, which is tested, too. "auto" chooses
 * among devices of which some cannot be used. Skipped where there are fewer than two devices. */
#include "tests/ops/ops.h"

#include "kernels/device.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { M = 5, N = 33, K = 24, TURNS = 20 };

static struct dg_devices devices;

static int begin(void **state)
{
    const struct dg_device_options o = {.device = "cuda:0,cuda:1", .precision = "fp32"};
    struct dg_error err = {0};
    (void)state;
    if (dg_devices_choose(&o, &devices, &err)) {
        print_message("skipped: no two devices: %s\n", err.message);
        exit(77);
    }
    return 0;
}

/* One device's part: y[M,N] = x[M,K] w[N,K]^T. */
struct part {
    struct dg_backend *be;
    struct dg_weight *w;
    struct dg_rows x, y;
    float out[M * N];
};

static void part_open(struct part *p, size_t device)
{
    float *w = ops_floats(N * K, 1), *x = ops_floats(M * K, 2);
    struct dg_error err = {0};
    assert_int_equal(dg_device_open(&devices.list[device], &p->be, &err), 0);
    p->w = ops_weight(p->be, DG_USE_MATRIX, N, K, w, false);
    p->x = ops_rows(p->be, x, M, K, 0, K);
    p->y = ops_rows(p->be, NULL, M, N, 0, N);
    free(w), free(x);
}

static void part_close(struct part *p)
{
    p->be->ops->weight_free(p->be, p->w);
    p->be->ops->buf_free(p->be, p->x.buf);
    p->be->ops->buf_free(p->be, p->y.buf);
    dg_device_close(p->be);
}

static void part_turn(struct part *p)
{
    const struct dg_rows spare = ops_rows(p->be, NULL, M, N, 0, N);
    struct dg_error err = {0};
    p->be->ops->linear(p->be, &(struct dg_linear){.w = p->w}, p->x, spare, M);
    p->be->ops->linear(p->be, &(struct dg_linear){.w = p->w}, p->x, p->y, M);
    p->be->ops->read(p->be, p->y, M, N, p->out);
    p->be->ops->buf_free(p->be, spare.buf);
    assert_int_equal(p->be->ops->status(p->be, &err), 0);
}

static void *part_run(void *arg)
{
    for (int i = 0; i < TURNS; i++)
        part_turn(arg);
    return NULL;
}

static void test_names_and_memory(void **state)
{
    struct part a, b;
    struct dg_memory before, after, other;
    struct dg_buf *buf;
    (void)state;
    part_open(&a, 0);
    part_open(&b, 1);
    assert_int_equal(strncmp(a.be->name, "cuda:0/", 7), 0);
    assert_int_equal(strncmp(b.be->name, "cuda:1/", 7), 0);
    assert_int_equal(b.be->ops->memory(b.be, &before, NULL), 0);
    assert_int_equal(b.be->ops->buf_new(b.be, 64 << 20, &buf, NULL), 0); /* larger than a chunk */
    assert_int_equal(b.be->ops->memory(b.be, &after, NULL), 0);
    assert_int_equal(a.be->ops->memory(a.be, &other, NULL), 0);
    assert_true(after.held >= before.held + ((size_t)256 << 20));
    assert_true(after.free <= before.free - ((size_t)256 << 20));
    assert_true(other.held < (size_t)256 << 20 && other.free > 0 && other.free < other.total);
    b.be->ops->buf_free(b.be, buf);
    part_close(&a);
    part_close(&b);
}

static void test_in_turn_and_side_by_side(void **state)
{
    struct part one, parts[2];
    pthread_t threads[2];
    (void)state;
    part_open(&one, 0);
    part_turn(&one);
    part_open(&parts[0], 0);
    part_open(&parts[1], 1);
    for (int i = 0; i < TURNS; i++)
        for (int d = 0; d < 2; d++) {
            memset(parts[d].out, 0, sizeof parts[d].out);
            part_turn(&parts[d]);
            assert_memory_equal(parts[d].out, one.out, sizeof one.out);
        }
    for (int d = 0; d < 2; d++) {
        memset(parts[d].out, 0, sizeof parts[d].out);
        assert_int_equal(pthread_create(&threads[d], NULL, part_run, &parts[d]), 0);
    }
    for (int d = 0; d < 2; d++) {
        pthread_join(threads[d], NULL);
        assert_memory_equal(parts[d].out, one.out, sizeof one.out);
    }
    part_close(&parts[1]);
    part_turn(&one);
    part_close(&parts[0]);
    part_close(&one);
}

static void choose_auto(struct dg_device *out)
{
    const struct dg_device_options o = {.device = "auto"};
    struct dg_error err = {0};
    if (dg_device_choose(&o, out, &err))
        fail_msg("%s", err.message);
}

/* "auto" takes the first device that can be used, not the first that is there, and the CPU with the
 * first device's reason where none can. A device that is named is taken as it is; probing it tells
 * the reason. */
static void test_auto_takes_a_usable_one(void **state)
{
    struct dg_device d;
    struct dg_error err = {0};
    (void)state;
    choose_auto(&d);
    assert_true(d.cuda && d.number == 0);
    setenv("DRAGOMAN_EMU_CAPABILITY", "7.5,8.0", 1);
    choose_auto(&d);
    assert_true(d.cuda && d.number == 1);
    assert_string_equal(d.note, "");
    assert_int_equal(dg_device_probe(&devices.list[0], &err), DG_EUNSUP);
    assert_string_equal(err.message,
        "CUDA device 0 (emulated on the host) has compute capability 7.5: 8.0 or later is needed");
    assert_int_equal(dg_device_probe(&devices.list[1], &err), DG_OK);
    setenv("DRAGOMAN_EMU_CAPABILITY", "7.5,6.1", 1);
    choose_auto(&d);
    assert_false(d.cuda);
    assert_non_null(
        strstr(d.note, "CUDA device 0 (emulated on the host) has compute capability 7.5"));
    assert_int_equal(dg_device_probe(&d, &err), DG_OK);
    unsetenv("DRAGOMAN_EMU_CAPABILITY");
    setenv("DRAGOMAN_EMU_FAIL", "0", 1); /* the driver refuses its first stream */
    setenv("DRAGOMAN_EMU_FAIL_DEVICE", "0", 1);
    choose_auto(&d);
    assert_true(d.cuda && d.number == 1);
    unsetenv("DRAGOMAN_EMU_FAIL_DEVICE");
    choose_auto(&d);
    assert_false(d.cuda);
    assert_string_equal(d.note, "CUDA device 0 cannot be used: unspecified launch failure");
    unsetenv("DRAGOMAN_EMU_FAIL");
}

/* Forks a child in which device 1 multiplies its own rows, or device 0's if `wrong`. Returns the
 * child's wait status; 0: success. */
static int cross(bool wrong)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        struct part a, b;
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGSEGV, SIG_DFL); /* otherwise cmocka would go on with its next test in the child */
        part_open(&a, 0);
        part_open(&b, 1);
        b.be->ops->linear(b.be, &(struct dg_linear){.w = b.w}, wrong ? a.x : b.x, b.y, M);
        b.be->ops->read(b.be, b.y, M, N, b.out);
        _exit(b.be->ops->status(b.be, NULL) != 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_wrong_pointers_are_noticed(void **state)
{
    struct part a;
    (void)state;
    part_open(&a, 0);
    const bool emulated = strstr(a.be->name, "emulated") != NULL;
    part_close(&a);
    if (!emulated)
        skip();
    assert_int_equal(cross(false), 0);
    assert_int_not_equal(cross(true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_and_memory),
        cmocka_unit_test(test_in_turn_and_side_by_side),
        cmocka_unit_test(test_auto_takes_a_usable_one),
        cmocka_unit_test(test_wrong_pointers_are_noticed)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
