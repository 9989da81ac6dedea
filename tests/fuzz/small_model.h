/* A model of 16 dimensions for targets that run a whole server: a sentence takes a millisecond. The
 * converter makes it from tests/data/convert; it knows English and German. */
#ifndef DG_TESTS_FUZZ_SMALL_MODEL_H
#define DG_TESTS_FUZZ_SMALL_MODEL_H

#include "convert/huggingface/huggingface.h"
#include "tests/fuzz/fuzz.h"

/* Returns the folder of its bundle, in static storage. */
static inline char *fuzz_small_model(void)
{
    static char out[128];
    struct dg_error err = {0};
    snprintf(out, sizeof out, "%s/model", fuzz_dir());
    const struct dg_convert_huggingface o = {
        .dir = "tests/data/convert/huggingface/learned", .to = {.out = out, .type = DG_F32}};
    require(dg_convert_huggingface(&o, &err) == DG_OK);
    return out;
}

#endif
