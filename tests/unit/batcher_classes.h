/* Vocabulary of the tables in the batcher's tests. */
#ifndef DG_TESTS_UNIT_BATCHER_CLASSES_H
#define DG_TESTS_UNIT_BATCHER_CLASSES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "server/schedule/batcher.h"

#include <stdint.h>

#define MS UINT64_C(1000000)
#define I DG_CLASS_INTERACTIVE
#define B DG_CLASS_BULK
/* The same, refused by the engine for lack of room before. */
#define I_REFUSED (DG_CLASSES + DG_CLASS_INTERACTIVE)
#define B_REFUSED (DG_CLASSES + DG_CLASS_BULK)
/* The same, and patient. */
#define I_PATIENT (2 * DG_CLASSES + DG_CLASS_INTERACTIVE)

struct one {
    int class;     /* one of the above */
    uint64_t rank; /* within its class */
    uint32_t rows, tokens;
};

static inline uint64_t rank_of(const struct one *x)
{
    return x->rank | (x->class % DG_CLASSES == B ? UINT64_C(1) << 63 : 0);
}

static inline struct dg_entry entry_of(const struct one *x)
{
    return (struct dg_entry){.node.key = rank_of(x),
        .rows = x->rows,
        .source_tokens = x->tokens,
        .refused = x->class / DG_CLASSES == 1,
        .patient = x->class / DG_CLASSES == 2};
}

#endif
