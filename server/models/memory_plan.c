#include "server/models/memory_plan.h"

#include "base/cores.h"
#include "server/models/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB 1e6
#define CONNECTION_BYTES 28200.0 /* the HTTP library's buffer of 24 KiB, and our records of it */

/* Anonymous memory of this process, which no file backs. */
static double anonymous_bytes(void)
{
    char line[128];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lf kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}

/* What one GPU's own memory must hold. */
struct plan_device {
    /* the device's name, from its backend */
    char name[96];
    /* bytes of all models' parameters; of the engines of one worker */
    double parameters, engines;
    /* bytes free before the server uses any */
    double free;
};

struct plan {
    double most;
    /* bytes of all bundles, and of the largest one */
    double models, largest_model;
    /* memory that loading needs beyond what the loaded model takes; largest of all bundles */
    double loading;
    struct plan_device on[DG_DEVICES_MAX];
    struct dg_buffer *b;
};

/* Bytes that a backend holds of its device's memory; the host's is measured otherwise. Sets
 * *free_bytes if it is 0. */
static double held_by(struct dg_backend *be, double *free_bytes)
{
    struct dg_memory m = {0};
    if (be->ops->memory && be->ops->memory(be, &m, NULL) == DG_OK && *free_bytes == 0)
        *free_bytes = (double)(m.free + m.held);
    return (double)m.held;
}

/* Opens an engine of the model on a device, as a worker does; *bytes: the size that it reports. */
static int plan_engine(struct plan_device *d, const struct dg_models_options *o,
    const struct dg_device *device, const struct dg_model *model, double *bytes,
    struct dg_error *err)
{
    struct dg_backend *be = NULL;
    struct dg_engine *engine = NULL;
    int rc = dg_device_open(device, &be, err);
    if (rc == DG_OK)
        rc = dg_engine_open(model, be, &o->limits, &engine, err);
    if (rc == DG_OK) {
        *bytes = (double)dg_engine_bytes(engine);
        d->engines += held_by(be, &d->free);
        snprintf(d->name, sizeof d->name, "%s", be->name);
    }
    dg_engine_close(engine);
    dg_device_close(be);
    return rc;
}

/* Opens the model once more, on a device other than the first. */
static int plan_copy(struct plan_device *d, const struct dg_models_options *o,
    const struct dg_device *device, const struct dg_translator *t, struct dg_error *err)
{
    struct dg_backend *be = NULL;
    struct dg_model *copy = NULL;
    double bytes;
    int rc = dg_device_open(device, &be, err);
    if (rc == DG_OK)
        rc = dg_translator_copy(t, be, &copy, err);
    if (rc == DG_OK) {
        d->parameters += held_by(be, &d->free);
        rc = plan_engine(d, o, device, copy, &bytes, err);
    }
    dg_model_close(copy);
    dg_device_close(be);
    return rc;
}

/* Measures what one bundle takes: parameters that are packed for the processor or read in place,
 * once; and an engine for each worker, whose size follows from the limits. On a GPU, engines and
 * parameters are in its memory. */
static int plan_model(
    struct plan *p, const char *dir, const struct dg_models_options *o, struct dg_error *err)
{
    struct dg_backend *be = NULL;
    struct dg_translator *t = NULL;
    const struct dg_device *device = o->devices.list;
    double before = anonymous_bytes(), packed = 0, each = 0;
    int rc = dg_device_open(device, &be, err);
    if (rc == DG_OK)
        rc = dg_translator_open(dir, be, o->limits.max_target, &t, err);
    if (rc == DG_OK) {
        double file = (double)dg_weights_bytes(dg_bundle_weights(dg_translator_bundle(t)));
        packed = anonymous_bytes() - before;
        packed = packed > 0 ? packed : 0;
        p->loading = file - packed > p->loading ? file - packed : p->loading;
        p->on[0].parameters += held_by(be, &p->on[0].free);
        rc = plan_engine(&p->on[0], o, device, dg_translator_model(t), &each, err);
    }
    if (rc == DG_OK) {
        const struct dg_bundle *b = dg_translator_bundle(t);
        double file = (double)dg_weights_bytes(dg_bundle_weights(b));
        uint32_t workers = dg_models_workers(o);
        double sum = packed + (device->cuda ? 0 : each * workers);
        dg_buffer_addf(p->b, "  %-28.28s %10.1f %10.1f %8u x %7.1f %10.1f\n", dg_bundle_name(b),
            file / MB, packed / MB, workers, each / MB, sum / MB);
        p->models += sum;
        p->largest_model = sum > p->largest_model ? sum : p->largest_model;
    }
    for (uint32_t i = 1; i < o->devices.n && rc == DG_OK; i++)
        rc = plan_copy(&p->on[i], o, &o->devices.list[i], t, err);
    dg_translator_close(t);
    dg_device_close(be);
    return rc;
}

static void plan_line(struct plan *p, const char *what, double bytes)
{
    dg_buffer_addf(p->b, "  %-70s %10.1f\n", what, bytes / MB);
    p->most += bytes;
}

/* Adds the models: all of them open, or as many as have room, and one more while it is opened. */
static void plan_models(struct plan *p, const struct dg_models_options *o)
{
    char what[96];
    if (o->memory == 0 || p->models <= (double)o->memory) {
        p->most += p->models;
        return;
    }
    snprintf(what, sizeof what, "limit of open bundles, --model-memory %zu", o->memory);
    plan_line(p, what, (double)o->memory);
    plan_line(p, "the largest of these, while it is opening", p->largest_model);
}

static void plan_requests(struct plan *p, const struct dg_server_config *c)
{
    const size_t document = dg_server_config_document_bytes(c);
    char what[96];
    snprintf(what, sizeof what, "request bodies, %d of --max-body-bytes %lld", DG_BUDGET_ARRIVING,
        (long long)c->max_body_bytes);
    plan_line(p, what, DG_BUDGET_ARRIVING * (double)c->max_body_bytes);
    snprintf(what, sizeof what, "large replies that are read, %d of the same", DG_BUDGET_ARRIVING);
    plan_line(p, what, DG_BUDGET_ARRIVING * (double)c->max_body_bytes);
    snprintf(
        what, sizeof what, "texts read, planned and answered, %d of the same", DG_BUDGET_BODIES);
    plan_line(p, what, DG_BUDGET_BODIES * (double)c->max_body_bytes);
    if (document > 0) {
        snprintf(what, sizeof what, "documents that arrive, %d of %zu bytes", DG_BUDGET_DOCUMENTS,
            document);
        plan_line(p, what, DG_BUDGET_DOCUMENTS * (double)document);
        plan_line(p, "work on documents", DG_BUDGET_DOCUMENT_WORK);
    }
    snprintf(
        what, sizeof what, "work on texts, by --http-threads %lld", (long long)c->http_threads);
    plan_line(p, what,
        (double)c->http_threads * DG_BUDGET_SHORT_WORK +
            (double)(c->http_threads + 1) / 2 * DG_BUDGET_LONG_WORK);
    if (c->cache_bytes > 0)
        plan_line(p, "kept answers, --cache-bytes", (double)c->cache_bytes);
    snprintf(
        what, sizeof what, "connections, --max-connections %lld", (long long)c->max_connections);
    plan_line(p, what, CONNECTION_BYTES * (double)c->max_connections);
}

static void plan_verdict(struct plan *p, bool *fits)
{
    bool grouped;
    double available = dg_memory_available(&grouped) + anonymous_bytes();
    *fits = p->most < available;
    dg_buffer_addf(p->b, "\n  %-70s %10.1f\n", "at most", p->most / MB);
    dg_buffer_addf(p->b, "  %-70s %10.1f\n",
        grouped ? "available, by the control group" : "available on this machine", available / MB);
    dg_buffer_addf(p->b, "\n%s\n",
        *fits ? "It fits. During a reload, new models need memory in addition."
              : "It does not fit: lower --workers, --batch-rows or --max-connections, bound "
                "--model-memory, or allow more memory.");
}

/* False: a GPU has too little memory. */
static bool plan_devices(const struct plan *p, const struct dg_models_options *o)
{
    bool fit = true;
    for (uint32_t i = 0; i < o->devices.n; i++) {
        const struct dg_device *device = &o->devices.list[i];
        const struct plan_device *d = &p->on[i];
        const double most = d->parameters + d->engines * o->workers;
        dg_buffer_addf(
            p->b, "Device: %s%s%s\n", d->name, device->note[0] != '\0' ? "; " : "", device->note);
        if (!device->cuda)
            continue;
        dg_buffer_addf(p->b,
            "Its own memory: parameters %.1f MB + engines %u x %.1f MB = %.1f MB, %.1f MB are free"
            "%s\n",
            d->parameters / MB, o->workers, d->engines / MB, most / MB, d->free / MB,
            most < d->free ? "." : ": it does not fit.");
        fit = fit && most < d->free;
    }
    return fit;
}

int dg_memory_plan_write(const struct dg_server_config *c, const struct dg_models_options *options,
    struct dg_buffer *b, bool *fits, struct dg_error *err)
{
    char *dirs[DG_MODELS_MAX];
    size_t n = 0;
    struct plan p = {.b = b};
    int rc = dg_models_bundles(c->models, dirs, &n, err);
    dg_buffer_addf(
        b, "MB by the settings%28s%10s %18s %10s\n", "file", "packed", "workers x each", "sum");
    double program = anonymous_bytes();
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = plan_model(&p, dirs[i], options, err);
    for (size_t i = 0; i < n; i++)
        free(dirs[i]);
    if (rc != DG_OK)
        return rc;
    plan_models(&p, options);
    plan_line(&p, "while a file is loaded, beyond what its model takes", p.loading);
    plan_line(&p, "the program", program);
    plan_requests(&p, c);
    plan_verdict(&p, fits);
    *fits = plan_devices(&p, options) && *fits;
    return DG_OK;
}
