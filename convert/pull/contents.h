/* Recognises which program's model a folder holds, and converts it to a bundle. Any thread. */
#ifndef DG_CONVERT_PULL_CONTENTS_H
#define DG_CONVERT_PULL_CONTENTS_H

#include "base/error.h"
#include "kernels/backend.h"

#include <stdbool.h>

enum dg_contents_kind {
    DG_CONTENTS_BUNDLE,
    DG_CONTENTS_ARGOS,
    DG_CONTENTS_CTRANSLATE2,
    DG_CONTENTS_HUGGINGFACE,
    DG_CONTENTS_MARIAN,
    DG_CONTENTS_BERGAMOT,
};

struct dg_contents {
    enum dg_contents_kind kind;
    /* The folder of the model itself, perhaps one inside the given folder. */
    char dir[4096];
};

/* Search `dir` and folders in it, three deep. DG_EUNSUP: no known model. */
int dg_contents_find(const char *dir, struct dg_contents *out, struct dg_error *err);

struct dg_contents_options {
    /* NULL: as in the model's own files. */
    const char *source_lang, *target_lang;
    const char *name, *licence;
    /* The bundle's directory. */
    const char *out;
    /* Convert matrices to int8, unless they are int8 already. */
    bool int8;
    /* Type of the matrices without int8. */
    enum dg_type type;
};

/* Convert the model. A bundle is checked and copied, and quantised if int8 is asked for; DG_EINVAL:
 * other languages than its own, another type. */
int dg_contents_convert(
    const struct dg_contents *c, const struct dg_contents_options *o, struct dg_error *err);

#endif
