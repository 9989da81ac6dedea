/* libFuzzer target for files of pairs (store/): the first byte chooses TSV, CSV or TMX, the rest is
 * the file. Property: it is refused with a message that names the line, or every pair is text that
 * may be stored; written out, a pair reads back as the same; a glossary of the pairs is made or
 * refused, and its matches are within the text. */
#include "store/csv.h"
#include "store/pair_list.h"
#include "store/tmx.h"
#include "store/tsv.h"
#include "tests/fuzz/fuzz.h"
#include "text/language_code.h"
#include "text/utf8.h"

#include <string.h>

enum { TSV, CSV, TMX, KINDS };

static int read_pairs(int kind, const char *s, size_t n, struct dg_pair_list *out)
{
    struct dg_error err = {0};
    int rc = kind == TSV   ? dg_tsv_read(s, n, "en", "de", dg_pair_list_add, out, &err)
             : kind == CSV ? dg_csv_read(s, n, "en", "de", dg_pair_list_add, out, &err)
                           : dg_tmx_read(s, n, dg_pair_list_add, out, &err);
    require(rc == DG_OK || (rc == DG_EFORMAT && strstr(err.message, "line")));
    return rc;
}

static void check_pair(const struct dg_memory_pair *p)
{
    char code[DG_MEMORY_LANGUAGE];
    require(dg_memory_language(p->source_lang, code, NULL) == DG_OK);
    require(dg_memory_language(p->target_lang, code, NULL) == DG_OK);
    require(p->source_len > 0 && p->target_len > 0);
    require(dg_utf8_check(p->source, p->source_len, NULL) == DG_OK);
    require(dg_utf8_check(p->target, p->target_len, NULL) == DG_OK);
}

static int has_blanks_around(const char *s, size_t n)
{
    return strchr(" \t\r\n", s[0]) || strchr(" \t\r\n", s[n - 1]);
}

/* CSV keeps any text except white space around it; TSV keeps texts without tabs and line ends. Both
 * take U+FEFF at the beginning of a file for its byte order mark. */
static void check_written(const struct dg_memory_pair *p, int kind)
{
    struct dg_buffer row;
    struct dg_pair_list again;
    if (p->source_len >= 3 && memcmp(p->source, "\xEF\xBB\xBF", 3) == 0)
        return;
    if (kind == TMX && (has_blanks_around(p->source, p->source_len) ||
                           has_blanks_around(p->target, p->target_len)))
        return;
    dg_buffer_init(&row);
    dg_pair_list_init(&again);
    kind == TSV ? dg_tsv_write(p, &row) : dg_csv_write(p, &row);
    require(!row.failed && read_pairs(kind == TSV ? TSV : CSV, row.data, row.len, &again) == DG_OK);
    require(again.n == 1 && again.list[0].source_len == p->source_len &&
            again.list[0].target_len == p->target_len);
    for (size_t i = 0; i < p->source_len; i++) /* a carriage return is white space to TSV */
        require(again.list[0].source[i] == p->source[i] || p->source[i] == '\r');
    require(memcmp(again.list[0].target, p->target, p->target_len) == 0 ||
            memchr(p->target, '\r', p->target_len));
    dg_pair_list_deinit(&again);
    dg_buffer_deinit(&row);
}

static void use_glossary(const struct dg_pair_list *pairs, const char *s, size_t n)
{
    struct dg_glossary *g = NULL;
    struct dg_glossary_match matches[16];
    struct dg_error err = {0};
    const struct dg_memory_pair *first = &pairs->list[0];
    int rc = dg_pair_list_glossary(pairs, first->source_lang, first->target_lang, n % 2, &g, &err);
    require(!g || rc == DG_OK);
    if (!g) { /* refused, or of a language whose canonical form is too long for a code */
        require(err.message[0] != '\0' ||
                !dg_language_same(first->source_lang, first->source_lang) ||
                !dg_language_same(first->target_lang, first->target_lang));
        return;
    }
    require(dg_glossary_size(g) >= 1 && dg_glossary_size(g) <= pairs->n);
    if (dg_utf8_check(s, n, NULL) == DG_OK) {
        size_t end = 0, found = dg_glossary_find(g, s, n, matches, 16);
        for (size_t i = 0; i < found && i < 16; i++) {
            require(matches[i].begin >= end && matches[i].end > matches[i].begin &&
                    matches[i].end <= n && matches[i].target_len > 0);
            end = matches[i].end;
        }
    }
    dg_glossary_unref(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_pair_list pairs;
    if (size == 0)
        return 0;
    const int kind = data[0] % KINDS;
    const char *s = (const char *)data + 1;
    dg_pair_list_init(&pairs);
    read_pairs(kind, s, size - 1, &pairs);
    for (size_t i = 0; i < pairs.n; i++)
        check_pair(&pairs.list[i]);
    for (size_t i = 0; i < pairs.n && i < 8; i++)
        check_written(&pairs.list[i], kind);
    if (pairs.n)
        use_glossary(&pairs, s, size - 1);
    dg_pair_list_deinit(&pairs);
    return 0;
}
