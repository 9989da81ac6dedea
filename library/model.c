/* Opens a model: finds the bundle, loads and checks its weights, starts engines. */
#include "base/cores.h"
#include "library/internal.h"
#include "translate/run/check.h"
#include "translate/installed.h"
#include "translate/search_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dragoman_open_options_init(struct dragoman_open_options *options, size_t size)
{
    const struct dragoman_open_options known = {.size = 0};
    dg_library_give(options, size, &known, sizeof known);
}

/* Find the models for two languages: "en-de", or "zh-Hans-en", whose codes have hyphens of their
 * own. Near languages do not count: "en-de-fr" is no name for a model of en-de. Returns how many
 * models there are. */
static size_t look_for_languages(
    struct dragoman_model *m, const char *models, const char *name, char *path, size_t cap)
{
    size_t found = 0;
    for (const char *hyphen = strchr(name, '-'); hyphen && !found;
         hyphen = strchr(hyphen + 1, '-')) {
        const size_t source = (size_t)(hyphen - name), target = strlen(hyphen + 1);
        if (source == 0 || target == 0 || source >= sizeof m->source || target >= sizeof m->target)
            continue;
        snprintf(m->source, sizeof m->source, "%.*s", (int)source, name);
        snprintf(m->target, sizeof m->target, "%s", hyphen + 1);
        found = dg_installed_look(models, m->source, m->target, 0, path, cap, NULL);
    }
    return found;
}

/* Find the bundle that `name` means: a folder, or one among the models, or the one for two
 * languages. A folder that is no bundle, such as one of data, comes last. */
static int find(
    struct dragoman_model *m, const char *name, char *path, size_t cap, struct dg_error *err)
{
    char beside[4096];
    const char *models = dg_installed_models(beside, sizeof beside);
    const int rc = dg_installed_named(name, path, cap, err);
    const bool other = !rc && !strchr(name, '/') && !dg_installed_is_bundle(path);
    if (rc != DG_ENOTFOUND && !other)
        return rc;
    dg_error_clear(err);
    const size_t found = look_for_languages(m, models, name, path, cap);
    if (found == 1 || (found == 0 && other))
        return DG_OK;
    if (found > 1)
        return dg_error_set(err, DG_EINVAL,
            "several models in %s translate from %s to %s: name one", models, m->source, m->target);
    return dg_error_set(err, DG_ENOTFOUND,
        "\"%.200s\" is not a folder, and %.200s has no model of that name or for such languages",
        name, models);
}

static int open_runner(struct dragoman_model *m, const struct dragoman_open_options *o,
    const struct dg_device *device, struct dg_error *err)
{
    const struct dg_engine_limits limits = {
        .max_target = o->max_length > 1024 ? o->max_length : 1024,
        .max_beam = o->max_beam_size,
        .max_search = o->max_length};
    const int workers = o->workers ? o->workers : device->cuda ? 1 : dg_cores_available();
    return dg_runner_open_on(m->translator, workers, device, &limits, &m->runner, err);
}

static int check_numbers(const struct dragoman_open_options *o, struct dg_error *err)
{
    if (o->workers < 0 || o->workers > 256 || o->threads < 0 || o->threads > 256)
        return dg_error_field(err, DG_EINVAL,
            o->workers < 0 || o->workers > 256 ? "workers" : "threads",
            "workers is %d and threads is %d, each must be from 0 to 256", o->workers, o->threads);
    if (o->max_beam_size > DG_MAX_BEAM)
        return dg_error_field(err, DG_EINVAL, "max_beam_size",
            "max_beam_size is %u, must be at most %u", o->max_beam_size, DG_MAX_BEAM);
    if (o->max_length > DG_MAX_LENGTH)
        return dg_error_field(err, DG_EINVAL, "max_length", "max_length is %u, must be at most %d",
            o->max_length, DG_MAX_LENGTH);
    return DG_OK;
}

static int open_model(struct dragoman_model *m, const char *name,
    const struct dragoman_open_options *o, struct dg_error *err)
{
    const struct dg_device_options wish = {o->device, o->precision, o->threads ? o->threads : 1};
    struct dg_device device;
    char path[4096];
    int rc = check_numbers(o, err);
    if (!rc)
        rc = find(m, name, path, sizeof path, err);
    if (!rc)
        rc = dg_device_choose(&wish, &device, err);
    if (rc)
        return rc;
    snprintf(m->note, sizeof m->note, "%s", device.note);
    snprintf(m->device, sizeof m->device, device.cuda ? "cuda:%d" : "cpu", device.number);
    rc = dg_device_open(&device, &m->be, err);
    if (!rc)
        rc = dg_translator_open(
            path, m->be, o->max_length > 1024 ? o->max_length : 1024, &m->translator, err);
    if (!rc)
        rc = dg_check_run(m->translator, dg_translator_model(m->translator), m->be, err);
    if (rc)
        return rc;
    return open_runner(m, o, &device, err);
}

int dragoman_open(const char *name, const struct dragoman_open_options *options,
    struct dragoman_model **model, struct dragoman_error *error)
{
    struct dg_error err = {0};
    struct dragoman_open_options o = {.size = 0};
    dg_library_begin(error);
    *model = NULL;
    int rc = options ? dg_library_take(options, options->size, &o, sizeof o, "open_options", &err)
                     : DG_OK;
    struct dragoman_model *m = calloc(1, sizeof *m);
    if (!rc && !m)
        rc = dg_error_set(&err, DG_ENOMEM, "no memory for a model");
    if (m)
        m->process = getpid();
    if (!rc)
        rc = open_model(m, name, &o, &err);
    if (!rc) {
        *model = m;
        return DRAGOMAN_OK;
    }
    dragoman_close(m);
    return dg_library_error(rc, &err, -1, error);
}

int dg_library_check_process(const struct dragoman_model *m, struct dg_error *err)
{
    if (m->process == getpid())
        return DG_OK;
    return dg_error_set(err, DG_EINVAL,
        "process %ld opened the model, and process %ld was forked from it: open a model after the "
        "fork",
        (long)m->process, (long)getpid());
}

/* In a forked process, the threads to wait for are not there, and locks may be held for ever. */
void dragoman_close(struct dragoman_model *m)
{
    if (!m || m->process != getpid())
        return;
    dg_runner_close(m->runner);
    dg_translator_close(m->translator);
    dg_device_close(m->be);
    free(m);
}

const char *dragoman_model_name(const struct dragoman_model *m)
{
    return dg_bundle_name(dg_translator_bundle(m->translator));
}

const char *dragoman_model_version(const struct dragoman_model *m)
{
    return dg_bundle_version(dg_translator_bundle(m->translator));
}

const char *dragoman_model_path(const struct dragoman_model *m)
{
    return dg_bundle_dir(dg_translator_bundle(m->translator));
}

const char *dragoman_model_device(const struct dragoman_model *m)
{
    return m->device;
}

const char *dragoman_model_device_note(const struct dragoman_model *m)
{
    return m->note;
}

size_t dragoman_model_pairs(const struct dragoman_model *m)
{
    return dg_bundle_pairs(dg_translator_bundle(m->translator));
}

int dragoman_model_pair(
    const struct dragoman_model *m, size_t i, const char **source, const char **target)
{
    if (i >= dragoman_model_pairs(m))
        return DRAGOMAN_EINVAL;
    dg_bundle_pair(dg_translator_bundle(m->translator), i, source, target);
    return DRAGOMAN_OK;
}
