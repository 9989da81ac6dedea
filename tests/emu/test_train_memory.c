/* Compares the device memory that training takes with the plan made before it: an update of the
 * largest micro-batch that the plan allows for, with all sentences at the maximum length. Also
 * checks that the planned memory suffices, whatever sizes earlier micro-batches had. The emulated
 * device has as much memory as it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/emu/cuda.h"
#include "trainer/run/training_plan.h"
#include "trainer/update/adam.h"
#include "trainer/update/crew.h"
#include "trainer/update/init.h"

enum { V = 500, LONGEST = 24, MICRO = 480, ROWS = MICRO / 2 + LONGEST, PAIRS = ROWS / LONGEST };
/* Equal for any model: lists, and the plan's allowance for them and for a few small items. */
enum { LISTS = 16 << 20, ROOM = 18 << 20 };

static struct dg_config small(void)
{
    struct dg_config c;
    dg_config_base(&c, V);
    c.enc_layers = c.dec_layers = 2;
    c.D = 64;
    c.F = 256;
    c.H = 2; /* heads of 32 use tensor cores in 16 bits */
    c.Dk = c.Dv = 32;
    return c;
}

/* Makes the plan for the device, and measures what a backend holds by itself. */
static struct dg_training_plan make_plan(const struct dg_device *device, size_t *by_itself)
{
    const struct dg_recipe r = {.training = {.threads = 1, .micro_tokens = MICRO, .ema = 0.999}};
    const struct dg_config c = small();
    struct dg_training_place place = {.free = (size_t)1 << 33};
    struct dg_training_plan plan;
    struct dg_backend *be = NULL;
    struct dg_train *train = NULL;
    struct dg_error err = {0};
    if (dg_device_open(device, &be, &err) || dg_train_open(be, &train, &err))
        fail_msg("%s", err.message);
    *by_itself = cuda_held(be);
    place.tape = dg_tape_device(train, device->type == DG_F32 ? 4 : 2);
    dg_training_plan_make(&r, &c, LONGEST, &place, &plan);
    dg_train_close(train);
    dg_device_close(be);
    return plan;
}

struct training {
    struct dg_crew *crew;
    struct dg_adam_state *adam;
    struct dg_param_block *averaged;
};

/* Opens the parts of a training run. */
static void begin(struct training *t, const struct dg_device *device)
{
    const struct dg_adam_options adam = {0.9, 0.98, 1e-9, 0, 0.999};
    const struct dg_config c = small();
    const struct dg_crew_options o = {&c, 1, LONGEST, device};
    struct dg_error err = {0};
    if (dg_crew_open(&o, &t->crew, &err) ||
        dg_adam_open(&adam, t->crew->w[0].train, t->crew->params->n, &t->adam, &err) ||
        dg_param_block_open(&c, t->crew->w[0].train, &t->averaged, &err))
        fail_msg("%s", err.message);
    dg_init_random(t->crew->params, 3);
}

static void end(struct training *t)
{
    dg_param_block_close(t->averaged);
    dg_adam_close(t->adam);
    dg_crew_close(t->crew);
}

/* Runs one update of `pairs` pairs, each of `len` source and target tokens. */
static void update(struct training *t, uint32_t pairs, uint32_t len)
{
    static int32_t ids[PAIRS * LONGEST];
    uint32_t lengths[PAIRS];
    uint64_t index[PAIRS];
    for (uint32_t i = 0; i < pairs * len; i++)
        ids[i] = 1 + (int32_t)(i * 131 % (V - 1));
    for (uint32_t i = 0; i < pairs; i++) {
        lengths[i] = len;
        index[i] = i;
    }
    const struct dg_micro_batch batch = {pairs, lengths, lengths, ids, ids, index, NULL, NULL};
    const struct dg_objective o = {.epsilon = 0.1f, .scale = 0.001f, .dropout = 0.1f, .seed = 5};
    struct dg_worker *w = &t->crew->w[0];
    struct dg_param_block *params = t->crew->params;
    struct dg_loss_sums sums = {0};
    struct dg_error err = {0};
    if (dg_tape_run(w->tape, &params->params, &w->grads->params, &batch, &o, &sums, &err))
        fail_msg("%s", err.message);
    t->adam->step++;
    const double squares = w->train->ops->square_sum(w->train, w->grads->data, params->n);
    dg_train_sums(w->train, &sums);
    assert_true(squares > 0 && sums.smoothed > 0);
    const struct dg_adam_input in = {0.001, 1, w->grads->data, params->data};
    dg_adam_update(t->adam, w->train, &in, 0, params->n);
    if (w->be->ops->status(w->be, &err))
        fail_msg("%s", err.message);
}

static struct dg_device device_of(const char *precision)
{
    const struct dg_device_options options = {.device = "cuda", .precision = precision};
    struct dg_device device;
    struct dg_error err = {0};
    if (dg_device_choose(&options, &device, &err))
        fail_msg("%s", err.message);
    return device;
}

/* The memory held is within two percent of the plan. */
static void test_plan_is_what_is_held(void **state)
{
    const struct dg_device device = device_of(*state);
    size_t by_itself;
    const struct dg_training_plan plan = make_plan(&device, &by_itself);
    struct training t = {0};
    begin(&t, &device);
    const size_t blocks = cuda_held(t.crew->w[0].be) - by_itself,
                 copy = device.type == DG_F32 ? 0 : 2;
    update(&t, PAIRS, LONGEST);
    const size_t all = cuda_held(t.crew->w[0].be) - by_itself;
    end(&t);
    print_message("%s: planned %zu, held %zu bytes\n", (const char *)*state, plan.total, all);
    /* The 16-bit copy is made by the first product. The rest includes a table of positions. */
    const size_t planned = plan.weights - copy * plan.parameters + plan.optimizer + plan.gradients;
    assert_in_range(blocks, planned - planned / 100, planned + planned / 100);
    const size_t rest = plan.total - ROOM;
    assert_in_range(all - LISTS, rest - rest / 50, rest + rest / 50);
    assert_true(all <= plan.total);
}

/* Training fits on a device with exactly the planned memory. Small micro-batches come first, so
 * that each has to ask for more than the one before. */
static void test_plan_is_enough(void **state)
{
    struct dg_device device = device_of(*state);
    size_t by_itself;
    const struct dg_training_plan plan = make_plan(&device, &by_itself);
    struct training t = {0};
    char memory[32];
    snprintf(memory, sizeof memory, "%zu", by_itself + plan.total);
    setenv("DRAGOMAN_EMU_MEMORY", memory, 1);
    begin(&t, &device);
    for (uint32_t pairs = 3; pairs < PAIRS; pairs += pairs / 2)
        update(&t, pairs, LONGEST);
    update(&t, PAIRS, LONGEST);
    end(&t);
    unsetenv("DRAGOMAN_EMU_MEMORY");
}

int main(void)
{
    static char fp32[] = "fp32", bf16[] = "bf16";
    const struct CMUnitTest tests[] = {{"held, fp32", test_plan_is_what_is_held, NULL, NULL, fp32},
        {"held, bf16", test_plan_is_what_is_held, NULL, NULL, bf16},
        {"enough, fp32", test_plan_is_enough, NULL, NULL, fp32},
        {"enough, bf16", test_plan_is_enough, NULL, NULL, bf16}};
    struct dg_backend *be = cuda_or_skip("fp32");
    dg_device_close(be);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
