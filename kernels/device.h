/* Choosing a device at run time: the CPU, or a CUDA device through the plugin library
 * (kernels/plugin.h). Any thread; what is opened belongs to one thread at a time. */
#ifndef DG_KERNELS_DEVICE_H
#define DG_KERNELS_DEVICE_H

#include "kernels/backend.h"

struct dg_device_options {
    /* "cpu", "cuda", "cuda:N", "auto"; where several devices are allowed, also "cuda:0,cuda:2" and
     * "cuda:all". NULL: $DRAGOMAN_DEVICE, else "auto" */
    const char *device;
    /* On a GPU: "fp32", "fp16", "bf16"; on a CPU that trains: "fp32", "bf16". NULL:
     * $DRAGOMAN_PRECISION, else "fp32" */
    const char *precision;
    /* CPU only: cores one op may be split over; 0 = 1 */
    int threads;
};

/* A resolved choice, valid for any number of backends. Plain data. */
struct dg_device {
    bool cuda;
    int number;
    enum dg_type type;
    int threads;
    /* CPU only: nice value of the threads that are started; 0: the opening thread's */
    int nice;
    /* why "auto" took the CPU; "" otherwise */
    char note[256];
};

#define DG_DEVICES_MAX 64

/* Devices that work side by side: each holds its own copy of the model and works independently. */
struct dg_devices {
    /* devices in list: at least one from dg_devices_choose, where the CPU counts as one */
    uint32_t n;
    struct dg_device list[DG_DEVICES_MAX];
};

/* Checks that the options' words are among those above; DG_EINVAL if one is not. Does not check
 * which devices exist. */
int dg_devices_check(const struct dg_device_options *options, struct dg_error *err);
/* The same where only one device is allowed; DG_EINVAL, too, if the options name several. */
int dg_device_check(const struct dg_device_options *options, struct dg_error *err);

/* Resolves the options. "auto" takes the first CUDA device that can be used, else the CPU.
 * DG_EINVAL: a word is not one of those above; DG_ENOTFOUND: the CUDA device asked for by name is
 * not available, with the reason (no driver, no plugin, no device); DG_EUNSUP: the plugin is of
 * another version. */
int dg_devices_choose(
    const struct dg_device_options *options, struct dg_devices *out, struct dg_error *err);
/* The same where only one device is allowed; DG_EINVAL, too, if the options name several. */
int dg_device_choose(
    const struct dg_device_options *options, struct dg_device *out, struct dg_error *err);

/* DG_OK if the device can be used, whatever memory it has left; otherwise the reason: too old
 * (DG_EUNSUP), or the driver refuses (DG_ENOTFOUND). Costs what the first use of a device costs:
 * its context, which stays open. */
int dg_device_probe(const struct dg_device *device, struct dg_error *err);

enum { DG_DEVICE_ID = 16 };
/* Writes an id of the CUDA device itself, whatever its number: the same in every process that uses
 * it. */
int dg_device_identity(
    const struct dg_device *device, unsigned char id[DG_DEVICE_ID], struct dg_error *err);

/* Opens a backend on the chosen device; close with be->ops->close. */
int dg_device_open(const struct dg_device *device, struct dg_backend **out, struct dg_error *err);
void dg_device_close(struct dg_backend *be); /* NULL is fine */

#endif
