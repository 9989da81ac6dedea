/* A run's folder, device, prepared data and configuration. */
#include "trainer/run/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "model/train/tape.h"
#include "trainer/align/guided.h"
#include "trainer/data/hash.h"
#include "trainer/run/bundle_list.h"
#include "trainer/update/ranks_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Least speed of bf16 relative to fp32 for bf16 to be chosen, since it rounds. */
#define LEAST_GAIN 1.1

/* [enum dg_recipe_precision]; NULL: auto */
static const char *const precision_words[] = {NULL, "fp32", "bf16", "fp16"};

void dg_run_init(struct dg_run *r, const struct dg_run_options *o)
{
    memset(r, 0, sizeof *r);
    r->o = o;
    r->recipe = o->recipe;
    r->lock = r->prepared_lock = -1;
}

/* Delete unfinished files of killed writers; a model's weights are not small. */
static void drop_unfinished(const struct dg_run *r)
{
    dg_file_drop_unfinished(r->o->dir);
    dg_file_drop_unfinished(r->validation_dir);
    dg_file_drop_unfinished(r->bundle_dir);
}

/* One process at a time trains in a folder. */
static int take_lock(struct dg_run *r, struct dg_error *err)
{
    char *path = dg_alloc_path(r->o->dir, "lock");
    int rc = 0;
    r->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (r->lock < 0)
        rc = dg_error_set(err, DG_EIO, "%s/lock: %s", r->o->dir, strerror(errno));
    else if (flock(r->lock, LOCK_EX | LOCK_NB))
        rc = dg_error_set(err, DG_EAGAIN, "another process is training in %s", r->o->dir);
    else
        drop_unfinished(r);
    free(path);
    return rc;
}

/* DG_ENOTFOUND if the folder has no run to go on with: nothing is made in it then. */
static int check_run(const char *dir, struct dg_error *err)
{
    char *path = dg_alloc_path(dir, "run.json");
    int rc = access(path, F_OK)
                 ? dg_error_set(err, DG_ENOTFOUND, "there is no run in %s: cannot open %s: %s", dir,
                       path, strerror(errno))
                 : 0;
    free(path);
    return rc;
}

/* A model that is trained further keeps its dimensions and conventions, whatever the recipe
 * says. */
static int read_init_config(struct dg_run *r, struct dg_error *err)
{
    if (r->has_config || !r->recipe->init[0])
        return 0;
    char *dir = dg_recipe_path(r->recipe, r->recipe->init);
    int rc = dg_config_load(dir, &r->config, err);
    if (!rc && !r->config.source_eos)
        rc = dg_error_field(err, DG_EUNSUP, "init",
            "%s cannot be trained further: its model.source_eos is false, and training data ends "
            "every source in </s>",
            dir);
    if (!rc && r->config.tied_embeddings && r->recipe->init_vocabulary == DG_VOCABULARY_NEW &&
        !r->recipe->vocabulary.joint)
        rc = dg_error_field(err, DG_EINVAL, "vocabulary.joint",
            "vocabulary.joint is false, must be true: %s has one table of embeddings for source "
            "and target",
            dir);
    if (!rc && r->recipe->init_layers == DG_LAYERS_SPREAD) {
        r->config.enc_layers = r->recipe->model.enc_layers;
        r->config.dec_layers = r->recipe->model.dec_layers;
    }
    free(dir);
    return rc;
}

int dg_run_open(struct dg_run *r, struct dg_error *err)
{
    const char *dir = r->o->dir;
    int rc = r->o->resume ? check_run(dir, err) : dg_file_make_dir(dir, err);
    if (rc)
        return rc;
    r->checkpoint_dir = dg_alloc_path(dir, "checkpoints");
    r->validation_dir = dg_alloc_path(dir, "validation");
    r->bundle_dir = dg_alloc_path(dir, "bundle");
    r->log_path = dg_alloc_path(dir, "log.jsonl");
    r->prepared_dir = r->o->prepared ? dg_alloc_string(r->o->prepared) : dg_alloc_path(dir, "data");
    if (dg_run_leads(r) && !r->o->look)
        rc = take_lock(r, err);
    if (!rc && !r->recipe)
        rc = dg_run_load(r, err);
    return rc ? rc : read_init_config(r, err);
}

/* Choose the device and try it: open and close what a worker will open. Set r->device and
 * r->place. */
static int try_device(
    struct dg_run *r, const char *name, const char *precision, struct dg_error *err)
{
    const struct dg_device_options wish = {name, precision, 1};
    const struct dg_config *config =
        r->has_config || r->recipe->init[0] ? &r->config : &r->recipe->model;
    struct dg_backend *be = NULL;
    struct dg_train *train = NULL;
    int rc = r->o->ranks ? dg_ranks_device(r->o->ranks, &wish, &r->device, err)
                         : dg_device_choose(&wish, &r->device, err);
    if (!rc)
        rc = dg_device_open(&r->device, &be, err);
    if (!rc)
        rc = dg_train_open(be, &train, err);
    if (!rc)
        rc = dg_tape_check(config, train, err);
    if (!rc)
        rc = dg_guided_check(r->recipe, config, train, err);
    struct dg_memory memory = {0};
    if (!rc && be->ops->memory && !be->ops->on_host)
        rc = be->ops->memory(be, &memory, err);
    if (!rc)
        r->place = (struct dg_training_place){memory.free,
            dg_tape_device(train, r->device.cuda && r->device.type != DG_F32 ? 2 : sizeof(float))};
    dg_train_close(train);
    dg_device_close(be);
    return rc;
}

/* True if `word` is one of the slash-separated parts of a backend's name after the first. */
static bool names_part(const char *backend, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strchr(backend, '/'); at; at = strchr(at + 1, '/'))
        if (!strncmp(at + 1, word, n) && (!at[n + 1] || at[n + 1] == '/'))
            return true;
    return false;
}

/* True if a resumed run's recipe names a precision that it did not name at the checkpoint, or if
 * this command sets it. */
static bool is_precision_set(const struct dg_run *r, const struct dg_checkpoint *c)
{
    static const char key[] = "training.precision=";
    const char *was = dg_json_string(
                   dg_json_get(dg_json_get(c->state.recipe, "training"), "precision"), NULL),
               *is = precision_words[r->recipe->training.precision];
    bool set = false;
    for (size_t i = 0; i < r->o->n_settings; i++)
        set = set || !strncmp(r->o->settings[i], key, sizeof key - 1);
    return is && (set || !was || strcmp(was, is));
}

/* Precision of a resumed run's newest checkpoint, read from its backend's name: cpu/avx512bf16/bf16
 * or cuda:0/fp16/NAME. NULL: a new run, one without a folder of checkpoints, or one whose precision
 * has been set since. */
static int begun_precision(struct dg_run *r, const char **precision, struct dg_error *err)
{
    struct dg_checkpoint_dir *k = NULL;
    struct dg_checkpoint *c = NULL;
    size_t damaged;
    *precision = NULL;
    if (!r->o->resume || access(r->checkpoint_dir, F_OK))
        return 0;
    int rc = dg_checkpoint_dir_open(r->checkpoint_dir, 1, 0, &k, err);
    if (!rc)
        rc = dg_checkpoint_dir_newest(k, &c, &damaged, err);
    if (!rc && c && !is_precision_set(r, c)) {
        *precision = names_part(c->state.backend, "bf16")   ? "bf16"
                     : names_part(c->state.backend, "fp16") ? "fp16"
                                                            : "fp32";
    }
    dg_checkpoint_close(c);
    dg_checkpoint_dir_close(k);
    return rc;
}

/* Measure whether bf16 is faster than fp32; it is not on every processor that has it. Rank 0
 * decides for all. */
static int is_bf16_faster(struct dg_run *r, bool *faster, struct dg_error *err)
{
    struct dg_backend *be = NULL;
    unsigned char answer = 0;
    int rc = dg_device_open(&r->device, &be, err);
    if (!rc)
        answer = dg_cpu_train_speed(be, DG_BF16) > LEAST_GAIN * dg_cpu_train_speed(be, DG_F32);
    dg_device_close(be);
    if (!rc && r->o->ranks)
        rc = dg_ranks_share(r->o->ranks, &answer, 1, err);
    *faster = answer;
    return rc;
}

/* Try bf16. *faster: every rank has it, and it is faster than fp32; otherwise fp32 is to be tried
 * again. No rank measures before all have said whether they have it. */
static int try_bf16(struct dg_run *r, const char *device, bool *faster, struct dg_error *err)
{
    struct dg_error no = {0};
    int rc = try_device(r, device, "bf16", &no);
    bool has = !rc;
    *faster = false;
    if (rc && rc != DG_EUNSUP) {
        *err = no;
        return rc;
    }
    rc = r->o->ranks ? dg_ranks_agree(r->o->ranks, has, &has, err) : 0;
    return !rc && has ? is_bf16_faster(r, faster, err) : rc;
}

const char *dg_run_device_word(const char *device)
{
    return device || getenv("DRAGOMAN_DEVICE") ? device : "cpu";
}

/* Runs before the data is prepared, which may take hours. */
int dg_run_device(struct dg_run *r, struct dg_error *err)
{
    const char *asked = r->o->precision ? r->o->precision : getenv("DRAGOMAN_PRECISION"),
               *device = dg_run_device_word(r->o->device),
               *precision = asked && *asked ? asked : NULL;
    bool faster;
    int rc = precision ? 0 : begun_precision(r, &precision, err);
    if (!precision)
        precision = precision_words[r->recipe->training.precision];
    /* first, because what the ranks exchange below depends on it */
    if (!rc && r->o->ranks)
        rc = dg_ranks_same(r->o->ranks, precision ? dg_hash64(precision, strlen(precision)) : 0,
            "a precision (--precision or DRAGOMAN_PRECISION)", err);
    if (rc || precision)
        return rc ? rc : try_device(r, device, precision, err);
    rc = try_device(r, device, "fp32", err);
    if (rc || r->device.cuda)
        return rc;
    rc = try_bf16(r, device, &faster, err);
    return rc || faster ? rc : try_device(r, device, "fp32", err);
}

/* Set the configuration, with the vocabulary of the prepared data. */
static int find_config(struct dg_run *r, struct dg_error *err)
{
    const struct dg_prepared *p = r->prepared;
    const uint32_t source = dg_prepared_source_vocab(p), target = dg_prepared_target_vocab(p);
    int rc = 0;
    if (r->has_config)
        return 0;
    if (!r->recipe->init[0])
        return dg_recipe_config(
            r->recipe, source, target, dg_prepared_eos(p), dg_prepared_unk(p), &r->config, err);
    if (r->recipe->init_vocabulary == DG_VOCABULARY_NEW) {
        r->config.source_vocab = source;
        r->config.target_vocab = target;
        r->config.eos = dg_prepared_eos(p);
        r->config.unk = dg_prepared_unk(p);
        r->config.never = -1;
        rc = dg_config_check(&r->config, err);
    }
    if (!rc && (r->config.source_vocab != source || r->config.target_vocab != target))
        rc = dg_error_set(err, DG_EINVAL,
            "%s has vocabularies of %u and %u pieces, the prepared data of %u and %u",
            r->recipe->init, r->config.source_vocab, r->config.target_vocab, source, target);
    return rc;
}

struct dg_dataset_options dg_run_batches(const struct dg_recipe *recipe)
{
    const struct dg_recipe_training *t = &recipe->training;
    return (struct dg_dataset_options){.mode = t->batch_mode,
        .batch_tokens = (uint64_t)t->batch_tokens,
        .window = (uint64_t)t->shuffle_window,
        .seed = (uint64_t)t->seed,
        .bpe_dropout = t->bpe_dropout,
        .links = dg_recipe_guides(recipe),
        .noise = &recipe->noise,
        .directions = recipe->data.directions,
        .stages = t->stages,
        .n_stages = t->n_stages,
        .shuffle = true};
}

/* Refuse to start a new run in a folder with checkpoints, before anything is prepared: it would
 * replace the data of the run that wrote them. */
static int refuse_begun(const struct dg_run *r, struct dg_error *err)
{
    struct dg_checkpoint_dir *k = NULL;
    int rc = 0;
    if (access(r->checkpoint_dir, F_OK) == 0)
        rc = dg_checkpoint_dir_open(r->checkpoint_dir, 1, 0, &k, err);
    if (!rc && k && k->n)
        rc = dg_error_set(err, DG_EINVAL,
            "%s holds a run with checkpoints: resume it, or take another folder", r->o->dir);
    dg_checkpoint_dir_close(k);
    return rc;
}

/* Prepare a new run's data, on the leading rank. */
static int prepare(struct dg_run *r, struct dg_error *err)
{
    const struct dg_prepare_options o = {.dir = r->prepared_dir,
        .threads = (int)r->recipe->training.threads,
        .quiet = r->o->quiet,
        .stop = r->o->stop,
        .hold = &r->prepared_lock};
    int rc = refuse_begun(r, err);
    return rc ? rc : dg_prepare(r->recipe, &o, NULL, err);
}

/* The leading rank prepares while all others wait. If it is asked to stop meanwhile, all ranks
 * stop. */
static int prepare_for_all(struct dg_run *r, struct dg_error *err)
{
    int rc = !r->o->resume && dg_run_leads(r) ? prepare(r, err) : 0;
    bool canceled = rc == DG_ECANCELED;
    if (rc && !canceled)
        return rc;
    rc = dg_run_wait(r, &canceled, err);
    return rc || !canceled ? rc : dg_error_set(err, DG_ECANCELED, "stopped while preparing");
}

int dg_run_data(struct dg_run *r, struct dg_error *err)
{
    struct dg_dataset_options data = dg_run_batches(r->recipe);
    int rc = prepare_for_all(r, err);
    if (!rc && r->prepared_lock < 0)
        rc = dg_prepared_hold(r->prepared_dir, &r->prepared_lock, err);
    if (!rc)
        rc = dg_prepared_open(r->prepared_dir, &r->prepared, err);
    if (!rc && r->o->resume)
        rc = dg_run_check_inputs(r, err);
    if (!rc)
        rc = find_config(r, err);
    if (!rc)
        rc = dg_dataset_open(r->prepared_dir, "train", &data, &r->data, err);
    if (rc)
        return rc;
    dg_dataset_worst(r->data, &data, &r->worst);
    dg_training_plan_make(r->recipe, &r->config,
        r->worst.max_source > r->worst.max_target ? r->worst.max_source : r->worst.max_target,
        &r->place, &r->plan);
    return 0;
}

int dg_run_check_plan(struct dg_run *r, struct dg_error *err)
{
    if (dg_run_leads(r) && !r->o->no_scores)
        r->plan.list = dg_bundle_list_bytes(r);
    return dg_training_plan_check(&r->plan, err);
}

void dg_run_release(struct dg_run *r)
{
    if (r->exchange)
        return;
    dg_param_block_close(r->averaged);
    dg_adam_close(r->optimizer);
    dg_crew_close(r->workers);
    r->averaged = NULL;
    r->optimizer = NULL;
    r->workers = NULL;
}

void dg_run_close(struct dg_run *r)
{
    dg_trainlog_close(r->log);
    dg_checkpoint_dir_close(r->keeper);
    dg_exchange_close(r->exchange);
    r->exchange = NULL;
    dg_run_release(r);
    dg_dataset_close(r->data);
    dg_prepared_close(r->prepared);
    dg_recipe_free(r->own_recipe);
    dg_json_free(r->origin);
    free(r->prepared_dir);
    free(r->checkpoint_dir);
    free(r->validation_dir);
    free(r->bundle_dir);
    free(r->log_path);
    if (r->prepared_lock >= 0)
        close(r->prepared_lock);
    if (r->lock >= 0)
        close(r->lock);
}
