#include "text/upper.h"

#include <stdlib.h>
#include <unicode/ucasemap.h>

int dg_text_upper(const char *language, const char *s, size_t n, struct dg_buffer *out,
    struct dg_error *err)
{
    UErrorCode status = U_ZERO_ERROR;
    UCaseMap *map = ucasemap_open(language, 0, &status);
    /* No character grows to more than three times its bytes (Unicode's SpecialCasing). */
    int32_t cap = n <= 100000000 ? (int32_t)(3 * n + 1) : 0;
    char *upper = cap ? malloc((size_t)cap) : NULL;
    int rc = 0;
    if (!upper || U_FAILURE(status)) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu bytes in capitals", n);
    } else {
        int32_t got = ucasemap_utf8ToUpper(map, upper, cap, s, (int32_t)n, &status);
        if (U_FAILURE(status))
            rc = dg_error_set(err, DG_EINVAL, "capitals: %s", u_errorName(status));
        else
            dg_buffer_add(out, upper, (size_t)got);
    }
    free(upper);
    ucasemap_close(map);
    return rc;
}
