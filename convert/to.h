/* Options of the bundle to make, shared by all converters. Plain data; any thread. */
#ifndef DG_CONVERT_TO_H
#define DG_CONVERT_TO_H

#include "kernels/backend.h"

#include <stdbool.h>

struct dg_convert_to {
    /* "en"; where the model has tags for languages, codes separated by commas. NULL: as the model's
     * files say, if they do */
    const char *source_lang, *target_lang;
    /* the bundle's directory; created if it does not exist */
    const char *out;
    /* NULL: "<source>-<target>"; for Hugging Face, the directory's name */
    const char *name;
    /* NULL: not given */
    const char *licence;
    /* type of matrices and tables: DG_F32, DG_F16, DG_BF16; vectors stay fp32. Only
     * dg_contents_convert takes DG_S8, and sets keep_int8 itself */
    enum dg_type type;
    /* matrices and tables that are int8 in the file stay so, and are not stored as type; Hugging
     * Face has none */
    bool keep_int8;
};

#endif
