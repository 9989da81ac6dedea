/* Source of a model file's bytes: a path, or memory borrowed until the reader is closed. Values;
 * any thread. Private to convert/ and its tests. */
#ifndef DG_CONVERT_INPUT_H
#define DG_CONVERT_INPUT_H

#include "base/file.h"
#include "base/json.h"

/* Made by dg_input_path or dg_input_memory. */
struct dg_input {
    /* NULL: the bytes are in memory. */
    const char *path;
    const void *data;
    size_t size;
};

static inline struct dg_input dg_input_path(const char *path)
{
    return (struct dg_input){.path = path};
}

static inline struct dg_input dg_input_memory(const void *data, size_t size)
{
    return (struct dg_input){.data = data, .size = size};
}

/* The remaining bytes. */
struct dg_input_cursor {
    const unsigned char *at, *end;
};

/* The next n bytes; NULL when there are fewer. */
static inline const unsigned char *dg_input_take(struct dg_input_cursor *c, uint64_t n)
{
    const unsigned char *p = c->at;
    if (n > (uint64_t)(c->end - c->at))
        return NULL;
    c->at += n;
    return p;
}

/* Open all of the input's bytes. A path is mapped into *map, which must be zeroed and which the
 * caller unmaps in every case; memory leaves *map as it is. */
int dg_input_open(const struct dg_input *in, struct dg_map *map, struct dg_input_cursor *all,
    struct dg_error *err);
/* Returns rc; for an error, puts the path before the message. */
int dg_input_result(const struct dg_input *in, int rc, struct dg_error *err);

/* Whether the directory has this file. */
bool dg_input_has(const char *dir, const char *name);
/* Load the object in a JSON file of the directory. A missing file that is not required leaves *out
 * as it is. The error's field is the file's name. Caller frees *out. */
int dg_input_json(
    const char *dir, const char *name, bool required, struct dg_json **out, struct dg_error *err);

#endif
