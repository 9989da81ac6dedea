/* Common parts of SVG pictures: the document's head, escaped text, colours. Appends to the caller's
 * buffer; its `failed` shows out of memory. Any thread. */
#ifndef DG_BASE_SVG_H
#define DG_BASE_SVG_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Write the document's head: width x height pixels in the reader's colour scheme (light or dark),
 * sans-serif text of font_size pixels. Elements of class "soft" are muted text, those of class
 * "grid" muted lines. End the document with dg_svg_end. */
void dg_svg_begin(struct dg_buffer *b, size_t width, size_t height, int font_size);
void dg_svg_end(struct dg_buffer *b);

/* Text between tags. Control characters become U+FFFD, and so does each byte above 0x7f unless s is
 * known to be UTF-8. */
void dg_svg_text(struct dg_buffer *b, const char *s, bool utf8);

/* Colour i of a palette that can be told apart on white, in this order also by the colour-blind
 * (Okabe and Ito's eight, then darker ones); it repeats after the last. As a value of fill or
 * stroke, a colour too dark for a dark scheme is replaced there by a lighter one. Static storage.
 */
const char *dg_svg_colour(size_t i);

#endif
