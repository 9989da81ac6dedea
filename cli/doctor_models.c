/* Loads every bundle as a server would: checksums, memory, and a translation. */
#include "base/clock.h"
#include "cli/doctor.h"
#include "cli/trial.h"
#include "library/internal.h"
#include "model/params.h"
#include "translate/installed.h"

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

/* Load a bundle and check it whole. *engine_bytes: what an engine of it takes. */
static int load(
    const char *dir, struct dragoman_model **m, size_t *engine_bytes, struct dg_error *err)
{
    const struct dg_engine_limits limits = {.max_target = MAX_POSITIONS};
    struct dg_engine *engine = NULL;
    int rc = dg_trial_open(dir, m, err);
    if (rc == DG_OK)
        rc = dg_bundle_verify(dg_translator_bundle((*m)->translator), err);
    if (rc == DG_OK)
        rc = dg_engine_open(dg_translator_model((*m)->translator), (*m)->be, &limits, &engine, err);
    if (rc == DG_OK)
        *engine_bytes = dg_engine_bytes(engine);
    dg_engine_close(engine);
    return rc;
}

/* Translate one sentence and count the tokens of its translation. *seconds is the time of the
 * second run, because the first one warms up. */
static int translate(
    struct dragoman_model *m, double *seconds, size_t *tokens, struct dg_error *err)
{
    char answer[512];
    int rc = DG_OK;
    for (int run = 0; run < 2 && rc == DG_OK; run++) {
        uint64_t start = dg_clock_ns();
        rc = dg_trial_run(m, "Two dogs play in the snow.", answer, sizeof answer, tokens, err);
        *seconds = (double)(dg_clock_ns() - start) / 1e9;
    }
    return rc;
}

static void say_model(struct dg_doctor *d, struct dragoman_model *m, size_t engine_bytes)
{
    const struct dg_bundle *b = dg_translator_bundle(m->translator);
    double file = (double)dg_weights_bytes(dg_bundle_weights(b));
    double packed = COMPUTE_BYTES *
                    (double)dg_params_elements(dg_model_config(dg_translator_model(m->translator)));
    double need = (file > packed ? file : packed) + (double)engine_bytes, seconds = 0;
    bool fits = need < d->bytes_available, text = dg_bundle_source_spm(b)[0] != '\0';
    size_t tokens = 0;
    struct dg_error err = {0};
    char subject[32];
    snprintf(subject, sizeof subject, "%.31s", dg_bundle_name(b));
    dg_error_trim_utf8(subject);
    if (!text) {
        dg_doctor_say(d, DG_FINDING_FAIL, subject, "convert it again with --spm",
            "no SentencePiece model: a server cannot read text");
    } else if (translate(m, &seconds, &tokens, &err) != DG_OK) {
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
    struct dragoman_model *m = NULL;
    size_t engine_bytes = 0;
    struct dg_error err = {0};
    if (load(dir, &m, &engine_bytes, &err) == DG_OK)
        say_model(d, m, engine_bytes);
    else
        dg_doctor_say(d, DG_FINDING_FAIL, "model", remedy(&err), "%s: %s", dir, err.message);
    dragoman_close(m);
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
    int n = scandir(d->models, &list, NULL, alphasort);
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
