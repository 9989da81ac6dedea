/* Layers are reported once their gradients are complete, in every variant; a device that lacks what
 * a variant needs is refused by the field's name. */
#include "train_pass.h"

/* Layers reported during a pass: by then a layer's gradients are complete, so that they can be
 * sent. */
struct told {
    struct run *run;
    const struct dg_config *config;
    /* layers of both sides, in the order in which they were reported */
    int n;
    int side[8];
    uint32_t layer[8];
    /* [gradients] at the time of the report */
    float *then[8];
};

static void hear(void *arg, int side, uint32_t layer)
{
    struct told *t = arg;
    const size_t bytes = t->run->grads->n * sizeof(float);
    assert_true(t->n < 8);
    t->side[t->n] = side;
    t->layer[t->n] = layer;
    t->then[t->n] = malloc(bytes);
    memcpy(t->then[t->n++], t->run->grads->data, bytes);
}

static void check_told(const struct dg_config *c)
{
    struct run r;
    open_run(&r, c, 0.1f);
    struct told told = {.run = &r, .config = c};
    const struct dg_tape_watch watch = {hear, &told};
    r.objective.watch = &watch;
    pass(&r, 0, 4, &r.grads->params);
    assert_int_equal(told.n, c->enc_layers + c->dec_layers);
    for (int k = 0; k < told.n; k++) {
        const bool decoder = k < (int)c->dec_layers;
        assert_int_equal(told.side[k], decoder);
        assert_int_equal(
            told.layer[k], decoder ? c->dec_layers - 1 - (uint32_t)k : (uint32_t)(told.n - 1 - k));
        char prefix[16];
        snprintf(prefix, sizeof prefix, "%s.%u.", decoder ? "dec" : "enc", told.layer[k]);
        for (size_t i = 0; i < dg_params_count(c); i++) {
            struct dg_param_info info;
            dg_params_info(c, i, &info);
            const size_t at = dg_param_block_offset(c, i);
            if (!strncmp(info.name, prefix, strlen(prefix)) &&
                memcmp(told.then[k] + at, r.grads->data + at,
                    (size_t)info.N * info.K * sizeof(float)) != 0)
                fail_msg("%s was told of before its gradient was whole", info.name);
        }
        free(told.then[k]);
    }
    close_run(&r);
}

static void test_layers_are_told_of_when_whole(void **state)
{
    (void)state;
    struct dg_config c = small();
    c.dec_layers = 3;
    check_told(&c);
    c.pre_norm = true;
    check_told(&c);
    c.decoder = DG_DECODER_SSRU;
    check_told(&c);
}

static void refused(const struct dg_config *c, const struct dg_train *train, const char *field)
{
    struct dg_error err = {0};
    struct dg_tape *t = NULL;
    assert_int_equal(dg_tape_check(c, train, &err), DG_EUNSUP);
    assert_string_equal(err.field, field);
    assert_int_equal(dg_tape_open(c, (struct dg_train *)(uintptr_t)train, 16, &t, NULL), DG_EUNSUP);
    assert_null(t);
}

/* If a device's table lacks an op, the configuration is refused and no other op is used instead. */
static void test_what_a_device_lacks(void **state)
{
    (void)state;
    struct dg_config c = small();
    struct run r;
    open_run(&r, &c, 0);
    struct dg_train_ops less = *r.train->ops;
    const struct dg_train other = {.ops = &less, .be = r.be};
    less.ssru_backward = NULL;
    less.norm_sums = false;
    assert_int_equal(dg_tape_check(&c, &other, NULL), 0);
    c.pre_norm = true;
    assert_int_equal(dg_tape_check(&c, r.train, NULL), 0);
    refused(&c, &other, "model.pre_norm");
    c.pre_norm = false;
    c.decoder = DG_DECODER_SSRU;
    assert_int_equal(dg_tape_check(&c, r.train, NULL), 0);
    refused(&c, &other, "model.decoder");
    c = small();
    c.dec_F = 48;
    refused(&c, r.train, "model.decoder_d_ff");
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers_are_told_of_when_whole),
        cmocka_unit_test(test_what_a_device_lacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
