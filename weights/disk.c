#include "weights/disk.h"

#include <xxhash.h>

const char *dg_weights_type_name(enum dg_type type)
{
    static const char *const names[] = {"f32", "f16", "bf16", "s8"};
    return dg_type_bytes(type) ? names[type] : "?";
}

bool dg_disk_data_bytes(uint32_t type, uint32_t layout, uint64_t N, uint64_t K, uint64_t *bytes)
{
    uint64_t element = dg_type_bytes(type);
    if (!element || !N || !K || N > DG_DISK_MAX_DIM || K > DG_DISK_MAX_DIM ||
        N > DG_DISK_MAX_ELEMENTS / K)
        return false;
    switch (layout) {
    case DG_LAYOUT_ROWS: *bytes = N * K * element; return true;
    case DG_LAYOUT_PANEL16: *bytes = (N + 15) / 16 * 16 * K * element; return true;
    case DG_LAYOUT_PANEL16_S8:
        *bytes = (N + 15) / 16 * ((K + 3) / 4 * 64 + 64);
        return type == DG_S8;
    default: return false;
    }
}

bool dg_disk_name_ok(const char *name, size_t n)
{
    if (n < 1 || n > DG_DISK_MAX_NAME)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (name[i] < 0x21 || name[i] > 0x7e)
            return false;
    }
    return true;
}

uint64_t dg_disk_checksum(const void *data, size_t n)
{
    return XXH3_64bits(data, n);
}

uint64_t dg_disk_header_checksum(const unsigned char *file, size_t header_bytes)
{
    size_t skip = offsetof(struct dg_disk_header, endian);
    return XXH3_64bits(file + skip, header_bytes - skip);
}
