#include "documents/strings/plural_forms.h"

#include <stddef.h>
#include <string.h>

const char *dg_plural_forms(const char *language)
{
    /* from gettext's plural-table.c */
    static const char one[] = "nplurals=2; plural=(n != 1);",
                      zero_and_one[] = "nplurals=2; plural=(n > 1);";
    static const char *const languages[] = {"bg", "ca", "da", "de", "el", "en", "eo", "es", "et",
        "fi", "fo", "he", "hu", "it", "nb", "nl", "nn", "no", "pt", "sv", "tr"};
    const size_t n = strcspn(language, "-");
    if (strcmp(language, "pt-BR") == 0 || (n == 2 && strncmp(language, "fr", n) == 0))
        return zero_and_one;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (n == 2 && strncmp(language, languages[i], n) == 0)
            return one;
    return DG_PLURAL_FORMS_UNKNOWN;
}
