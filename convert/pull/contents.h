/* Which program's model a folder has, and how it becomes a bundle. Any thread. */
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
    /* The folder with the model itself, perhaps one inside. */
    char dir[4096];
};

/* Look into `dir` and folders in it, three deep. DG_EUNSUP: nothing that is known. */
int dg_contents_find(const char *dir, struct dg_contents *out, struct dg_error *err);

struct dg_contents_options {
    /* NULL: those of the model's own files. */
    const char *source_lang, *target_lang;
    const char *name, *licence;
    /* The bundle's directory. */
    const char *out;
    /* Matrices that are not int8 already are made so. */
    bool int8;
    /* Else they are stored as this. */
    enum dg_type type;
};

/* Convert it; a bundle is checked and copied. */
int dg_contents_convert(
    const struct dg_contents *c, const struct dg_contents_options *o, struct dg_error *err);

#endif
