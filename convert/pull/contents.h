/* Recognises which program's model a folder holds, and converts it to a bundle. Any thread. */
#ifndef DG_CONVERT_PULL_CONTENTS_H
#define DG_CONVERT_PULL_CONTENTS_H

#include "base/error.h"
#include "convert/to.h"

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

/* Convert the model; with the type DG_S8, its matrices to int8, unless they are int8 already. After
 * a failure the caller removes o->out. A bundle is checked and copied, and quantised if int8 is
 * asked for; DG_EINVAL: other languages than its own, another type. */
int dg_contents_convert(
    const struct dg_contents *c, const struct dg_convert_to *o, struct dg_error *err);

#endif
