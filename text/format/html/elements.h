/* How a translator treats HTML's elements. Names are in small letters. Any thread. Only for
 * text/format. */
#ifndef DG_TEXT_FORMAT_HTML_ELEMENTS_H
#define DG_TEXT_FORMAT_HTML_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>

enum dg_element {
    DG_ELEMENT_BLOCK,     /* ends a sentence at either end: <p>, <li>, <td> */
    DG_ELEMENT_INLINE,    /* encloses words of a sentence: <b>, <a>; any unknown one */
    DG_ELEMENT_POINT,     /* is between words, and has no end: <img> */
    DG_ELEMENT_LINE_END,  /* <br> */
    DG_ELEMENT_OPAQUE,    /* nothing in it is for readers: <script>, <svg> */
    DG_ELEMENT_PROTECTED, /* stays as it is, and is read: <code>, <kbd> */
};

enum dg_element dg_element_find(const char *name);
/* True if HTML has this element. */
bool dg_element_is_known(const char *name);

/* True if an element with these classes, the value of its attribute, stays as it is. */
bool dg_element_is_notranslate(const char *classes, size_t n);

/* True if this attribute's value is text for readers. For <meta> and <input> it depends on another
 * attribute: `other` is the value of meta's name or property, or of input's type, or NULL. */
bool dg_element_value_is_text(const char *name, const char *attribute, const char *other);

#endif
