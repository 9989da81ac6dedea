/* What SVG pictures share: the document's head, text as XML may hold it, colours. Appends to a
 * buffer of the caller, whose `failed` says whether memory ran out. Any thread. */
#ifndef DG_BASE_SVG_H
#define DG_BASE_SVG_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* The document's head, of width x height pixels on white, with sans-serif text of font_size pixels.
 * End it with dg_svg_end. */
void dg_svg_begin(struct dg_buffer *b, size_t width, size_t height, int font_size);
void dg_svg_end(struct dg_buffer *b);

/* Text between tags. Control characters become U+FFFD, and so does each byte above 0x7f unless s is
 * known to be UTF-8. */
void dg_svg_text(struct dg_buffer *b, const char *s, bool utf8);

/* Number i of colours that are told apart on white, in this order also by the colour-blind (Okabe
 * and Ito's eight, then darker ones); from the start again after the last. Static storage. */
const char *dg_svg_colour(size_t i);

#endif
