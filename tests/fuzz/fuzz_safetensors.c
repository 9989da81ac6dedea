/* libFuzzer target for convert/safetensors.c: any bytes are refused, or open as tensors that are
 * within them, one after another, and can be read. Build: clang -fsanitize=fuzzer,address,undefined
 * with convert/safetensors.c, weights/half.c, weights/disk.c and base/. */
#include "convert/safetensors.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_safetensors *s = NULL;
    struct dg_error err = {0};
    if (dg_safetensors_open(dg_input_memory(data, size), &s, &err) != 0) {
        require(err.message[0] != '\0');
        return 0;
    }
    const uint8_t *at = NULL;
    require(dg_safetensors_count(s) > 0);
    for (size_t i = 0; i < dg_safetensors_count(s); i++) {
        const struct dg_safetensor *t = dg_safetensors_at(s, i);
        uint64_t bytes = t->count * (t->type == DG_F32 ? 4 : 2);
        require(t->n_dims <= 4 && t->count >= 1);
        for (size_t k = 0; k < i; k++)
            require(strcmp(dg_safetensors_at(s, k)->name, t->name) != 0);
        require(t->data >= data && bytes <= size && t->data + bytes <= data + size);
        require(!at || t->data == at);
        at = t->data + bytes;
        float *values = malloc(t->count * sizeof *values);
        if (values)
            dg_safetensors_read(t, values);
        free(values);
    }
    require(at == data + size);
    dg_safetensors_close(s);
    return 0;
}
