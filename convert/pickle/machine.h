/* Reads a pickle (protocol 2) as a tree, with the few opcodes that torch.save writes for a
 * dictionary of tensors. No code is imported or run: a GLOBAL must be OrderedDict,
 * _rebuild_tensor_v2 or a storage type of torch, and every other opcode or name is refused by name.
 * One thread at a time. */
#ifndef DG_CONVERT_PICKLE_MACHINE_H
#define DG_CONVERT_PICKLE_MACHINE_H

#include "base/arena.h"
#include "base/error.h"
#include "convert/input.h"
#include "kernels/backend.h" /* enum dg_type */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_pickle_kind {
    DG_PICKLE_MARK,
    DG_PICKLE_NONE,
    DG_PICKLE_BOOL,
    DG_PICKLE_INT,
    DG_PICKLE_LONG, /* an integer beyond 64 bits: its bytes */
    DG_PICKLE_TEXT,
    DG_PICKLE_TUPLE,
    DG_PICKLE_LIST,
    DG_PICKLE_DICT,     /* items: key, value, key, value ... */
    DG_PICKLE_NEW_DICT, /* collections.OrderedDict, not called yet */
    DG_PICKLE_REBUILD,  /* torch._utils._rebuild_tensor_v2 */
    DG_PICKLE_TYPE,     /* torch.FloatStorage ...: `i`: enum dg_type or -1; `text`: name */
    DG_PICKLE_STORAGE,  /* items: type; text: key; i: elements */
    DG_PICKLE_TENSOR    /* items: storage, offset, shape, strides */
};

struct dg_pickle {
    enum dg_pickle_kind kind;
    int64_t i;
    /* [n], and a NUL except after the bytes of DG_PICKLE_LONG */
    const char *text;
    struct dg_pickle **items;
    /* number of items, or of the text's bytes; capacity for items */
    size_t n, room;
};

/* Read the next pickle of the input, up to and including its STOP. Nodes are allocated in the
 * arena. DG_EFORMAT, DG_EUNSUP name the opcode or the global. */
int dg_pickle_read(struct dg_input_cursor *in, struct dg_arena *arena, struct dg_pickle **out,
    struct dg_error *err);

#endif
