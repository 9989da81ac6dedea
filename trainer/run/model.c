/* Sets up what a run trains: parameters, optimiser, worker threads and ranks, fresh or resumed. */
#include "trainer/run/internal.h"

#include "base/alloc.h"
#include "trainer/data/hash.h"
#include "trainer/run/tensorboard.h"
#include "trainer/update/init.h"
#include "trainer/update/transfer.h"
#include "weights/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Check that every line of the sets of a kind fits the learned positions; otherwise scoring would
 * fail after all training. */
static int check_held_out(const struct dg_run *r, const char *kind, struct dg_error *err)
{
    const struct dg_prepared_set *set;
    for (size_t i = 0; (set = dg_prepared_set(r->prepared, kind, i)); i++)
        if (set->longest > r->config.max_positions)
            return dg_error_field(err, DG_EINVAL, "model.max_positions",
                "model.max_positions is %u, but the set %s has a line of %u pieces",
                r->config.max_positions, set->name, set->longest);
    return 0;
}

/* *out = pieces of the longest sentence in the training and dev sets. */
static int longest_sentence(const struct dg_run *r, uint32_t *out, struct dg_error *err)
{
    struct dg_dataset_options o = {.batch_tokens = 1};
    struct dg_dataset_worst worst = r->worst;
    *out = worst.max_source > worst.max_target ? worst.max_source : worst.max_target;
    const struct dg_prepared_set *set;
    for (size_t i = 0; (set = dg_prepared_set(r->prepared, "dev", i)); i++) {
        struct dg_dataset *d = NULL;
        int rc = dg_dataset_open(r->prepared_dir, set->name, &o, &d, err);
        if (rc)
            return rc;
        dg_dataset_worst(d, &o, &worst);
        dg_dataset_close(d);
        *out = worst.max_source > *out ? worst.max_source : *out;
        *out = worst.max_target > *out ? worst.max_target : *out;
    }
    if (r->config.positions == DG_POS_LEARNED && *out > r->config.max_positions)
        return dg_error_field(err, DG_EINVAL, "model.max_positions",
            "model.max_positions is %u, but there are sentences of %u pieces",
            r->config.max_positions, *out);
    if (r->config.positions != DG_POS_LEARNED)
        return 0;
    int rc = check_held_out(r, "dev", err);
    return rc ? rc : check_held_out(r, "test", err);
}

static int start_parameters(struct dg_run *r, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    if (!r->recipe->init[0]) {
        dg_init_random(r->workers->params, (uint64_t)r->recipe->training.seed);
        return 0;
    }
    char *dir = dg_recipe_path(r->recipe, r->recipe->init);
    int rc = dg_bundle_open(dir, &b, err);
    struct dg_config old;
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(b), &old, err);
    if (!rc) {
        const struct dg_init_from from = {dg_bundle_weights(b), old.enc_layers, old.dec_layers};
        rc = r->recipe->init_vocabulary == DG_VOCABULARY_NEW
                 ? dg_transfer_init(r->workers->params, b, &from, r->prepared_dir,
                       (uint64_t)r->recipe->training.seed, err)
                 : dg_init_from_weights(r->workers->params, &from, err);
    }
    dg_bundle_close(b);
    free(dir);
    return rc;
}

static int open_workers(struct dg_run *r, struct dg_error *err)
{
    const struct dg_recipe_training *t = &r->recipe->training;
    struct dg_crew_options wo = {
        .config = &r->config, .threads = (int)r->plan.threads, .device = &r->device};
    struct dg_adam_options ao = {t->beta1, t->beta2, t->epsilon, t->weight_decay, t->ema};
    int rc = longest_sentence(r, &wo.max_positions, err);
    if (!rc)
        rc = dg_crew_open(&wo, &r->workers, err);
    if (!rc)
        rc = dg_adam_open(&ao, r->workers->w[0].train, r->workers->params->n, &r->optimizer, err);
    if (!rc && t->ema > 0)
        rc = dg_param_block_open(&r->config, r->workers->w[0].train, &r->averaged, err);
    return rc;
}

static size_t most(int64_t a, int64_t b)
{
    return (size_t)(a > b ? a : b);
}

/* Report OpenBLAS's kernels, and warn of an environment variable that overrides their choice: it
 * can silently cost two thirds of the speed of fp32. */
static void tell_library(struct dg_run *r)
{
    const char *variable, *kernels = dg_cpu_train_library(&variable);
    if (r->device.cuda || r->device.type != DG_F32)
        return;
    if (!r->o->quiet)
        dg_trainlog_say(r->log, "fp32 products by OpenBLAS, kernels %s", kernels);
    if (variable)
        dg_trainlog_say(r->log,
            "warning: %s is set: OpenBLAS does not choose its kernels by the processor, which may "
            "make training several times slower; unset it",
            variable);
}

static void tell_plan(struct dg_run *r)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_prepared_table(r->prepared, &text);
    dg_training_plan_print(&r->plan, NULL, &text);
    if (!r->o->quiet && !text.failed)
        dg_trainlog_say(r->log, "%s%s", text.data, r->workers->w[0].be->name);
    dg_buffer_deinit(&text);
}

/* Check that all ranks begin alike, as they would otherwise drift apart unnoticed, and open the
 * exchange. */
static int join_ranks(struct dg_run *r, struct dg_error *err)
{
    const struct dg_ranks *ranks = r->o->ranks;
    const struct dg_crew *crew = r->workers;
    /* Without the device's number, which differs between ranks. */
    const char *kind = strchr(crew->w[0].be->name, '/');
    const bool cpu = crew->w[0].be->ops->on_host;
    struct dg_crew_host_block start = {0};
    if (!ranks)
        return 0;
    int rc = dg_ranks_same(ranks, kind ? dg_hash64(kind, strlen(kind)) : 0,
        cpu ? "an instruction set (DRAGOMAN_ISA sets one for all) or precision"
            : "a kind of device or precision",
        err);
    if (!rc)
        rc = dg_ranks_same(ranks, (uint64_t)crew->n, "a number of threads", err);
    if (!rc)
        rc = dg_ranks_same(ranks,
            dg_hash64(dg_prepared_hash(r->prepared), strlen(dg_prepared_hash(r->prepared))),
            "prepared data", err);
    if (!rc)
        rc = dg_crew_host_block(crew->w[0].train, crew->params->data, crew->params->n, &start, err);
    if (!rc)
        rc = dg_ranks_same(ranks,
            dg_hash64(start.data, crew->params->n * sizeof *start.data) + r->optimizer->step,
            "parameters to begin with", err);
    free(start.copy);
    return rc ? rc : dg_exchange_open(r->workers, ranks, &r->exchange, err);
}

static int begin_events(struct dg_run *r, struct dg_error *err)
{
    struct dg_tensorboard *t = NULL;
    int rc = dg_tensorboard_open(r->o->tensorboard, (int64_t)r->optimizer->step, &t, err);
    if (!rc)
        dg_trainlog_tensorboard_take(r->log, t);
    return rc ? dg_error_prefix(err, "--tensorboard") : 0;
}

/* Open the log and save the run's state. Only the leading rank writes log and folder. */
static int begin_log(
    struct dg_run *r, const struct dg_checkpoint *c, size_t damaged, struct dg_error *err)
{
    int rc = dg_trainlog_open(r->log_path, (int64_t)r->optimizer->step, !r->o->quiet, &r->log, err);
    if (!rc && !r->o->resume)
        rc = dg_run_save(r, err);
    else if (!rc && r->o->n_settings)
        rc = dg_run_save_settings(r, err);
    if (!rc && r->o->tensorboard)
        rc = begin_events(r, err);
    if (rc)
        return rc;
    dg_checkpoint_dir_clean(r->keeper);
    tell_plan(r);
    tell_library(r);
    if (r->o->ranks && r->workers->w[0].be->ops->on_host)
        dg_trainlog_say(r->log, "%zu ranks of %d threads over %s", r->o->ranks->ranks,
            r->workers->n, dg_exchange_what(r->exchange));
    else if (r->o->ranks)
        dg_trainlog_say(r->log, "%zu ranks of one device over %s", r->o->ranks->ranks,
            dg_exchange_what(r->exchange));
    if (c) {
        dg_run_warn_other_bits(r, c);
        dg_trainlog_say(r->log, "continuing after update %" PRIu64 "%s", c->state.step,
            damaged ? " (newer checkpoints are damaged)" : "");
    }
    return 0;
}

int dg_run_model(struct dg_run *r, struct dg_error *err)
{
    const struct dg_recipe_training *t = &r->recipe->training;
    struct dg_checkpoint *c = NULL;
    size_t damaged = 0;
    int rc = dg_run_check_plan(r, err);
    if (!rc && !r->device.cuda && r->device.type == DG_F32 &&
        !dg_cpu_train_take_room((size_t)r->plan.threads))
        rc = dg_error_field(err, DG_ELIMIT, "training.threads",
            "%" PRIu64 " threads need 144 MiB of address space each for products in fp32 "
            "(OpenBLAS), more than ulimit -v allows: raise it, or use fewer threads",
            r->plan.threads);
    if (!rc)
        rc = dg_checkpoint_dir_open(r->checkpoint_dir, most(t->keep_last, t->average_last),
            most(t->keep_best, t->average_best), &r->keeper, err);
    if (!rc)
        rc = open_workers(r, err);
    if (!rc && r->o->resume)
        rc = dg_checkpoint_dir_newest(r->keeper, &c, &damaged, err);
    if (!rc && c)
        rc = dg_run_resume(r, c, err);
    else if (!rc && !(rc = start_parameters(r, err)))
        dg_adam_start(r->optimizer, r->workers->params->data);
    if (!rc)
        dg_checkpoint_dir_go_on(r->keeper, r->optimizer->step);
    if (!rc)
        rc = join_ranks(r, err);
    if (!rc && dg_run_leads(r))
        rc = begin_log(r, c, damaged, err);
    dg_checkpoint_close(c);
    return rc;
}
