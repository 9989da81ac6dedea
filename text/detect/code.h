/* Codes of languages: CLD2 and some clients and models write "iw" where others write "he". Any
 * thread. */
#ifndef DG_TEXT_DETECT_CODE_H
#define DG_TEXT_DETECT_CODE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The other code of the language code[n] ("he" for "iw", "iw" for "he"); NULL: there is none. */
const char *dg_code_other(const char *code, size_t n);

/* True if the first parts of both codes ("en" of "en-GB") mean one language. */
bool dg_code_same(const char *a, const char *b);

#ifdef __cplusplus
}
#endif

#endif
