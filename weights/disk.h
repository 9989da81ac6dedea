/* The weights file on disk (FORMAT.md), and an open one. Private to weights/ and its tests;
 * convert/ includes it for the limit of elements and the check of the byte order. All numbers are
 * little-endian; the structs are read and written whole, so this header does not compile on a
 * big-endian host. An open file is constant: any thread. */
#ifndef DG_WEIGHTS_DISK_H
#define DG_WEIGHTS_DISK_H

#include "base/file.h"
#include "weights/weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weights files are used in place and are little-endian"
#endif

#define DG_DISK_MAGIC                                                                              \
    "DGWT\r\n\x1a\n" /* the line ends reveal a file that was copied in text mode */
#define DG_DISK_ENDIAN 0x01020304u
#define DG_DISK_VERSION 1u
#define DG_DISK_ALIGN 64u

#define DG_DISK_MAX_TENSORS (1u << 20)
#define DG_DISK_MAX_NAME 255u
#define DG_DISK_MAX_DIM 0x7fffffffu
#define DG_DISK_MAX_ELEMENTS ((uint64_t)1 << 40)

struct dg_disk_header {
    unsigned char magic[8];
    /* XXH3-64 of the rest of the header, including tables and names */
    uint64_t header_checksum;
    uint32_t endian, version;
    uint64_t header_bytes, file_bytes;
    uint32_t tensor_count, form_count, names_bytes, reserved0;
    uint64_t reserved1;
};

struct dg_disk_tensor {
    uint32_t name_offset, name_bytes;
    uint64_t rows, cols;
    uint32_t first_form, form_count;
};

struct dg_disk_form {
    uint32_t type, layout;
    uint64_t data_offset, data_bytes, data_checksum;
    uint64_t scales_offset, scales_bytes, scales_checksum;
    uint64_t reserved;
};

_Static_assert(sizeof(struct dg_disk_header) == 64, "the header is 64 bytes");
_Static_assert(sizeof(struct dg_disk_tensor) == 32, "a tensor entry is 32 bytes");
_Static_assert(sizeof(struct dg_disk_form) == 64, "a form entry is 64 bytes");

/* n rounded up to the alignment; n must be below 2^63. */
static inline uint64_t dg_disk_align(uint64_t n)
{
    return (n + DG_DISK_ALIGN - 1) & ~(uint64_t)(DG_DISK_ALIGN - 1);
}

/* Bytes of an [N,K] tensor in a layout; false when the shape is invalid or this build does not know
 * the layout or type. */
bool dg_disk_data_bytes(uint32_t type, uint32_t layout, uint64_t N, uint64_t K, uint64_t *bytes);
/* A name is 1..255 printable ASCII characters without blanks. */
bool dg_disk_name_ok(const char *name, size_t n);

/* XXH3-64 of n bytes. */
uint64_t dg_disk_checksum(const void *data, size_t n);
/* The header's checksum, over the file's first header_bytes bytes without magic and checksum. */
uint64_t dg_disk_header_checksum(const unsigned char *file, size_t header_bytes);

struct dg_weights_memory; /* loaded.c */

/* An open file. */
struct dg_weights {
    /* the file's bytes; its size is 0 when they are borrowed */
    struct dg_map map;
    /* NULL: mapped or borrowed, not loaded */
    struct dg_weights_memory *memory;
    const unsigned char *data;
    size_t size;
    struct dg_disk_header header;
    /* [tensor_count], in the file's order */
    struct dg_tensor *tensors;
    /* [tensor_count], sorted */
    const struct dg_tensor **by_name;
    /* [tensor_count], in the file */
    const struct dg_disk_tensor *entries;
    /* [form_count], in the file */
    const struct dg_disk_form *forms;
    const char *names;
};

void dg_weights_memory_free(struct dg_weights_memory *m); /* NULL is fine */

/* tables.c: read and check the header of w->data, then the tables after it into w->tensors, which
 * dg_weights_close frees even after a failure. DG_EFORMAT names field and value. */
int dg_disk_read_header(struct dg_weights *w, struct dg_error *err);
int dg_disk_read_tables(struct dg_weights *w, struct dg_error *err);

#endif
