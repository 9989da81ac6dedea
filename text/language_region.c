#include "text/language_region.h"

#include <unicode/uloc.h>

bool dg_language_region(const char *code, struct dg_language_region *out)
{
    char all[ULOC_FULLNAME_CAPACITY];
    UErrorCode status = U_ZERO_ERROR;
    *out = (struct dg_language_region){{0}, {0}, {0}};
    uloc_addLikelySubtags(code, all, sizeof all, &status);
    uloc_getLanguage(all, out->language, sizeof out->language, &status);
    uloc_getScript(all, out->script, sizeof out->script, &status);
    uloc_getCountry(all, out->region, sizeof out->region, &status);
    return U_SUCCESS(status) && status != U_STRING_NOT_TERMINATED_WARNING && out->language[0] &&
           out->region[0];
}
