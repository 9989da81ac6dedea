/* libFuzzer target for convert/pickle/: any bytes are refused, or open as tensors that can be read
 * and whose elements are in the file or in a copy. Build: see scripts/fuzz. */
#include "convert/pickle/torch_file.h"

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
    struct dg_torch_file *f = NULL;
    struct dg_error err = {0};
    if (dg_torch_file_open(dg_input_memory(data, size), &f, &err) != 0) {
        require(err.message[0] != '\0');
        return 0;
    }
    require(dg_torch_file_count(f) > 0);
    for (size_t i = 0; i < dg_torch_file_count(f); i++) {
        const struct dg_safetensor *t = dg_torch_file_at(f, i);
        require(t->name && t->n_dims <= 4 && t->count >= 1 && t->count <= size);
        float *values = malloc(t->count * sizeof *values);
        if (values)
            dg_safetensors_read(t, values);
        free(values);
    }
    dg_torch_file_close(f);
    return 0;
}
