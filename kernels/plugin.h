/* A device's backend in a library of its own, opened at run time (kernels/device.c), so that the
 * programs need none of the device's libraries. The library exports one function, DG_PLUGIN_ENTRY,
 * which returns NULL if it was built for another version of the tables. Any thread may call it;
 * what it opens belongs to one thread at a time. */
#ifndef DG_KERNELS_PLUGIN_H
#define DG_KERNELS_PLUGIN_H

#include "kernels/device.h"
#include "kernels/train.h"

/* Program and plugin must have been built from the same tables. Added or removed entries change the
 * sizes; the first number is raised by hand when an entry changes its meaning. */
#define DG_PLUGIN_ABI                                                                              \
    ((uint32_t)((6u << 24) + sizeof(struct dg_ops) * 256 + sizeof(struct dg_train_ops)))
#define DG_PLUGIN_ENTRY "dg_plugin_cuda"

struct dg_plugin_options {
    /* number of the CUDA device */
    int device;
    /* of activations and matrices: DG_F32, DG_F16 or DG_BF16 */
    enum dg_type type;
};

struct dg_plugin {
    uint32_t abi;
    /* Returns the number of devices; 0 with the reason in err. */
    int (*count)(struct dg_error *err);
    int (*open)(
        const struct dg_plugin_options *options, struct dg_backend **out, struct dg_error *err);
    /* DG_OK if the device can be used: what `open` needs of it, but for memory. Leaves the driver's
     * context of the device open. */
    int (*probe)(int device, struct dg_error *err);
    /* Writes the UUID of the device, which does not depend on its number in this process. */
    int (*identity)(int device, unsigned char id[DG_DEVICE_ID], struct dg_error *err);
};

typedef const struct dg_plugin *dg_plugin_entry(uint32_t abi);

#endif
