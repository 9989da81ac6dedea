/* Attention as a picture: lines between two columns of words as in the paper's Figures 3 to 5, or
 * heat maps. SVG without scripts or outside references. Any thread. */
#ifndef DG_TRANSLATE_PICTURE_ATTENTION_SVG_H
#define DG_TRANSLATE_PICTURE_ATTENTION_SVG_H

#include "base/buffer.h"
#include "translate/picture/attention.h"

#include <stdbool.h>

struct dg_attention_svg {
    /* one grid per head instead of lines */
    bool heat_map;
    /* draw only rows with this label; NULL: all */
    const char *word;
};

/* Lines with less weight are left out: they would be invisible, and are the majority. */
#define DG_ATTENTION_FAINT 0.005f

/* Append the picture to out (out->failed if memory ran out). Each head has a colour; opacity is the
 * weight. DG_ENOTFOUND: no row has the word. DG_ENOMEM. */
int dg_attention_svg_write(const struct dg_attention_view *v, const struct dg_attention_svg *o,
    struct dg_buffer *out, struct dg_error *err);

#endif
