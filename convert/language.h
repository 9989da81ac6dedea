/* Converts language codes of other programs (deu, cmn_Hans, pt_br) to those of BCP 47 (de, zh-Hans,
 * pt-BR). Any thread. Private to convert/ and its tests. */
#ifndef DG_CONVERT_LANGUAGE_H
#define DG_CONVERT_LANGUAGE_H

#include <stdbool.h>

#define DG_LANGUAGE_BYTES 36

/* False when `code` is not letters and digits separated by _ or -, or longer than 35 bytes. An
 * unknown code stays unchanged. */
bool dg_language_tag(const char *code, char out[DG_LANGUAGE_BYTES]);

#endif
