/* libFuzzer target for weights/: any bytes are refused or opened, and everything opened is within
 * these bytes. The target corrects the header's checksum first, since a mutation would never pass
 * it. Build: clang -fsanitize=fuzzer,address,undefined with weights/{format,half,reader,verify}.c
 * and base/{error,file}.c, link libxxhash. */
#include "weights/disk.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_form(const unsigned char *file, size_t size, const struct dg_tensor *t, size_t i)
{
    const unsigned char *data = t->stored[i].data, *scales = (const void *)t->stored[i].scales;
    require(data >= file && data + t->bytes[i] <= file + size && (data - file) % 64 == 0);
    require((t->stored[i].type == DG_S8) == (scales != NULL));
    if (scales)
        require(scales >= data + t->bytes[i] && scales + 4 * t->shape[0] <= file + size);
}

static void check_open(const unsigned char *file, size_t size, struct dg_weights *w)
{
    for (size_t i = 0; i < dg_weights_count(w); i++) {
        const struct dg_tensor *t = dg_weights_at(w, i);
        require(dg_weights_find(w, t->name) == t);
        require(t->n_stored >= 1 && t->n_stored <= DG_MAX_FORMS);
        for (size_t j = 0; j < t->n_stored; j++)
            check_form(file, size, t, j);
    }
    dg_weights_verify(w, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_weights *w = NULL;
    struct dg_error err = {0};
    unsigned char *file = NULL;
    uint64_t header_bytes = 0;
    require(posix_memalign((void **)&file, 64, size ? size : 1) ==
            0); /* exactly sized: ASan sees the end */
    if (size)
        memcpy(file, data, size);
    if (size >= sizeof(struct dg_disk_header)) {
        memcpy(&header_bytes, file + offsetof(struct dg_disk_header, header_bytes),
            sizeof header_bytes);
        if (header_bytes >= sizeof(struct dg_disk_header) && header_bytes <= size) {
            uint64_t sum = dg_disk_header_checksum(file, header_bytes);
            memcpy(file + offsetof(struct dg_disk_header, header_checksum), &sum, sizeof sum);
        }
    }
    if (dg_weights_open_memory(file, size, &w, &err) == 0) {
        check_open(file, size, w);
        dg_weights_close(w);
    } else {
        require(err.message[0] != '\0');
    }
    free(file);
    return 0;
}
