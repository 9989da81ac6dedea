/* libFuzzer target for convert/ctranslate2/reader.c: any bytes are refused, or open as variables
 * that are within them and can be read. Build: see scripts/fuzz. */
#include "convert/ctranslate2/reader.h"

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
    struct dg_ct2 *m = NULL;
    struct dg_error err = {0};
    if (dg_ct2_open(dg_input_memory(data, size), &m, &err) != 0) {
        require(err.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < dg_ct2_count(m); i++) {
        const struct dg_ct2_variable *v = dg_ct2_at(m, i);
        require(v->n_dims <= 4 && v->count >= 1 && v->count <= size);
        require(v->data >= data && v->data < data + size && dg_ct2_find(m, v->name) == v);
        float *values = malloc(v->count * sizeof *values);
        if (values)
            dg_ct2_read(v, values);
        free(values);
    }
    dg_ct2_close(m);
    return 0;
}
