/* Attention as a picture: lines between two columns of words as in the paper's Figures 3 to 5, or
 * heat maps. SVG without scripts or outside references. Any thread. */
#ifndef DG_TRANSLATE_PICTURE_ATTENTION_SVG_H
#define DG_TRANSLATE_PICTURE_ATTENTION_SVG_H

#include "base/buffer.h"
#include "translate/picture/attention.h"

#include <stdbool.h>

struct dg_attention_svg {
    /* one grid a head instead of lines */
    bool heat_map;
    /* only rows with this label look; NULL: all */
    const char *word;
};

/* Lines this faint are left out: they would not be seen, and are most of them. */
#define DG_ATTENTION_FAINT 0.005f

/* Append the picture to out (out->failed tells when memory was out). Heads have a colour each;
 * opacity is the weight. DG_ENOTFOUND when no row has the word. */
int dg_attention_svg_write(const struct dg_attention_view *v, const struct dg_attention_svg *o,
    struct dg_buffer *out, struct dg_error *err);

#endif
