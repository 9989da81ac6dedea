#include "text/language_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>

void dg_language_name_in(const char *code, const char *reader, char out[DG_LANGUAGE_NAME])
{
    UChar name[DG_LANGUAGE_NAME];
    UErrorCode status = U_ZERO_ERROR;
    uloc_getDisplayName(code, reader, name, DG_LANGUAGE_NAME - 1, &status);
    name[DG_LANGUAGE_NAME - 1] = 0;
    if (U_SUCCESS(status) && name[0] != 0)
        u_strToUTF8(out, DG_LANGUAGE_NAME, NULL, name, -1, &status);
    if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING || name[0] == 0)
        snprintf(out, DG_LANGUAGE_NAME, "%s", code);
}

void dg_language_name(const char *code, char out[DG_LANGUAGE_NAME])
{
    dg_language_name_in(code, "en", out);
}

bool dg_language_known(const char *code)
{
    char name[DG_LANGUAGE_NAME];
    dg_language_name(code, name);
    /* ICU writes any number in another way, too */
    return isalpha((unsigned char)code[0]) && strcmp(name, code) != 0;
}
