/* Loads every bundle as a server would: checksums, memory, and a translation. */
#include "base/clock.h"
#include "cli/doctor.h"
#include "translate/installed.h"
#include "kernels/cpu/cpu.h"
#include "model/params.h"
#include "translate/run/check.h"
#include "translate/run/runner.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POSITIONS 1024
#define COMPUTE_BYTES 4.0 /* per parameter, as the kernels hold it */

/* What helps against a fault of a bundle. */
static const char *remedy(const struct dg_error *err)
{
    switch (err->code) {
    case DG_ENOMEM:
        return "free memory, or raise the process's limit (ulimit -v, the control group)";
    case DG_EIO:
        return "let the server's user read the bundle's files; if some are missing, download the "
               "bundle again, or rebuild it (dragoman convert, dragoman-train)";
    default: return "download the bundle again, or rebuild it (dragoman convert, dragoman-train)";
    }
}

/* A loaded bundle with everything needed to translate. */
struct patient {
    struct dg_backend *be;
    struct dg_translator *translator;
    /* opened only to learn how much memory it takes */
    struct dg_engine *engine;
    struct dg_runner *runner;
};

static void release(struct patient *p)
{
    dg_runner_close(p->runner);
    dg_engine_close(p->engine);
    dg_translator_close(p->translator);
    dg_cpu_close(p->be);
}

static int load(struct patient *p, const char *dir, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = 1};
    struct dg_engine_limits limits = {.max_target = MAX_POSITIONS};
    int rc = dg_cpu_open(&cpu, &p->be, err);
    if (rc == DG_OK)
        rc = dg_translator_open(dir, p->be, MAX_POSITIONS, &p->translator, err);
    if (rc == DG_OK)
        rc = dg_check_run(p->translator, dg_translator_model(p->translator), p->be, err);
    if (rc == DG_OK)
        rc = dg_bundle_verify(dg_translator_bundle(p->translator), err);
    if (rc == DG_OK)
        rc = dg_engine_open(dg_translator_model(p->translator), p->be, &limits, &p->engine, err);
    if (rc == DG_OK)
        rc = dg_runner_open(p->translator, 1, 1, &limits, &p->runner, err);
    return rc;
}

/* Translate one sentence and count the tokens of its translation. *seconds is the time of the
 * second run, because the first one warms up. */
static int translate(const struct patient *p, double *seconds, size_t *tokens, struct dg_error *err)
{
    static const char text[] = "Two dogs play in the snow.";
    struct dg_translate_options o = {.search.alpha = -1};
    int rc = DG_OK;
    for (int run = 0; run < 2 && rc == DG_OK; run++) {
        struct dg_job *job = NULL;
        struct dg_answers answers;
        uint64_t start = dg_clock_ns();
        rc = dg_job_encode(p->translator, text, sizeof text - 1, &o, &job, err);
        if (rc == DG_OK)
            rc = dg_runner_run(p->runner, &job, 1, NULL, NULL, err);
        if (rc == DG_OK)
            rc = dg_job_finish(job, &answers, err);
        if (rc == DG_OK)
            *tokens = answers.target_tokens;
        *seconds = (double)(dg_clock_ns() - start) / 1e9;
        dg_job_free(job);
    }
    return rc;
}

static void say_model(struct dg_doctor *d, const struct patient *p)
{
    const struct dg_bundle *b = dg_translator_bundle(p->translator);
    double file = (double)dg_weights_bytes(dg_bundle_weights(b));
    double packed = COMPUTE_BYTES *
                    (double)dg_params_elements(dg_model_config(dg_translator_model(p->translator)));
    double need = (file > packed ? file : packed) + (double)dg_engine_bytes(p->engine), seconds = 0;
    bool fits = need < d->bytes_available, text = dg_bundle_source_spm(b)[0] != '\0';
    size_t tokens = 0;
    struct dg_error err = {0};
    char subject[32];
    snprintf(subject, sizeof subject, "%.31s", dg_bundle_name(b));
    dg_error_trim_utf8(subject);
    if (!text) {
        dg_doctor_say(d, DG_FINDING_FAIL, subject, "convert it again with --spm",
            "no SentencePiece model: a server cannot read text");
    } else if (translate(p, &seconds, &tokens, &err) != DG_OK) {
        dg_doctor_say(d, DG_FINDING_FAIL, subject, remedy(&err), "%s", err.message);
    } else {
        dg_doctor_say(d, fits ? DG_FINDING_OK : DG_FINDING_WARN, subject,
            fits ? NULL
                 : "add memory, lower --batch-rows and --batch-sentences, or use a smaller model",
            "checksums right; %zu tokens in %.0f ms on one core; takes up to %.0f MB with one "
            "worker",
            tokens, seconds * 1e3, need / 1e6);
    }
}

static void look_at_bundle(struct dg_doctor *d, const char *dir)
{
    struct patient p = {0};
    struct dg_error err = {0};
    if (load(&p, dir, &err) == DG_OK)
        say_model(d, &p);
    else
        dg_doctor_say(d, DG_FINDING_FAIL, "model", remedy(&err), "%s: %s", dir, err.message);
    release(&p);
}

/* A server refuses its whole directory for a folder of which it cannot tell whether it is a
 * bundle. */
static void look_at_folder(struct dg_doctor *d, const char *dir, size_t *found)
{
    const bool is_one = dg_installed_is_bundle(dir);
    if (!is_one && (errno == ENOENT || errno == ENOTDIR))
        return;
    (*found)++;
    if (is_one)
        look_at_bundle(d, dir);
    else
        dg_doctor_say(d, DG_FINDING_FAIL, "models",
            "let the server's user enter the folder, or begin its name with a dot",
            "cannot look for a bundle in %s: %s", dir, strerror(errno));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

void dg_doctor_models(struct dg_doctor *d)
{
    struct dirent **list = NULL;
    size_t found = 0;
    char dir[4096];
    if (!d->models)
        d->models = dg_installed_models(d->installed, sizeof d->installed);
    if (dg_installed_is_bundle(d->models)) {
        look_at_bundle(d, d->models);
        return;
    }
    int n = scandir(d->models, &list, NULL, by_name);
    if (n < 0) {
        dg_doctor_say(d, DG_FINDING_FAIL, "models", "name the right directory with --models",
            "%s: %s", d->models, strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        snprintf(dir, sizeof dir, "%s/%s", d->models, list[i]->d_name);
        if (list[i]->d_name[0] != '.' && strcmp(list[i]->d_name, "lost+found") != 0)
            look_at_folder(d, dir, &found);
        free(list[i]);
    }
    free(list);
    if (found == 0)
        dg_doctor_say(d, DG_FINDING_FAIL, "models",
            "name a bundle, or a directory of bundles, with --models",
            "%s holds no bundle (a directory with manifest.json)", d->models);
}
