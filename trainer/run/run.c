#include "trainer/run/internal.h"

#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sums since the last log line. */
struct tally {
    struct dg_loss_sums sums;
    uint64_t source_tokens, target_tokens, start_ns, cpu_ns;
    double grad_norm; /* mean */
    uint64_t updates;
};

/* Set *flag on every rank if it is set on any. Without ranks it stays as it is. */
static int agree(const struct dg_run *r, bool *flag, struct dg_error *err)
{
    const struct dg_ranks *ranks = r->o->ranks;
    double said = *flag;
    int rc = ranks ? ranks->sum_doubles(ranks->ctx, &said, 1, err) : 0;
    *flag = said > 0;
    return rc;
}

int dg_run_wait(const struct dg_run *r, bool *flag, struct dg_error *err)
{
    const struct dg_ranks *ranks = r->o->ranks;
    int rc = ranks ? ranks->meet(ranks->ctx, err) : 0;
    return rc ? rc : agree(r, flag, err);
}

static void begin_tally(struct tally *t)
{
    memset(t, 0, sizeof *t);
    t->start_ns = dg_clock_ns();
    t->cpu_ns = dg_clock_cpu_ns();
}

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Called by all ranks, which sum their CPU time; the leading rank writes the line. */
static int log_line(struct dg_run *r, struct tally *t, double rate, struct dg_error *err)
{
    const struct dg_ranks *ranks = r->o->ranks;
    double cpu = (double)(dg_clock_cpu_ns() - t->cpu_ns) * 1e-9;
    int rc = ranks ? ranks->sum_doubles(ranks->ctx, &cpu, 1, err) : 0;
    if (rc || !dg_run_leads(r)) {
        begin_tally(t);
        return rc;
    }
    struct dg_trainlog_train line = {.update = (int64_t)r->optimizer->step,
        .updates = r->recipe->training.updates,
        .epoch = dg_dataset_epochs(r->data),
        .loss = t->sums.smoothed / (double)t->sums.n,
        .nll = t->sums.nll / (double)t->sums.n,
        .guided = t->sums.n_guided ? t->sums.guided / (double)t->sums.n_guided : 0,
        .lr = rate,
        .grad_norm = t->grad_norm / (double)t->updates,
        .source_tokens = t->source_tokens,
        .target_tokens = t->target_tokens,
        .seconds = (double)(dg_clock_ns() - t->start_ns) * 1e-9,
        .cpu_seconds = cpu,
        .rss_bytes = resident_bytes()};
    r->tokens_per_s = (double)(t->source_tokens + t->target_tokens) / line.seconds;
    rc = dg_trainlog_train(r->log, &line, err);
    begin_tally(t);
    return rc;
}

static int save(struct dg_run *r, enum dg_kept_kind kind, struct dg_error *err)
{
    const struct dg_adam_state *a = r->optimizer;
    struct dg_checkpoint_state s = {.step = a->step,
        .micro_tokens = r->plan.micro_tokens,
        .threads = (uint64_t)dg_run_threads(r),
        .backend = r->workers->w[0].be->name,
        .data = dg_prepared_hash(r->prepared),
        .epoch_tokens = r->epoch_tokens,
        .seconds = r->seconds + (double)(dg_clock_ns() - r->start_ns) * 1e-9,
        .recipe = r->recipe->json};
    struct dg_crew_host_block held[4] = {{0}};
    const float *const blocks[4] = {r->workers->params->data, a->m, a->v, a->ema};
    int rc = 0;
    for (int i = 0; i < 4 && !rc; i++)
        rc = dg_crew_host_block(r->workers->w[0].train, blocks[i], a->n, &held[i], err);
    struct dg_checkpoint_blocks b = {a->n, held[0].data, held[1].data, held[2].data, held[3].data};
    dg_dataset_tell(r->data, &s.position);
    if (!rc)
        rc = dg_checkpoint_dir_add(r->keeper, &s, &b, kind, err);
    for (int i = 0; i < 4; i++)
        free(held[i].copy);
    return rc ? dg_error_prefix(err, "checkpoint of update %" PRIu64, a->step) : 0;
}

static bool is_due(int64_t every, uint64_t step)
{
    return every > 0 && step % (uint64_t)every == 0;
}

static bool checkpoint_due(const struct dg_run *r)
{
    const struct dg_recipe_training *t = &r->recipe->training;
    double minutes = (double)(dg_clock_ns() - r->checkpoint_ns) / 60e9;
    return (int64_t)r->optimizer->step >= t->updates ||
           is_due(t->checkpoint_updates, r->optimizer->step) ||
           (t->checkpoint_minutes > 0 && minutes >= t->checkpoint_minutes);
}

static bool validation_due(const struct dg_run *r, bool checkpoint, bool last)
{
    int64_t every = r->recipe->validation.every;
    if (!dg_prepared_sets(r->prepared, "dev"))
        return false;
    return last || (every > 0 ? is_due(every, r->optimizer->step) : checkpoint);
}

static int warn(struct dg_run *r, const char *message, struct dg_error *err)
{
    dg_trainlog_say(r->log, "warning: %s; training continues", message);
    struct dg_json *v = dg_json_new_object();
    dg_json_set_int(v, "update", (int64_t)r->optimizer->step);
    dg_json_set_string(v, "message", message);
    return dg_trainlog_event_take(r->log, "warning", v, err);
}

/* A checkpoint that cannot be written (a full disk) does not end a run that still learns: the old
 * ones are whole, and the next one is tried when due. At the end of a run it is an error. */
static int save_or_warn(struct dg_run *r, enum dg_kept_kind kind, bool last, struct dg_error *err)
{
    struct dg_error failure = {0};
    int rc = save(r, kind, &failure);
    if (!rc)
        return 0;
    if (last)
        return dg_error_set(err, rc, "%s", failure.message);
    return warn(r, failure.message, err);
}

/* True if patience has run out. A run that resumes from before its latest validation must reach
 * that update first: it ends where it would have ended, with the same model. */
static bool out_of_patience(const struct dg_run *r)
{
    const int64_t patience = r->recipe->training.patience;
    return patience > 0 && (int64_t)r->keeper->bad >= patience &&
           r->optimizer->step >= r->keeper->validated;
}

/* Act on a validation's score. Save the weights if they are the best so far, even between
 * checkpoints. If the run ends early (*end), save them as a due checkpoint, replacing an extra one
 * that was written here because the run was stopped. */
static int take_score(struct dg_run *r, float score, bool *end, struct dg_error *err)
{
    const struct dg_checkpoint_dir *k = r->keeper;
    const uint64_t step = r->optimizer->step;
    const struct dg_kept *kept = dg_checkpoint_dir_find(k, step);
    const bool over = out_of_patience(r), best = k->keep_best && k->best_step == step;
    int rc = 0;
    if (over) {
        dg_trainlog_say(
            r->log, "no better score in %" PRIu64 " validations: stopping early", k->bad);
        *end = true;
    }
    if (kept ? over && kept->kind == DG_KEPT_EXTRA : over || best) {
        rc = save_or_warn(r, over ? DG_KEPT_DUE : DG_KEPT_EXTRA, over, err);
        if (!rc && dg_checkpoint_dir_find(k, step))
            rc = dg_checkpoint_dir_attach(r->keeper, step, score, err);
    }
    return rc;
}

/* Validate and act on the score. If the disk is full, training continues, as without a checkpoint.
 * If asked to stop, end the run at this very update, so that a resume makes up for the validation:
 * after a further update nothing would show that it is missing. */
static int validate(struct dg_run *r, bool last, bool *end, struct dg_error *err)
{
    struct dg_error failure = {0};
    float score;
    int rc = dg_run_validate(r, &score, &failure);
    if (!rc)
        return take_score(r, score, end, err);
    if (rc == DG_ECANCELED) {
        r->stopping = *end = true;
        return 0;
    }
    if (last || rc != DG_EIO)
        return dg_error_set(err, rc, "%s", failure.message);
    return warn(r, failure.message, err);
}

/* Between two updates: save and validate as due. *end: no further update. */
static int after_update(struct dg_run *r, struct tally *t, bool *end, struct dg_error *err)
{
    const bool done = (int64_t)r->optimizer->step >= r->recipe->training.updates,
               due = checkpoint_due(r), checkpoint = due || r->stopping;
    const uint64_t began = dg_clock_ns(), cpu = dg_clock_cpu_ns();
    int rc = 0;
    *end = done || r->stopping;
    if (checkpoint)
        rc = save_or_warn(r, due ? DG_KEPT_DUE : DG_KEPT_EXTRA, *end, err);
    if (due)
        r->checkpoint_ns = began;
    if (!rc && !r->stopping && validation_due(r, due, done))
        rc = validate(r, done, end, err);
    if (!rc && r->stopping &&
        !dg_checkpoint_dir_find(r->keeper, r->optimizer->step)) /* meanwhile */
        rc = save(r, due ? DG_KEPT_DUE : DG_KEPT_EXTRA, err);
    const uint64_t spent = dg_clock_ns() - began;
    t->start_ns += spent; /* not counted in the training speed */
    t->cpu_ns += dg_clock_cpu_ns() - cpu;
    r->checkpoint_ns += spent; /* nor in the minutes between checkpoints */
    return rc;
}

/* Switch to the data weights of the next update's stage, and report a stage that begins. */
static int enter_stage(struct dg_run *r, struct dg_error *err)
{
    const struct dg_recipe_training *t = &r->recipe->training;
    const int64_t update = (int64_t)r->optimizer->step + 1;
    const size_t stage = dg_recipe_stage_of(r->recipe, update);
    if (!dg_dataset_enter(r->data, stage) || !dg_run_leads(r))
        return 0;
    if (stage < t->n_stages)
        dg_trainlog_say(r->log, "stage %zu of %zu begins", stage + 1, t->n_stages);
    else
        dg_trainlog_say(r->log, "the stages have ended: pairs have their own weights");
    struct dg_json *v = dg_json_new_object();
    dg_json_set_int(v, "update", update);
    dg_json_set_int(v, "stage", (int64_t)stage);
    return dg_trainlog_event_take(r->log, "stage", v, err);
}

static int update(struct dg_run *r, const struct dg_step_options *so,
    const struct dg_schedule *schedule, struct tally *t, struct dg_error *err)
{
    struct dg_batch batch;
    struct dg_step_result result;
    int rc = enter_stage(r, err);
    if (!rc)
        rc = dg_dataset_next(r->data, &batch, err);
    if (rc)
        return rc;
    double rate = dg_schedule_rate(schedule, (int64_t)r->optimizer->step + 1);
    if ((rc = dg_step(r->workers, r->optimizer, so, &(struct dg_step_input){rate, r->data, &batch},
             &result, err)))
        return rc;
    if (batch.epoch != r->epoch)
        r->epoch_tokens = 0;
    r->epoch = batch.epoch;
    r->epoch_tokens += batch.target_tokens;
    dg_crew_add_sums(&t->sums, &result.sums);
    t->source_tokens += batch.source_tokens;
    t->target_tokens += batch.target_tokens;
    t->grad_norm += result.grad_norm;
    t->updates++;
    if (dg_run_leads(r))
        dg_trainlog_tick(r->log, (int64_t)r->optimizer->step, r->recipe->training.updates,
            result.sums.smoothed / (double)result.sums.n, result.sums.nll / (double)result.sums.n,
            batch.source_tokens + batch.target_tokens);
    if (is_due(r->recipe->training.log_updates, r->optimizer->step))
        rc = log_line(r, t, rate, err);
    return rc;
}

/* Run a checkpoint's validation now if the run was stopped or killed before it. */
static int make_up(struct dg_run *r, bool *end, struct dg_error *err)
{
    const struct dg_kept *kept = dg_checkpoint_dir_find(r->keeper, r->optimizer->step);
    int rc = 0;
    if (dg_run_leads(r) && kept && isnan(kept->score) &&
        validation_due(r, kept->kind == DG_KEPT_DUE, *end))
        rc = validate(r, *end, end, err);
    return rc ? rc : dg_run_wait(r, end, err);
}

static int train(struct dg_run *r, struct dg_error *err)
{
    const struct dg_recipe_training *t = &r->recipe->training;
    struct dg_step_options so = {.clip = t->clip,
        .label_smoothing = t->label_smoothing,
        .dropout = t->dropout,
        .attention_dropout = t->attention_dropout,
        .relu_dropout = t->relu_dropout,
        .seed = (uint64_t)t->seed,
        .micro_tokens = r->plan.micro_tokens,
        .exchange = r->exchange};
    struct dg_guidance guide;
    if (dg_guided_of(r->recipe, &r->config, &guide))
        so.guide = &guide;
    struct dg_schedule schedule = {t->lr_scale, r->config.D, t->warmup, t->updates, t->cooldown};
    struct tally tally;
    bool end = (int64_t)r->optimizer->step >= t->updates || out_of_patience(r);
    r->start_ns = dg_clock_ns();
    int rc = make_up(r, &end, err);
    begin_tally(&tally);
    r->checkpoint_ns = dg_clock_ns();
    while (!rc && !end) {
        rc = update(r, &so, &schedule, &tally, err);
        r->stopping = r->o->stop && *r->o->stop;
        if (!rc)
            rc = agree(r, &r->stopping, err);
        if (!rc && dg_run_leads(r))
            rc = after_update(r, &tally, &end, err);
        if (!rc)
            rc = dg_run_wait(r, &end, err);
    }
    return rc;
}

/* Log the failure and name the checkpoint to continue from. A run that diverged drops the
 * checkpoint of its last update: that model failed. A device failure says nothing against it. */
static void tell_failure(struct dg_run *r, struct dg_error *err)
{
    struct dg_error ignored = {0};
    struct dg_backend *be = r->workers ? r->workers->w[0].be : NULL;
    const bool diverged = err->code == DG_EINTERNAL && be && !be->ops->status(be, NULL);
    if (diverged && dg_run_leads(r) && r->keeper && r->optimizer)
        dg_checkpoint_dir_forget(r->keeper, r->optimizer->step, &ignored);
    size_t n = r->keeper ? r->keeper->n : 0;
    struct dg_json *v = dg_json_new_object();
    dg_json_set_int(v, "update", r->optimizer ? (int64_t)r->optimizer->step : 0);
    dg_json_set_string(v, "message", err->message);
    if (r->log)
        dg_trainlog_event_take(r->log, "error", v, &ignored);
    else
        dg_json_free(v);
    size_t used = strlen(err->message);
    if (n)
        snprintf(err->message + used, sizeof err->message - used,
            "; the checkpoint of update %" PRIu64 " in %s is whole", r->keeper->kept[n - 1].step,
            r->checkpoint_dir);
}

int dg_run(const struct dg_run_options *o, bool *stopped, struct dg_error *err)
{
    struct dg_run r;
    dg_run_init(&r, o);
    *stopped = false;
    int rc = dg_run_open(&r, err);
    if (!rc)
        rc = dg_run_device(&r, err);
    if (!rc)
        rc = dg_run_data(&r, err);
    if (!rc)
        rc = dg_run_model(&r, err);
    if (!rc && (rc = train(&r, err)))
        tell_failure(&r, err);
    *stopped = !rc && r.stopping; /* after the last update, too: its validation may be missing */
    if (!rc && !*stopped && dg_run_leads(&r))
        rc = dg_run_finish(&r, stopped, err);
    if (!rc && o->ranks)
        rc = o->ranks->meet(o->ranks->ctx, err);
    if (rc && rc != DG_ECANCELED && o->ranks) {
        /* The caller ends this process and all others now; until then nothing may wait for a device
         * on which a sum over ranks hangs. */
        dg_exchange_close(r.exchange);
        return rc;
    }
    dg_run_close(&r);
    return rc;
}

int dg_run_plan(const struct dg_run_options *o, struct dg_buffer *out, struct dg_error *err)
{
    struct dg_run r;
    dg_run_init(&r, o);
    int rc = dg_run_open(&r, err);
    rc = rc ? rc : dg_run_device(&r, err);
    rc = rc ? rc : dg_run_data(&r, err);
    if (!rc) {
        rc = dg_run_check_plan(&r, err);
        dg_training_plan_print(&r.plan, &r.worst, out);
    }
    dg_run_close(&r);
    return rc;
}
