#include "text/utf8.h"

#include "text/icu.h"
#include "text/scan.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Length of the run of bytes 0x01..0x7F at s, rounded down to a multiple of eight: most text is
 * mostly ASCII. */
static size_t ascii_run(const char *s, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, s + i, 8);
        /* A zero byte sets its top bit by borrowing, unless a lower byte borrowed first; either way
         * the test errs towards stopping. */
        if ((w | (w - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

int dg_utf8_check(const char *s, size_t n, struct dg_error *err)
{
    for (size_t i = ascii_run(s, n); i < n; i += ascii_run(s + i, n - i)) {
        size_t at = i;
        UChar32 c = dg_scan_next(s, n, &i);
        if (c < 0)
            return dg_error_set(err, DG_EINVAL, "not valid UTF-8 at byte %zu (0x%02X)", at,
                (unsigned)(unsigned char)s[at]);
        if (c == 0)
            return dg_error_set(err, DG_EINVAL, "NUL character at byte %zu", at);
    }
    return DG_OK;
}

void dg_utf8_mend(char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        size_t at = i;
        UChar32 c = dg_scan_next(s, n, &i);
        if (c < 0)
            memset(s + at, '?', i - at);
    }
}

size_t dg_utf8_bom(const char *s, size_t n)
{
    return n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

size_t dg_utf8_count(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

void dg_utf8_add(uint32_t c, struct dg_buffer *out)
{
    uint8_t bytes[U8_MAX_LENGTH];
    size_t n = 0;
    U8_APPEND_UNSAFE(bytes, n, c);
    dg_buffer_add(out, bytes, n);
}

bool dg_utf8_has_letter(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        UChar32 c = dg_scan_next(s, n, &i);
        if (c > 0 && u_isalpha(c))
            return true;
    }
    return false;
}

static int copy_out(const char *s, size_t n, char **out, size_t *len, struct dg_error *err)
{
    char *copy = malloc(n + 1);
    if (!copy)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu bytes of text", n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    *out = copy;
    *len = n;
    return DG_OK;
}

/* Convert u[n_u] to UTF-8, malloc'd to the exact size. */
static int to_utf8(const UChar *u, int32_t n_u, char **out, size_t *len, struct dg_error *err)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t need = 0;
    u_strToUTF8(NULL, 0, &need, u, n_u, &status);
    if (U_FAILURE(status) && status != U_BUFFER_OVERFLOW_ERROR)
        return dg_icu_fail(err, DG_EINTERNAL, status, "normalising text");
    char *text = malloc((size_t)need + 1);
    if (!text)
        return dg_error_set(err, DG_ENOMEM, "no memory for %d bytes of text", need + 1);
    status = U_ZERO_ERROR;
    u_strToUTF8(text, need + 1, NULL, u, n_u, &status);
    if (U_FAILURE(status)) {
        free(text);
        return dg_icu_fail(err, DG_EINTERNAL, status, "normalising text");
    }
    *out = text;
    *len = (size_t)need;
    return DG_OK;
}

int dg_utf8_nfc(const char *s, size_t n, char **out, size_t *len, struct dg_error *err)
{
    if (ascii_run(s, n) + 8 > n && dg_utf8_count(s, n) == n)
        return copy_out(s, n, out, len, err);
    /* NFC at most triples the bytes; ICU counts in int32_t. */
    if (n > INT32_MAX / 4)
        return dg_error_set(err, DG_ELIMIT, "text of %zu bytes is too long to normalise", n);

    int rc = DG_OK;
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    int32_t n_u = 0, n_v = 0;
    UChar *u = malloc((n + 1) * sizeof *u), *v = NULL; /* never more units than bytes */
    if (!u) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory to normalise %zu bytes", n);
        goto out;
    }
    u_strFromUTF8(u, (int32_t)n + 1, &n_u, s, (int32_t)n, &status);
    if (U_SUCCESS(status) && unorm2_spanQuickCheckYes(nfc, u, n_u, &status) == n_u) {
        rc = copy_out(s, n, out, len, err);
        goto out;
    }
    if (U_SUCCESS(status)) {
        n_v = unorm2_normalize(nfc, u, n_u, NULL, 0, &status);
        status = status == U_BUFFER_OVERFLOW_ERROR ? U_ZERO_ERROR : status;
    }
    if (U_SUCCESS(status)) {
        v = malloc(((size_t)n_v + 1) * sizeof *v);
        if (!v) {
            rc = dg_error_set(err, DG_ENOMEM, "no memory to normalise %zu bytes", n);
            goto out;
        }
        unorm2_normalize(nfc, u, n_u, v, n_v + 1, &status);
    }
    if (U_FAILURE(status)) {
        int code = status == U_INVALID_CHAR_FOUND ? DG_EINVAL : DG_EINTERNAL;
        rc = dg_icu_fail(err, code, status, "normalising text");
        goto out;
    }
    rc = to_utf8(v, n_v, out, len, err);
out:
    free(v);
    free(u);
    return rc;
}

size_t dg_utf8_nfc_end(const char *s, size_t n, size_t at)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    dg_scan_next(s, n, &at);
    for (size_t next = at; U_SUCCESS(status) && at < n; at = next)
        if (unorm2_hasBoundaryBefore(nfc, dg_scan_next(s, n, &next)))
            break;
    return at;
}
