#include "text/letter_case.h"
#include "text/icu.h"
#include "text/scan.h"

#include <stdlib.h>
#include <unicode/ucasemap.h>
#include <unicode/uchar.h>

typedef int32_t map_function(
    const UCaseMap *map, char *to, int32_t cap, const char *from, int32_t n, UErrorCode *status);

static int map_case(map_function *function, const char *language, const char *s, size_t n,
    struct dg_buffer *out, struct dg_error *err)
{
    UErrorCode status = U_ZERO_ERROR;
    UCaseMap *map = ucasemap_open(language, 0, &status);
    /* No character grows to more than three times its bytes (Unicode's SpecialCasing). */
    int32_t cap = n <= 100000000 ? (int32_t)(3 * n + 1) : 0;
    char *mapped = cap ? malloc((size_t)cap) : NULL;
    int rc = 0;
    if (!mapped || U_FAILURE(status)) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu bytes in another case", n);
    } else {
        int32_t got = function(map, mapped, cap, s, (int32_t)n, &status);
        if (U_FAILURE(status))
            rc = dg_icu_fail(err, DG_EINVAL, status, "letter case");
        else
            dg_buffer_add(out, mapped, (size_t)got);
    }
    free(mapped);
    ucasemap_close(map);
    return rc;
}

int dg_letter_case_upper(
    const char *language, const char *s, size_t n, struct dg_buffer *out, struct dg_error *err)
{
    return map_case(ucasemap_utf8ToUpper, language, s, n, out, err);
}

int dg_letter_case_lower(
    const char *language, const char *s, size_t n, struct dg_buffer *out, struct dg_error *err)
{
    return map_case(ucasemap_utf8ToLower, language, s, n, out, err);
}

bool dg_letter_case_is_capitals(const char *s, size_t n)
{
    unsigned words = 0, letters = 0;
    for (size_t at = 0; at < n;) {
        UChar32 c = dg_scan_next(s, n, &at);
        if (c < 0 || (u_isalpha(c) && !u_isupper(c)))
            return false;
        letters = u_isalpha(c) ? letters + 1 : u_isspace(c) ? 0 : letters;
        words += letters == 2 && u_isalpha(c);
    }
    return words >= 2;
}

size_t dg_letter_case_first_letter(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        UChar32 c = dg_scan_next(s, n, &at);
        if (c >= 0 && u_isalpha(c))
            return at;
    }
    return 0;
}
