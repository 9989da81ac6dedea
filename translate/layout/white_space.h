/* White space that separates words wherever translate/ counts them: all code that numbers words
 * must agree. Any thread. Private to translate/. */
#ifndef DG_TRANSLATE_LAYOUT_WHITE_SPACE_H
#define DG_TRANSLATE_LAYOUT_WHITE_SPACE_H

#include <stdbool.h>

static inline bool dg_white_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif
