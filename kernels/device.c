/* The CUDA plugin is searched for at $DRAGOMAN_CUDA_PLUGIN, beside the program or the library, in
 * the folder lib/dragoman of its installation, and where the system looks for libraries. It stays
 * open until the program ends, because CUDA does not tolerate being unloaded. The driver is checked
 * first, because the plugin brings cuBLAS with it, half a gigabyte that a machine without a GPU
 * should not map. */
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
    /* Beside the program; for an installed program; for libdragoman.so in lib/ or
     * lib/<machine>/. */
    static const char *const places[] = {
        PLUGIN, "../lib/dragoman/" PLUGIN, "dragoman/" PLUGIN, "../dragoman/" PLUGIN};
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++)
        library = dg_library_open_beside(places[i], RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
}

/* A plugin that is named explicitly is opened without this check: it may need no driver. */
static bool has_driver(void)
{
    const char *named = getenv("DRAGOMAN_CUDA_PLUGIN");
    return (named && *named) || dlopen(DRIVER, RTLD_LAZY | RTLD_LOCAL);
}

static int open_plugin(const struct dg_plugin **out, struct dg_error *err)
{
    dg_plugin_entry *entry = NULL;
    *out = NULL;
    if (!has_driver())
        return dg_error_set(err, DG_ENOTFOUND, "no NVIDIA driver on this machine (%s)", dlerror());
    void *library = open_library();
    if (!library)
        return dg_error_set(err, DG_ENOTFOUND, "the CUDA plugin cannot be opened: %s", dlerror());
    void *symbol = dlsym(library, DG_PLUGIN_ENTRY);
    /* C has no cast from an object's pointer to a function's. */
    memcpy(&entry, &symbol, sizeof entry);
    *out = entry ? entry(DG_PLUGIN_ABI) : NULL;
    if (!*out)
        return dg_error_set(
            err, DG_EUNSUP, "the CUDA plugin is of another version than this program");
    return DG_OK;
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

/* Parses "cuda" or "cuda:N", up to `end`. */
static bool parse_cuda(const char *name, const char *end, int *number)
{
    char *stop = NULL;
    *number = 0;
    if (end - name == 4 && !strncmp(name, "cuda", 4))
        return true;
    if (end - name < 6 || strncmp(name, "cuda:", 5) || name[5] < '0' || name[5] > '9')
        return false;
    errno = 0;
    const long n = strtol(name + 5, &stop, 10);
    *number = (int)n;
    return !errno && stop == end && n < 1024;
}

static const char *word(const char *option, const char *variable, const char *fallback)
{
    if (option && *option)
        return option;
    const char *value = getenv(variable);
    return value && *value ? value : fallback;
}

/* Reads the device numbers from a list of CUDA devices. "cuda:all" and "auto" add none: they depend
 * on how many devices there are. */
static int parse_list(const char *name, struct dg_devices *out, struct dg_error *err)
{
    if (!strcmp(name, "auto") || !strcmp(name, "cuda:all"))
        return DG_OK;
    for (const char *at = name, *end;; at = end + 1) {
        int number;
        end = at + strcspn(at, ",");
        if (!parse_cuda(at, end, &number))
            return dg_error_field(err, DG_EINVAL, "device",
                "device \"%.64s\": expected auto, cpu, cuda, cuda:N, several of these "
                "(cuda:0,cuda:2) or cuda:all",
                name);
        for (uint32_t i = 0; i < out->n; i++)
            if (out->list[i].number == number)
                return dg_error_field(
                    err, DG_EINVAL, "device", "device \"%.64s\" names cuda:%d twice", name, number);
        if (out->n == DG_DEVICES_MAX)
            return dg_error_field(err, DG_EINVAL, "device", "more than %d devices", DG_DEVICES_MAX);
        out->list[out->n++].number = number;
        if (!*end)
            return DG_OK;
    }
}

/* Parses the options without checking which devices exist: no device for "cpu", "auto" and
 * "cuda:all". */
static int read_words(const struct dg_device_options *o, const char **name, struct dg_devices *out,
    struct dg_error *err)
{
    enum dg_type type = DG_F32;
    memset(out, 0, sizeof *out);
    *name = word(o ? o->device : NULL, "DRAGOMAN_DEVICE", "auto");
    int rc = choose_type(word(o ? o->precision : NULL, "DRAGOMAN_PRECISION", "fp32"), &type, err);
    if (rc == DG_OK && strcmp(*name, "cpu") != 0)
        rc = parse_list(*name, out, err);
    for (size_t i = 0; i < DG_DEVICES_MAX; i++) {
        out->list[i].type = type;
        out->list[i].threads = o ? o->threads : 0;
    }
    return rc;
}

static int want_one(const struct dg_devices *all, struct dg_error *err)
{
    if (all->n <= 1)
        return DG_OK;
    return dg_error_field(
        err, DG_EINVAL, "device", "%u devices are named where one is expected: cuda:N", all->n);
}

int dg_devices_check(const struct dg_device_options *o, struct dg_error *err)
{
    struct dg_devices all;
    const char *name;
    return read_words(o, &name, &all, err);
}

int dg_device_check(const struct dg_device_options *o, struct dg_error *err)
{
    struct dg_devices all;
    const char *name;
    int rc = read_words(o, &name, &all, err);
    return rc == DG_OK ? want_one(&all, err) : rc;
}

/* Takes the first of n devices that can be used; an error with the first one's reason if none
 * can. */
static int take_usable(
    const struct dg_plugin *plugin, int n, struct dg_devices *out, struct dg_error *why)
{
    for (int i = 0; i < n; i++)
        if (plugin->probe(i, why) == DG_OK) {
            out->n = 1;
            out->list[0].cuda = true;
            out->list[0].number = i;
            return DG_OK;
        }
    return why->code;
}

/* Devices 0 to n - 1 exist. Fills in the devices that "cuda:all" means; DG_ENOTFOUND if a device
 * that was asked for by number does not exist. */
static int take_named(int n, struct dg_devices *out, struct dg_error *why)
{
    const int all = n < DG_DEVICES_MAX ? n : DG_DEVICES_MAX;
    for (int i = 0; out->n == 0 && i < all; i++)
        out->list[i].number = i;
    out->n = out->n ? out->n : (uint32_t)all;
    for (uint32_t i = 0; i < out->n; i++) {
        out->list[i].cuda = true;
        if (out->list[i].number >= n)
            return dg_error_set(why, DG_ENOTFOUND,
                "cuda:%d is not there: there are %d CUDA devices, from 0 on", out->list[i].number,
                n);
    }
    return DG_OK;
}

int dg_devices_choose(
    const struct dg_device_options *o, struct dg_devices *out, struct dg_error *err)
{
    const char *name;
    struct dg_error why = {0};
    int rc = read_words(o, &name, out, err);
    if (rc != DG_OK)
        return rc;
    const bool cpu = !strcmp(name, "cpu"), automatic = !strcmp(name, "auto");
    const struct dg_plugin *plugin;
    const int n = cpu || open_plugin(&plugin, &why) ? 0 : plugin->count(&why);
    if (n > 0 && !(automatic ? take_usable(plugin, n, out, &why) : take_named(n, out, &why)))
        return DG_OK;
    if (!cpu && !automatic)
        return dg_error_field(
            err, why.code, "device", "%.64s cannot be used: %.400s", name, why.message);
    out->n = 1;
    snprintf(out->list[0].note, sizeof out->list[0].note, "%.240s", why.message);
    return DG_OK;
}

int dg_device_choose(const struct dg_device_options *o, struct dg_device *out, struct dg_error *err)
{
    struct dg_devices all;
    int rc = dg_devices_choose(o, &all, err);
    if (rc == DG_OK)
        rc = want_one(&all, err);
    *out = all.list[0];
    return rc;
}

int dg_device_probe(const struct dg_device *device, struct dg_error *err)
{
    if (!device->cuda)
        return DG_OK;
    const struct dg_plugin *plugin;
    int rc = open_plugin(&plugin, err);
    return rc ? rc : plugin->probe(device->number, err);
}

int dg_device_identity(
    const struct dg_device *device, unsigned char id[DG_DEVICE_ID], struct dg_error *err)
{
    const struct dg_plugin *plugin;
    int rc = open_plugin(&plugin, err);
    return rc ? rc : plugin->identity(device->number, id, err);
}

int dg_device_open(const struct dg_device *device, struct dg_backend **out, struct dg_error *err)
{
    *out = NULL;
    if (!device->cuda) {
        const struct dg_cpu_options cpu = {.threads = device->threads, .nice = device->nice};
        int rc = dg_cpu_open(&cpu, out, err);
        if (rc == DG_OK)
            dg_cpu_set_products(*out, device->type);
        return rc;
    }
    const struct dg_plugin *plugin;
    const struct dg_plugin_options options = {device->number, device->type};
    int rc = open_plugin(&plugin, err);
    return rc ? rc : plugin->open(&options, out, err);
}

void dg_device_close(struct dg_backend *be)
{
    if (be)
        be->ops->close(be);
}
