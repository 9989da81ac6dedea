/* libFuzzer target for text/: any bytes are refused or split. The first byte chooses the language,
 * the rest is the text. Property: spans are in order, not empty, and together with the gaps between
 * them restore the input; every cut is between code points. Build: clang
 * -fsanitize=fuzzer,address,undefined with text/ and base/error.c, link icu-uc. */
#include "text/sentences/split.h"
#include "text/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_rebuild(const char *text, size_t n, const struct dg_span *spans, size_t count)
{
    char *copy = malloc(n + 1);
    size_t len = 0, at = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t gap_end = i < count ? spans[i].begin : n;
        require(gap_end >= at && gap_end <= n);
        memcpy(copy + len, text + at, gap_end - at);
        require(dg_utf8_check(text + at, gap_end - at, NULL) == DG_OK);
        len += gap_end - at;
        if (i == count)
            break;
        require(spans[i].end > spans[i].begin && spans[i].end <= n);
        memcpy(copy + len, text + spans[i].begin, spans[i].end - spans[i].begin);
        require(dg_utf8_check(text + spans[i].begin, spans[i].end - spans[i].begin, NULL) == DG_OK);
        len += spans[i].end - spans[i].begin;
        at = spans[i].end;
    }
    require(len == n && memcmp(copy, text, n) == 0);
    free(copy);
}

static void check_further(const char *text, size_t n)
{
    size_t left = 0, right = 0;
    int rc = dg_split_long(text, n, &left, &right, NULL);
    require(rc == DG_OK ? left > 0 && left <= right && right < n
                        : rc == DG_ELIMIT && dg_utf8_count(text, n) <= 1);
    if (rc == DG_OK)
        require(dg_utf8_check(text, left, NULL) == DG_OK &&
                dg_utf8_check(text + right, n - right, NULL) == DG_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const langs[] = {"", "en", "de", "fr", "zh", "el", "da", "th", "es", "it",
        "ja", "pl", "ru", "ar", "hi", "fi"};
    enum { LANGS = sizeof langs / sizeof *langs };
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    size_t n = size - 1, count = 0, len = 0;
    struct dg_error err;
    dg_error_clear(&err);
    if (dg_utf8_check(text, n, &err) != DG_OK) {
        require(err.code == DG_EINVAL && err.message[0] != '\0');
        return 0;
    }
    struct dg_span *spans = NULL;
    require(dg_split_sentences(text, n, langs[data[0] % LANGS], &spans, &count, &err) == DG_OK);
    check_rebuild(text, n, spans, count);
    for (size_t i = 0; i < count; i++)
        check_further(text + spans[i].begin, spans[i].end - spans[i].begin);
    free(spans);
    check_further(text, n);
    char *nfc = NULL;
    require(dg_utf8_nfc(text, n, &nfc, &len, &err) == DG_OK);
    require(dg_utf8_check(nfc, len, NULL) == DG_OK &&
            dg_utf8_has_letter(nfc, len) == dg_utf8_has_letter(text, n));
    free(nfc);
    return 0;
}
