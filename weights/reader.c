/* Opens a weights file and answers queries about an open one. */
#include "weights/weights.h"

#include "weights/disk.h"

#include <stdlib.h>
#include <string.h>

int dg_weights_open_memory(
    const void *data, size_t size, struct dg_weights **out, struct dg_error *err)
{
    struct dg_weights *w = calloc(1, sizeof *w);
    if (!w)
        return dg_error_set(err, DG_ENOMEM, "no memory for a weights file");
    w->data = data;
    w->size = size;
    int rc = dg_disk_read_header(w, err);
    if (!rc)
        rc = dg_disk_read_tables(w, err);
    if (rc) {
        dg_weights_close(w);
        return rc;
    }
    *out = w;
    return 0;
}

int dg_weights_open(const char *path, struct dg_weights **out, struct dg_error *err)
{
    struct dg_map map = {0};
    int rc = dg_file_map(path, &map, err);
    if (rc)
        return rc;
    rc = dg_weights_open_memory(map.data, map.size, out, err);
    if (rc) {
        dg_error_prefix(err, "%s", path);
        dg_file_unmap(&map);
        return rc;
    }
    (*out)->map = map;
    return 0;
}

void dg_weights_close(struct dg_weights *w)
{
    if (!w)
        return;
    dg_weights_memory_free(w->memory);
    dg_file_unmap(&w->map);
    free(w->tensors);
    free(w->by_name);
    free(w);
}

void dg_weights_forget(const struct dg_weights *w)
{
    dg_file_forget(&w->map);
}

static int compare_key(const void *key, const void *element)
{
    const struct dg_tensor *const *t = element;
    return strcmp(key, (*t)->name);
}

const struct dg_tensor *dg_weights_find(const struct dg_weights *w, const char *name)
{
    const struct dg_tensor **found =
        bsearch(name, w->by_name, w->header.tensor_count, sizeof *w->by_name, compare_key);
    return found ? *found : NULL;
}

size_t dg_weights_count(const struct dg_weights *w)
{
    return w->header.tensor_count;
}

const struct dg_tensor *dg_weights_at(const struct dg_weights *w, size_t i)
{
    return i < w->header.tensor_count ? &w->tensors[i] : NULL;
}

uint64_t dg_weights_fingerprint(const struct dg_weights *w)
{
    return w->header.header_checksum;
}

size_t dg_weights_bytes(const struct dg_weights *w)
{
    return w->size;
}

const char *dg_weights_main_type(const struct dg_weights *w)
{
    static const char *const names[] = {
        [DG_F32] = "float32", [DG_F16] = "float16", [DG_BF16] = "bfloat16", [DG_S8] = "int8"};
    const struct dg_tensor *largest = NULL;
    for (size_t i = 0; i < dg_weights_count(w); i++) {
        const struct dg_tensor *t = dg_weights_at(w, i);
        if (!largest || t->shape[0] * t->shape[1] > largest->shape[0] * largest->shape[1])
            largest = t;
    }
    /* A tensor's last form is the one that kernels prefer. */
    return largest && largest->n_stored > 0 ? names[largest->stored[largest->n_stored - 1].type]
                                            : "";
}
