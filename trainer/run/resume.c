/* Resuming a run: checks that recipe and data are the same, and restores the state. */
#include "trainer/run/internal.h"

#include "trainer/prepare/prepare_internal.h"

#include <inttypes.h>
#include <string.h>

static bool same_file(const struct dg_json *a, const struct dg_json *b)
{
    const char *x = dg_json_string(dg_json_get(a, "xxh3"), NULL);
    const char *y = b ? dg_json_string(dg_json_get(b, "xxh3"), NULL) : NULL;
    return x && y && !strcmp(x, y);
}

/* The raw files of a prepared folder must not change during a run: preparing them again would give
 * other data. Missing files are no objection, as the run no longer reads them. */
int dg_run_check_inputs(const struct dg_run *r, struct dg_error *err)
{
    struct dg_json *now = NULL;
    struct dg_error gone = {0};
    struct dg_buffer list;
    const struct dg_json *was = dg_json_get(dg_prepared_manifest(r->prepared), "inputs");
    if (dg_prepare_inputs(r->recipe, &now, &gone))
        return 0;
    dg_buffer_init(&list);
    for (size_t i = 0; i < dg_json_length(now); i++) {
        const char *name = dg_json_string(dg_json_get(dg_json_at(now, i), "path"), NULL);
        if (!same_file(dg_json_at(now, i), i < dg_json_length(was) ? dg_json_at(was, i) : NULL))
            dg_buffer_addf(&list, "%s%s", list.len ? ", " : "", name ? name : "?");
    }
    int rc = !list.len ? 0
                       : dg_error_set(err, DG_EINVAL,
                             "the data of this run has changed since it began: %s", list.data);
    dg_buffer_deinit(&list);
    dg_json_free(now);
    return rc;
}

/* The checkpoint's recipe, with defaults for fields that an older program did not know. */
static int resolve(const struct dg_run *r, const struct dg_checkpoint *c, struct dg_recipe **out,
    struct dg_error *err)
{
    int rc = dg_recipe_of_json(c->state.recipe, r->recipe->data_dir, NULL, 0, out, err);
    return rc ? dg_error_prefix(err, "the checkpoint's recipe") : 0;
}

int dg_run_check_data(const struct dg_run *r, const struct dg_checkpoint *c, struct dg_error *err)
{
    if (!strcmp(c->state.data, dg_prepared_hash(r->prepared)))
        return 0;
    return dg_error_set(err, DG_EINVAL,
        "the prepared data %s has hash %s, this run started with %s", r->prepared_dir,
        dg_prepared_hash(r->prepared), c->state.data);
}

/* DG_EINVAL unless the checkpoint belongs to this recipe and data. */
static int check_checkpoint(
    const struct dg_run *r, const struct dg_checkpoint *c, struct dg_error *err)
{
    struct dg_buffer list;
    struct dg_recipe *begun = NULL;
    int rc = resolve(r, c, &begun, err);
    dg_buffer_init(&list);
    if (rc)
        return rc;
    if (dg_recipe_difference(r->recipe->json, begun->json, true, &list)) {
        while (list.len && list.data[list.len - 1] == '\n')
            list.data[--list.len] = '\0';
        rc = dg_error_set(
            err, DG_EINVAL, "the recipe is not the one this run started with: %s", list.data);
    } else {
        rc = dg_run_check_data(r, c, err);
    }
    if (!rc && c->blocks.n != r->workers->params->n)
        rc = dg_error_set(err, DG_EINVAL, "the checkpoint holds %zu parameters, the model has %zu",
            c->blocks.n, r->workers->params->n);
    if (!rc && !c->blocks.ema != !r->optimizer->ema)
        rc = dg_error_set(
            err, DG_EINVAL, "the checkpoint has %s averaged weights", c->blocks.ema ? "" : "no");
    dg_buffer_deinit(&list);
    dg_recipe_free(begun);
    return rc;
}

void dg_run_warn_other_bits(struct dg_run *r, const struct dg_checkpoint *c)
{
    const char *backend = r->workers->w[0].be->name;
    if (strcmp(backend, c->state.backend) || c->state.threads != (uint64_t)dg_run_threads(r))
        dg_trainlog_say(r->log,
            "warning: started with %s and %" PRIu64
            " threads, continuing with %s and %d: rounding differs, so this run will not "
            "be bit-identical to an uninterrupted one",
            c->state.backend, c->state.threads, backend, dg_run_threads(r));
}

/* True for two CPUs, or two GPUs of the same name and precision: cuda:0/bf16/NAME. */
static bool same_kind(const char *a, const char *b)
{
    if (!strncmp(a, "cpu", 3) || !strncmp(b, "cpu", 3))
        return !strncmp(a, b, 3);
    a = strchr(a, '/');
    b = strchr(b, '/');
    return a && b && !strcmp(a, b);
}

int dg_run_resume(struct dg_run *r, const struct dg_checkpoint *c, struct dg_error *err)
{
    struct dg_train *t = r->workers->w[0].train;
    struct dg_adam_state *a = r->optimizer;
    int rc = check_checkpoint(r, c, err);
    if (!rc)
        rc = dg_dataset_seek(r->data, &c->state.position, err);
    if (rc)
        return rc;
    t->ops->block_write(t, r->workers->params->data, c->blocks.params, a->n);
    t->ops->block_write(t, a->m, c->blocks.m, a->n);
    t->ops->block_write(t, a->v, c->blocks.v, a->n);
    if (a->ema)
        t->ops->block_write(t, a->ema, c->blocks.ema, a->n);
    a->step = c->state.step;
    r->epoch = c->state.position.epoch;
    r->epoch_tokens = c->state.epoch_tokens;
    r->seconds = c->state.seconds;
    /* The same micro-batches give the same bits. Another kind of device has other bits anyway, and
     * other memory. */
    if (!r->recipe->training.micro_tokens && same_kind(t->be->name, c->state.backend))
        r->plan.micro_tokens = c->state.micro_tokens;
    return 0;
}
