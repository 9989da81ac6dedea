/* Choosing a device at run time: the CPU, or a CUDA device through the plugin library
 * (kernels/plugin.h). Any thread; what is opened belongs to one thread at a time. */
#ifndef DG_KERNELS_DEVICE_H
#define DG_KERNELS_DEVICE_H

#include "kernels/backend.h"

struct dg_device_options {
    const char *device; /* "cpu", "cuda", "cuda:N", "auto"; NULL: $DRAGOMAN_DEVICE, else "auto" */
    const char
        *precision; /* of a GPU: "fp32", "fp16", "bf16"; NULL: $DRAGOMAN_PRECISION, else "fp32" */
    int threads;    /* of the CPU: cores one op may be split over; 0 = 1 */
};

/* A choice that holds for as many backends as a program opens. Plain data. */
struct dg_device {
    bool cuda;
    int number;
    enum dg_type type;
    int threads;
    char note[256]; /* why "auto" took the CPU; "" otherwise */
};

/* Resolve the options. "auto" takes the first CUDA device where there is one. DG_EINVAL: a word is
 * not one of those above; DG_ENOTFOUND: the CUDA device asked for by name cannot be had, with the
 * reason: no driver, no plugin, no device. */
int dg_device_choose(
    const struct dg_device_options *options, struct dg_device *out, struct dg_error *err);

/* Open a backend on the chosen device; close with be->ops->close. */
int dg_device_open(const struct dg_device *device, struct dg_backend **out, struct dg_error *err);
void dg_device_close(struct dg_backend *be); /* NULL is fine */

#endif
