/* libFuzzer target for readers whose time grows by the square of a text's size. An input is a
 * byte that chooses a reader, and three parts with a unit separator (U+001F) between them: the
 * second is repeated until the text has 8, 32 and 128 KB. Property: a text of four times the size
 * does not take eight times the CPU time, twice in a row. HTML is left out: libgumbo's time is
 * limited instead (text/format/html/tree.c). */
#include "documents/extract.h"
#include "store/csv.h"
#include "store/pair_list.h"
#include "store/tmx.h"
#include "store/tsv.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/markups.h"
#include "text/format/document.h"
#include "text/sentences/split.h"
#include "text/utf8.h"

#include <string.h>
#include <time.h>

enum { SEPARATOR = 0x1F, SMALLEST = 8192, MOST_PART = 256, MEASURABLE_MS = 20 };

struct part {
    const char *s;
    size_t n;
};

static void read_document(enum dg_format format, unsigned markup, const char *s, size_t n)
{
    const struct dg_document_kind kind = {.format = format, .markup = fuzz_markup(markup)};
    struct dg_document d;
    if (dg_document_read(s, n, &kind, &d, NULL) == DG_OK)
        dg_document_close(&d);
}

static void read_file(const char *suffix, const char *s, size_t n)
{
    struct dg_extract *x = NULL;
    if (dg_extract_open(suffix, s, n, "de", &dg_extract_limits_default, &x, NULL) == DG_OK)
        dg_extract_close(x);
}

static void read_pairs(unsigned kind, const char *s, size_t n)
{
    struct dg_pair_list pairs;
    dg_pair_list_init(&pairs);
    if (kind == 0)
        dg_tsv_read(s, n, "en", "de", dg_pair_list_add, &pairs, NULL);
    else if (kind == 1)
        dg_csv_read(s, n, "en", "de", dg_pair_list_add, &pairs, NULL);
    else
        dg_tmx_read(s, n, dg_pair_list_add, &pairs, NULL);
    dg_pair_list_deinit(&pairs);
}

static void split(const char *s, size_t n)
{
    struct dg_span *spans = NULL;
    size_t count;
    require(dg_split_sentences(s, n, "en", &spans, &count, NULL) == DG_OK);
    free(spans);
}

static void read_text(unsigned reader, const char *s, size_t n)
{
    static const enum dg_format formats[] = {
        DG_FORMAT_TEXT, DG_FORMAT_WRAPPED, DG_FORMAT_SRT, DG_FORMAT_MARKDOWN, DG_FORMAT_XML};
    static const char *const suffixes[] = {".po", ".xlf", ".json", ".properties", ".strings",
        ".xml", ".ass", ".vtt", ".resx", ".stringsdict", ".md"};
    enum { FORMATS = 5, PAIRS = 3, SUFFIXES = sizeof suffixes / sizeof *suffixes };
    reader %= FORMATS * FUZZ_MARKUPS + PAIRS + SUFFIXES + 1;
    if (reader < FORMATS * FUZZ_MARKUPS)
        read_document(formats[reader % FORMATS], reader / FORMATS, s, n);
    else if ((reader -= FORMATS * FUZZ_MARKUPS) < PAIRS)
        read_pairs(reader, s, n);
    else if ((reader -= PAIRS) < SUFFIXES)
        read_file(suffixes[reader], s, n);
    else
        split(s, n);
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* CPU time to read the parts, the second one repeated up to this size. */
static double measure(unsigned reader, const struct part parts[3], size_t size)
{
    size_t n = 0;
    char *s = malloc(size + 3 * MOST_PART);
    require(s != NULL);
    memcpy(s, parts[0].s, parts[0].n);
    for (n = parts[0].n; n < size; n += parts[1].n)
        memcpy(s + n, parts[1].s, parts[1].n);
    memcpy(s + n, parts[2].s, parts[2].n);
    n += parts[2].n;
    const double before = cpu_ms();
    if (dg_utf8_check(s, n, NULL) == DG_OK)
        read_text(reader, s, n);
    free(s);
    return cpu_ms() - before;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct part parts[3] = {{NULL, 0}};
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    if (size < 2 || memchr(data + 1, '\0', size - 1))
        return 0;
    for (size_t i = 0; i < 3; i++) {
        const char *stop = i < 2 ? memchr(at, SEPARATOR, (size_t)(end - at)) : NULL;
        parts[i] = (struct part){at, (size_t)((stop ? stop : end) - at)};
        at = stop ? stop + 1 : end;
        if (parts[i].n > MOST_PART)
            return 0;
    }
    if (parts[1].n == 0)
        return 0;
    double times[3] = {measure(data[0], parts, SMALLEST)};
    for (size_t i = 1; i < 3; i++) {
        times[i] = measure(data[0], parts, (size_t)SMALLEST << 2 * i);
        if (times[i] < MEASURABLE_MS || times[i] < 8 * times[i - 1])
            return 0;
    }
    fprintf(stderr, "%.1f, %.1f, %.1f ms\n", times[0], times[1], times[2]);
    abort();
}
