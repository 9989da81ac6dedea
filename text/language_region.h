/* The likely script and region of a language, from CLDR: office formats name a language with its
 * region. Any thread. */
#ifndef DG_TEXT_LANGUAGE_REGION_H
#define DG_TEXT_LANGUAGE_REGION_H

#include <stdbool.h>

struct dg_language_region {
    /* "zh", "Hant", "TW" */
    char language[12], script[6], region[4];
};

/* "de" -> de, Latn, DE; "zh-Hant" -> zh, Hant, TW. False: none is known. */
bool dg_language_region(const char *code, struct dg_language_region *out);

#endif
