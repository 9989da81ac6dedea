#include "cli/decode_options.h"

#include "base/cores.h"
#include "cli/cli.h"
#include "kernels/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a GPU wants in one step to be busy. */
enum { GPU_ROWS = 1024, GPU_SENTENCES = 256 };

void dg_decode_options_init(struct dg_decode_options *o)
{
    memset(o, 0, sizeof *o);
    o->translate.search.alpha = -1;
    o->threads = 1;
}

static int take_penalty(struct dg_translate_options *o, const char *arg, struct dg_error *err)
{
    static const struct {
        const char *name;
        enum dg_penalty penalty;
    } kinds[] = {{"gnmt", DG_PENALTY_GNMT}, {"power", DG_PENALTY_POWER}, {"none", DG_PENALTY_NONE}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!strcmp(arg, kinds[i].name)) {
            o->search.penalty = kinds[i].penalty;
            o->penalty_set = true;
            return 0;
        }
    }
    return dg_error_set(err, DG_EINVAL, "--penalty takes gnmt, power or none, not \"%.40s\"", arg);
}

static int take_sampling(struct dg_sampling *s, const char *arg, struct dg_error *err)
{
    char *list = strdup(arg), *save = NULL;
    int rc = list ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for options");
    s->temperature = 1;
    for (char *w = strtok_r(list, ",", &save); w && !rc; w = strtok_r(NULL, ",", &save)) {
        char *value = strchr(w, '=');
        int64_t n = 0;
        double x = 0;
        if (value)
            *value++ = '\0';
        if (value && !strcmp(w, "temperature")) {
            rc = dg_cli_number("--sampling temperature", value, 0.01, 100, &x, err);
            s->temperature = (float)x;
        } else if (value && !strcmp(w, "top-k")) {
            rc = dg_cli_int("--sampling top-k", value, 0, DG_MAX_SAMPLE_TOP_K, &n, err);
            s->top_k = (uint32_t)n;
        } else if (value && !strcmp(w, "seed")) {
            rc = dg_cli_int("--sampling seed", value, 0, INT64_MAX, &n, err);
            s->seed = (uint64_t)n;
        } else {
            rc = dg_error_set(err, DG_EINVAL,
                "--sampling takes temperature=X, top-k=N and seed=N with commas between, not "
                "\"%.40s\"",
                w);
        }
    }
    free(list);
    return rc;
}

int dg_decode_options_take(
    struct dg_decode_options *o, int c, const char *arg, struct dg_error *err)
{
    struct dg_search *search = &o->translate.search;
    int64_t n = 0;
    double x = 0;
    int rc = 0;
    switch (c) {
    case 1001: o->model = arg; break;
    case 1002: o->translate.source = arg; break;
    case 1003: o->translate.target = arg; break;
    case 1004:
        rc = dg_cli_int("--beam", arg, 1, DG_MAX_BEAM, &n, err);
        search->beam = (uint32_t)n;
        break;
    case 1005:
        rc = dg_cli_number("--alpha", arg, 0, 10, &x, err);
        search->alpha = (float)x;
        break;
    case 1006: return take_penalty(&o->translate, arg, err);
    case 1007:
        rc = dg_cli_int("--max-length", arg, 1, 4096, &n, err);
        search->max_len = (uint32_t)n;
        break;
    case 1008:
        rc = dg_cli_int("--n-best", arg, 1, DG_MAX_BEAM, &n, err);
        search->n_best = (uint32_t)n;
        break;
    case 1009: o->translate.pieces = true; break;
    case 1010: o->json = true; break;
    case 1011:
        rc = dg_cli_int("--workers", arg, 1, 256, &n, err);
        o->workers = (int)n;
        break;
    case 1012:
        rc = dg_cli_int("--threads", arg, 1, 256, &n, err);
        o->threads = (int)n;
        break;
    case 1013: return take_sampling(&search->sampling, arg, err);
    case 1014: o->device = arg; break;
    case 1015: o->precision = arg; break;
    default: return 1;
    }
    return rc;
}

int dg_decode_options_check(const struct dg_decode_options *o, struct dg_error *err)
{
    const struct dg_search *search = &o->translate.search;
    const struct dg_device_options wish = {o->device, o->precision, o->threads};
    if (search->sampling.temperature > 0 && (search->beam > 1 || search->n_best > 1))
        return dg_error_set(err, DG_EINVAL,
            "--sampling draws one answer: --beam and --n-best must be 1 or left out");
    return dg_device_check(&wish, err);
}

const char *dg_decode_options_search(const struct dg_decode_options *o)
{
    const struct dg_search *search = &o->translate.search;
    if (search->beam)
        return "--beam";
    if (search->alpha >= 0)
        return "--alpha";
    if (o->translate.penalty_set)
        return "--penalty";
    if (search->max_len)
        return "--max-length";
    return search->sampling.temperature > 0 ? "--sampling" : NULL;
}

int dg_session_open(struct dg_session *s, const struct dg_decode_options *o, struct dg_error *err)
{
    const struct dg_device_options wish = {o->device, o->precision, o->threads};
    struct dg_device device;
    const struct dg_search *search = &o->translate.search;
    uint32_t max_target = search->max_len > 1024 ? search->max_len : 1024;
    struct dg_engine_limits limits = {
        .max_target = max_target, .max_beam = search->beam, .max_search = search->max_len};
    int workers = o->workers;
    memset(s, 0, sizeof *s);
    int rc = dg_device_choose(&wish, &device, err);
    if (rc)
        return rc;
    if (device.note[0] && o->device) /* asked for a look: told what was seen */
        fprintf(stderr, "device: the CPU (%s)\n", device.note);
    if (device.cuda) {
        limits.max_rows = GPU_ROWS;
        limits.max_sentences = GPU_SENTENCES;
    }
    if (!workers)
        workers = device.cuda ? 1 : dg_cores_available();
    rc = dg_device_open(&device, &s->be, err);
    if (!rc)
        rc = dg_translator_open(o->model, s->be, max_target, &s->translator, err);
    if (!rc)
        rc = dg_runner_open_on(s->translator, workers, &device, &limits, &s->runner, err);
    if (rc)
        dg_session_close(s);
    return rc;
}

void dg_session_close(struct dg_session *s)
{
    dg_runner_close(s->runner);
    dg_translator_close(s->translator);
    dg_device_close(s->be);
    memset(s, 0, sizeof *s);
}
