/* libFuzzer target for convert/marian/binary.c and lexicon.c: any bytes are refused, or open as
 * items and lists that are within them. Build: clang -fsanitize=fuzzer,address,undefined with
 * these, base/ and weights/shortlist.c. */
#include "convert/marian/binary.h"
#include "convert/marian/lexicon.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void lexicon(const uint8_t *data, size_t size)
{
    struct dg_marian_lexicon l;
    struct dg_error err = {0};
    if (dg_marian_lexicon_read(data, size, &l, &err) != 0) {
        require(err.message[0] != '\0');
        return;
    }
    uint64_t entries;
    require(l.offsets + 8 * ((size_t)l.n_source + 1) == l.ids);
    memcpy(&entries, l.offsets + 8 * (size_t)l.n_source, sizeof entries);
    require(l.ids + 4 * entries == data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_marian_binary *b = NULL;
    struct dg_error err = {0};
    lexicon(data, size);
    if (dg_marian_binary_open(dg_input_memory(data, size), &b, &err) != 0) {
        require(err.message[0] != '\0');
        return 0;
    }
    require(dg_marian_binary_count(b) > 0);
    for (size_t i = 0; i < dg_marian_binary_count(b); i++) {
        const struct dg_marian_array *it = dg_marian_binary_at(b, i);
        const uint64_t bytes = dg_marian_array_bytes(it) + (it->type == DG_MARIAN_S8 ? 4 : 0);
        require(it->n_dims <= 4 && it->count >= 1 && strlen(it->name) < size);
        require(it->data >= data && bytes <= size && it->data + bytes <= data + size);
    }
    dg_marian_binary_close(b);
    return 0;
}
