/* FORMAT.md's example of a weights file, made by the writer, for the tests of weights/. */
#ifndef DG_TESTS_UNIT_WEIGHTS_EXAMPLE_H
#define DG_TESTS_UNIT_WEIGHTS_EXAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "weights/disk.h"
#include "weights/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXAMPLE_BYTES 640

static const float w_rows[6] = {1, -2, 0.5f, 3, 0.25f, -1}; /* [2,3] */
static const int8_t w_s8[6] = {64, -128, 32, 96, 8, -32};   /* [2,3] */
static const float w_scales[2] = {1.0f / 64, 1.0f / 32};    /* [2] */
static const float b_rows[3] = {0.1f, 1, 65504};            /* [1,3] */

static inline char *temporary(const char *name)
{
    static char path[256];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dg_weights_%ld_%s", dir ? dir : "/tmp", (long)getpid(), name);
    return path;
}

static inline struct dg_weights_writer *example_writer(void)
{
    struct dg_weights_writer *w;
    struct dg_error err = {0};
    struct dg_stored s8 = {DG_S8, DG_LAYOUT_ROWS, w_s8, w_scales};
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    assert_int_equal(dg_weights_writer_add(w, "w", 2, 3, DG_F32, w_rows, &err), 0);
    assert_int_equal(dg_weights_writer_add_form(w, "w", &s8, 6, &err), 0);
    assert_int_equal(dg_weights_writer_add(w, "b", 1, 3, DG_F16, b_rows, &err), 0);
    return w;
}

/* Returns the writer's output as bytes, 64-byte aligned; the caller frees it. */
static inline unsigned char *written(struct dg_weights_writer *w, size_t *size)
{
    struct dg_error err = {0};
    struct dg_map map;
    char *path = temporary("written.dgw");
    if (dg_weights_writer_commit(w, path, &err) != 0)
        fail_msg("commit: %s", err.message);
    dg_weights_writer_close(w);
    assert_int_equal(dg_file_map(path, &map, &err), 0);
    unsigned char *bytes = aligned_alloc(64, map.size);
    memcpy(bytes, map.data, map.size);
    *size = map.size;
    dg_file_unmap(&map);
    unlink(path);
    return bytes;
}

static inline unsigned char *example(void)
{
    size_t size;
    unsigned char *bytes = written(example_writer(), &size);
    assert_int_equal(size, EXAMPLE_BYTES);
    return bytes;
}

/* Corrects the header's checksum, so that the fields' own checks are reached. */
static inline void reseal(unsigned char *bytes)
{
    uint64_t sum = dg_disk_header_checksum(bytes, 384);
    memcpy(bytes + 8, &sum, sizeof sum);
}

#endif
