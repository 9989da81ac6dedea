/* The CUDA plugin is looked for at $DRAGOMAN_CUDA_PLUGIN, beside the program, in ../lib/dragoman of
 * it, and where the system looks for libraries. It stays open until the program ends: CUDA does not
 * like to be unloaded. Before that the driver is asked for, because the plugin brings cuBLAS with
 * it, half a gigabyte that a machine without a GPU should not map. */
#include "kernels/device.h"
#include "base/library.h"
#include "kernels/cpu/cpu.h"
#include "kernels/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "libdragoman-cuda.so"
#define DRIVER "libcuda.so.1"

static void *open_library(void)
{
    const char *named = getenv("DRAGOMAN_CUDA_PLUGIN");
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    void *library = dg_library_open_beside(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dg_library_open_beside("../lib/dragoman/" PLUGIN, RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
}

/* A plugin that is named is believed: it may be one that needs no driver. */
static bool has_driver(void)
{
    const char *named = getenv("DRAGOMAN_CUDA_PLUGIN");
    return (named && *named) || dlopen(DRIVER, RTLD_LAZY | RTLD_LOCAL);
}

static const struct dg_plugin *open_plugin(struct dg_error *err)
{
    dg_plugin_entry *entry = NULL;
    if (!has_driver()) {
        dg_error_set(err, DG_ENOTFOUND, "no NVIDIA driver on this machine (%s)", dlerror());
        return NULL;
    }
    void *library = open_library();
    if (!library) {
        dg_error_set(err, DG_ENOTFOUND, "the CUDA plugin cannot be opened: %s", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, DG_PLUGIN_ENTRY);
    memcpy(
        &entry, &symbol, sizeof entry); /* C has no cast from an object's pointer to a function's */
    const struct dg_plugin *plugin = entry ? entry(DG_PLUGIN_ABI) : NULL;
    if (!plugin)
        dg_error_set(err, DG_EUNSUP, "the CUDA plugin is of another version than this program");
    return plugin;
}

static int choose_type(const char *name, enum dg_type *type, struct dg_error *err)
{
    static const struct {
        const char *name;
        enum dg_type type;
    } all[] = {{"fp32", DG_F32}, {"fp16", DG_F16}, {"bf16", DG_BF16}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) {
            *type = all[i].type;
            return DG_OK;
        }
    return dg_error_field(
        err, DG_EINVAL, "precision", "precision \"%.32s\": expected fp32, fp16 or bf16", name);
}

/* "cuda" or "cuda:N" */
static bool parse_cuda(const char *name, int *number)
{
    char *end = NULL;
    *number = 0;
    if (!strcmp(name, "cuda"))
        return true;
    if (strncmp(name, "cuda:", 5) || name[5] < '0' || name[5] > '9')
        return false;
    errno = 0;
    const long n = strtol(name + 5, &end, 10);
    *number = (int)n;
    return !errno && !*end && n < 1024;
}

static const char *word(const char *option, const char *variable, const char *fallback)
{
    if (option && *option)
        return option;
    const char *value = getenv(variable);
    return value && *value ? value : fallback;
}

int dg_device_choose(const struct dg_device_options *o, struct dg_device *out, struct dg_error *err)
{
    const char *name = word(o ? o->device : NULL, "DRAGOMAN_DEVICE", "auto");
    const bool automatic = !strcmp(name, "auto");
    struct dg_error why = {0};
    *out = (struct dg_device){.threads = o ? o->threads : 0};
    int rc =
        choose_type(word(o ? o->precision : NULL, "DRAGOMAN_PRECISION", "fp32"), &out->type, err);
    if (rc || !strcmp(name, "cpu"))
        return rc;
    if (!automatic && !parse_cuda(name, &out->number))
        return dg_error_field(
            err, DG_EINVAL, "device", "device \"%.32s\": expected auto, cpu, cuda or cuda:N", name);
    const struct dg_plugin *plugin = open_plugin(&why);
    const int n = plugin ? plugin->count(&why) : 0;
    out->cuda = n > out->number;
    if (n > 0 && !out->cuda)
        dg_error_set(&why, DG_ENOTFOUND, "there are %d CUDA devices, from 0 on", n);
    if (out->cuda)
        return DG_OK;
    if (!automatic)
        return dg_error_field(err, why.code, "device", "%s cannot be used: %.400s", name, why.message);
    snprintf(out->note, sizeof out->note, "%.240s", why.message);
    return DG_OK;
}

int dg_device_open(const struct dg_device *device, struct dg_backend **out, struct dg_error *err)
{
    *out = NULL;
    if (!device->cuda) {
        const struct dg_cpu_options cpu = {.threads = device->threads};
        return dg_cpu_open(&cpu, out, err);
    }
    const struct dg_plugin *plugin = open_plugin(err);
    const struct dg_plugin_options options = {device->number, device->type};
    return plugin ? plugin->open(&options, out, err) : err ? err->code : DG_ENOTFOUND;
}

void dg_device_close(struct dg_backend *be)
{
    if (be)
        be->ops->close(be);
}
