#include "text/language_name.h"

#include <stdio.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>

void dg_language_name(const char *code, char out[DG_LANGUAGE_NAME])
{
    UChar name[DG_LANGUAGE_NAME];
    UErrorCode status = U_ZERO_ERROR;
    uloc_getDisplayName(code, "en", name, DG_LANGUAGE_NAME - 1, &status);
    name[DG_LANGUAGE_NAME - 1] = 0;
    if (U_SUCCESS(status) && name[0] != 0)
        u_strToUTF8(out, DG_LANGUAGE_NAME, NULL, name, -1, &status);
    if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING || name[0] == 0)
        snprintf(out, DG_LANGUAGE_NAME, "%s", code);
}
