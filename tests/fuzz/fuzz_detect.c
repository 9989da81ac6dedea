/* libFuzzer target for text/detect/: a model file and a text. The first byte is the number of bytes
 * of the file's header; where that gives a size, weights up to it follow, made from the text.
 * Property: the file is refused with a message or gives finite logits; and whatever the text, the
 * built-in model and CLD2 agree on one of the languages that they were asked for. */
#include "tests/fuzz/fuzz.h"
#include "text/detect/detect.h"
#include "text/detect/features.h"
#include "text/detect/langcheck.h"
#include "text/detect/model.h"
#include "text/utf8.h"

#include <math.h>
#include <string.h>

enum {
    HEAD = 20,
    LANGUAGE = 12,
    MOST = HEAD + DG_DETECT_LANGUAGES * (LANGUAGE + DG_DETECT_BUCKETS)
};

/* Makes the file: the header, then the text again and again. */
static unsigned char *make_file(
    const uint8_t *head, size_t n_head, const char *text, size_t n, size_t *size)
{
    uint32_t languages = 0;
    if (n_head >= HEAD)
        memcpy(&languages, head + 8, sizeof languages);
    const size_t whole = HEAD + (size_t)languages * (LANGUAGE + DG_DETECT_BUCKETS);
    *size = n > 0 && n_head >= HEAD && whole <= MOST && whole >= n_head ? whole : n_head;
    unsigned char *file = malloc(*size + 1);
    require(file != NULL);
    if (n_head > 0)
        memcpy(file, head, n_head);
    for (size_t i = n_head, k = 0; i < *size; i++, k = k + 1 < n ? k + 1 : 0)
        file[i] = (unsigned char)text[k];
    return file;
}

static void read_model(const unsigned char *file, size_t size, const char *text, size_t n)
{
    struct dg_detect_model m;
    struct dg_error err = {0};
    double logits[DG_DETECT_LANGUAGES];
    int rc = dg_detect_model_read(file, size, &m, &err);
    require(rc == DG_OK || (rc == DG_EFORMAT && err.message[0] != '\0'));
    if (rc != DG_OK)
        return;
    require(m.n >= 2 && m.n <= DG_DETECT_LANGUAGES);
    dg_detect_model_logits(&m, text, n, logits);
    for (size_t i = 0; i < m.n; i++)
        require(strlen(m.codes[i]) <= DG_DETECT_CODE && isfinite(logits[i]));
}

static void detect(const char *text, size_t n)
{
    static const char *const few[] = {"en", "de", "fr"}, *const many[] = {"en", "zh-Hant", "ja",
                                                             "pt-BR", "xx", "ar", "uk"};
    struct dg_detected d;
    dg_detect(few, 3, text, n, &d);
    require(d.language < 3 && d.confidence >= 0 && d.confidence <= 100);
    dg_detect(many, 7, text, n, &d);
    require(d.language < 7 && d.confidence >= 0 && d.confidence <= 100);
    dg_detect_contradicts("de", text, n);
    dg_langcheck_wrong(text, n, "zh-Hans");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t n_head = data[0] < size - 1 ? data[0] : size - 1, n = size - 1 - n_head;
    /* a copy of exact size, so that a read beyond it is seen */
    char *text = malloc(n + 1);
    require(text != NULL);
    memcpy(text, data + 1 + n_head, n);
    if (dg_utf8_check(text, n, NULL) == DG_OK) {
        size_t file_size;
        unsigned char *file = make_file(data + 1, n_head, text, n, &file_size);
        read_model(file, file_size, text, n);
        free(file);
        if (n_head == 0)
            detect(text, n);
    }
    free(text);
    return 0;
}
