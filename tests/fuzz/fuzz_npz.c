/* libFuzzer target for convert/npz.c: any bytes are refused, or open as arrays whose sizes agree
 * and which can be read (or which their CRC then refuses). Build: clang
 * -fsanitize=fuzzer,address,undefined with convert/npz.c and base/error.c, link libzip. */
#include "convert/npz.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_npz *z = NULL;
    struct dg_error err = {0};
    if (dg_npz_open(dg_input_memory(data, size), &z, &err) != 0) {
        require(err.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < dg_npz_count(z); i++) {
        const struct dg_npy *a = dg_npz_at(z, i);
        uint64_t bytes = a->count * (a->type == DG_NPY_F32 ? 4 : a->type == DG_NPY_F16 ? 2 : 1);
        require(dg_npz_find(z, a->name) == a && a->n_dims <= 4);
        require(bytes / 1100 <= size); /* the archive's own size bounds what a caller allocates */
        void *out = malloc(bytes);
        if (out)
            dg_npz_read(z, a, out, NULL);
        free(out);
    }
    dg_npz_close(z);
    return 0;
}
