/* libFuzzer target for documents (Markdown, HTML, XML, subtitles, wrapped and plain text). The
 * first byte chooses the format (by its remainder), how markup is treated, and whether a model's
 * alphabet is known; the next ones seed a random translation, the rest is the document.
 * Property: units and marks cover the document's bytes, in order and without gaps; with the text
 * itself as the answer every unit is written as it was; and whatever the answer, every mark that is
 * neither a line end nor an escape is written exactly once. Corpus: scripts/fuzz uses CommonMark's
 * examples, and their HTML. */
#include "tests/fuzz/markups.h"
#include "text/protected/alphabet.h"
#include "text/format/document.h"
#include "text/utf8.h"
#include "translate/layout/decorate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SEED 5 /* bytes before the document */
enum { FORMATS = DG_FORMAT_XML + 1 };

static struct dg_alphabet *alphabet;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Makes the alphabet of a model of German and English, which has no punctuation beyond ASCII. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char letters[] = "äöüßÄÖÜéa";
    (void)argc;
    (void)argv;
    alphabet = dg_alphabet_open();
    require(alphabet != NULL);
    for (int use = 0; use < DG_ALPHABET_USES; use++)
        require(dg_alphabet_add(alphabet, (enum dg_alphabet_use)use, letters, strlen(letters)));
    return 0;
}

static uint32_t next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*x >> 33);
}

/* Checks that the pieces of unit u are in order; returns where its bytes end. */
static size_t check_unit(
    const char *s, size_t n, const struct dg_document *d, const struct dg_unit *u)
{
    size_t source = u->source, at = u->at;
    require(u->end > u->at && u->end <= d->text.len && u->mark + u->n_marks <= d->n_marks);
    for (size_t k = 0; k <= u->n_marks; k++) {
        const struct dg_mark *m = k < u->n_marks ? &d->marks[u->mark + k] : NULL;
        size_t to = m ? m->at : u->end;
        require(to >= at && to <= u->end && to - at <= n - source);
        require(memcmp(s + source, d->text.data + at, to - at) == 0);
        source += to - at;
        at = to;
        if (!m)
            continue;
        require(m->begin == source && m->end >= m->begin && m->end <= n && at + m->len <= u->end);
        source = m->end;
        at += m->len;
    }
    require(dg_utf8_check(d->text.data + u->at, u->end - u->at, NULL) == DG_OK);
    return source;
}

struct trial {
    struct dg_arena arena;
    struct dg_decoration d;
};

/* Prepares unit u; if `s` is NULL, each mark has the same sign as its bytes. */
static void prepare(
    struct trial *t, const char *s, const struct dg_document *d, const struct dg_unit *u)
{
    static const char sign[] = "\x01";
    struct dg_mark *marks = dg_arena_array(&t->arena, u->n_marks, sizeof *marks);
    struct dg_mark_bytes *bytes = dg_arena_array(&t->arena, u->n_marks, sizeof *bytes);
    require(marks && bytes);
    for (size_t i = 0; i < u->n_marks; i++) {
        marks[i] = d->marks[u->mark + i];
        bool counts = marks[i].kind != DG_MARK_BREAK && marks[i].kind != DG_MARK_ESCAPE;
        if (s)
            bytes[i] = (struct dg_mark_bytes){s + marks[i].begin, marks[i].end - marks[i].begin};
        else
            bytes[i] = (struct dg_mark_bytes){sign, counts};
        marks[i].at -= u->at;
    }
    t->d = (struct dg_decoration){.text = d->text.data + u->at,
        .len = u->end - u->at,
        .marks = marks,
        .bytes = bytes,
        .n = u->n_marks};
}

static void check_unchanged(
    const char *s, const struct dg_document *d, const struct dg_unit *u, size_t end)
{
    struct trial t;
    struct dg_buffer out;
    dg_arena_init(&t.arena, 0);
    dg_buffer_init(&out);
    prepare(&t, s, d, u);
    t.d.answer = t.d.text;
    t.d.answer_len = t.d.len;
    require(dg_decorate(&t.d, &t.arena, &out, NULL));
    require(out.len == end - u->source && memcmp(out.data, s + u->source, out.len) == 0);
    dg_buffer_deinit(&out);
    dg_arena_deinit(&t.arena);
}

/* Makes an answer of up to 40 words, some of them the unit's own. */
static char *make_answer(const struct dg_decoration *d, uint64_t *random, struct dg_arena *arena)
{
    static const char *const words[] = {"ein", "Hund.", "(zwei)", "ü", "a", "*", "&", "_b_"};
    char *answer = dg_arena_array(arena, 40 * 33 + 1, 1);
    size_t len = 0;
    require(answer != NULL);
    for (uint32_t i = next_random(random) % 40; i > 0; i--) {
        const char *word = words[next_random(random) % 8];
        size_t n = strlen(word);
        if (d->len > 0 && next_random(random) % 2) {
            word = d->text + next_random(random) % d->len;
            n = 1 + next_random(random) % 32;
            n = n < d->len - (size_t)(word - d->text) ? n : d->len - (size_t)(word - d->text);
        }
        for (size_t k = 0; k < n; k++) /* never the sign of a mark */
            answer[len++] = word[k] == '\x01' ? '-' : word[k];
        answer[len++] = ' ';
    }
    answer[len] = '\0';
    return answer;
}

static void check_made_up(const struct dg_document *d, const struct dg_unit *u, uint64_t *random)
{
    struct trial t;
    struct dg_buffer out;
    dg_arena_init(&t.arena, 0);
    dg_buffer_init(&out);
    prepare(&t, NULL, d, u);
    /* settling a pair repeats its bytes, so they must not contain our sign */
    bool clean = !memchr(t.d.text, '\x01', t.d.len);
    struct dg_word_pair *pairs = dg_arena_array(&t.arena, 40, sizeof *pairs);
    size_t *shift = NULL, want = 0, found = 0;
    t.d.answer = make_answer(&t.d, random, &t.arena);
    t.d.answer_len = strlen(t.d.answer);
    t.d.pairs = pairs;
    for (t.d.n_pairs = 0; t.d.n_pairs < next_random(random) % 40; t.d.n_pairs++)
        pairs[t.d.n_pairs] =
            (struct dg_word_pair){next_random(random) % 40, next_random(random) % 40};
    shift = dg_arena_array(&t.arena, t.d.answer_len + 1, sizeof *shift);
    require(shift && dg_decorate(&t.d, &t.arena, &out, shift));
    for (size_t i = 0; i < t.d.answer_len; i++)
        require(shift[i] <= shift[i + 1] && shift[i + 1] <= out.len);
    for (size_t i = 0; i < t.d.n; i++)
        want += t.d.bytes[i].n;
    for (size_t i = 0; i < out.len; i++)
        found += out.data[i] == '\x01';
    require(!clean || found == want);
    dg_buffer_deinit(&out);
    dg_arena_deinit(&t.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SEED)
        return 0;
    const enum dg_format format = (enum dg_format)(data[0] % FORMATS);
    const struct dg_document_kind kind = {.format = format,
        .markup = fuzz_markup(data[0] / FORMATS),
        .known = data[0] / (FORMATS * FUZZ_MARKUPS) % 2 ? alphabet : NULL};
    const char *s = (const char *)data + SEED;
    size_t n = size - SEED;
    uint64_t random = 0;
    struct dg_document d;
    memcpy(&random, data + 1, SEED - 1);
    if (dg_utf8_check(s, n, NULL) != DG_OK)
        return 0;
    int rc = dg_document_read(s, n, &kind, &d, NULL);
    require(rc == DG_OK || rc == (format == DG_FORMAT_HTML ? DG_ELIMIT : DG_EINVAL));
    require(rc == DG_OK || format == DG_FORMAT_HTML || format == DG_FORMAT_XML);
    if (rc != DG_OK)
        return 0;
    for (size_t i = 0; i < d.n_units; i++) {
        size_t end = check_unit(s, n, &d, &d.units[i]);
        check_unchanged(s, &d, &d.units[i], end);
        check_made_up(&d, &d.units[i], &random);
    }
    dg_document_close(&d);
    return 0;
}
