#include "text/word_language.h"

#include "text/language_code.h"

#include <stddef.h>

enum dg_word_language dg_word_language_of(const char *code)
{
    static const char *const codes[DG_WORD_LANGUAGES] = {"en", "de", "fr"};
    int i = 0;
    while (i < DG_WORD_LANGUAGES && !(code && dg_language_same(code, codes[i])))
        i++;
    return (enum dg_word_language)i;
}
