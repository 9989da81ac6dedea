/* libFuzzer target for mark placement (translate/layout/) with arbitrary alignments. An input is a
 * sentence and an answer (a line each), a line of marks, two bytes each (the kind, and the distance
 * from the previous mark), and pairs of words, two bytes each. Property: every mark that is neither
 * a line end nor an escape is written exactly once, marks close in reverse order of opening,
 * nothing is placed within a protected span, and the answer's bytes go to ascending places. */
#include "tests/fuzz/fuzz.h"
#include "text/utf8.h"
#include "translate/layout/decorate.h"

#include <string.h>

enum { MOST_MARKS = 40, MOST_PAIRS = 120, MOST_TEXT = 400 };
/* A mark is written as its kind's sign and its number. */
enum { SIGN_POINT = 1, SIGN_OPEN, SIGN_CLOSE, SIGN_PROTECTED, FIRST_NUMBER = 128 };

struct trial {
    struct dg_mark marks[MOST_MARKS];
    struct dg_mark_bytes bytes[MOST_MARKS];
    char written[MOST_MARKS][2];
    struct dg_word_pair pairs[MOST_PAIRS];
    struct dg_decoration d;
};

/* Takes the next line, without its end. */
static const char *take_line(const uint8_t **at, const uint8_t *end, size_t *n)
{
    const char *s = (const char *)*at;
    const uint8_t *stop = memchr(*at, '\n', (size_t)(end - *at));
    *n = (size_t)((stop ? stop : end) - *at);
    *at = stop ? stop + 1 : end;
    return s;
}

static int is_text(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ')
            return 0;
    return n <= MOST_TEXT && dg_utf8_check(s, n, NULL) == DG_OK;
}

/* Returns the position `steps` characters after `at`, or the end. */
static size_t forward(const struct trial *t, size_t at, size_t steps)
{
    for (; steps > 0 && at < t->d.len; steps--)
        for (at++; at < t->d.len && ((unsigned char)t->d.text[at] & 0xc0) == 0x80;)
            at++;
    return at;
}

static void add_mark(struct trial *t, enum dg_mark_kind kind, size_t at, size_t len, uint32_t id)
{
    static const char signs[] = {[DG_MARK_POINT] = SIGN_POINT,
        [DG_MARK_OPEN] = SIGN_OPEN,
        [DG_MARK_CLOSE] = SIGN_CLOSE,
        [DG_MARK_PROTECTED] = SIGN_PROTECTED};
    const size_t i = t->d.n++;
    const bool counts = kind != DG_MARK_BREAK && kind != DG_MARK_ESCAPE;
    t->marks[i] = (struct dg_mark){.kind = kind, .at = at, .len = len, .id = id};
    t->written[i][0] = counts ? signs[kind] : ' ';
    t->written[i][1] = (char)(FIRST_NUMBER + (id ? id : i));
    t->bytes[i] = (struct dg_mark_bytes){t->written[i], counts ? 2 : 1};
}

/* Makes marks in order, nested in pairs, all closed at the end. */
static void make_marks(struct trial *t, const char *s, size_t n)
{
    uint32_t open[MOST_MARKS], depth = 0, ids = 0;
    size_t at = 0;
    for (size_t i = 0; i + 1 < n && t->d.n + depth + 2 < MOST_MARKS; i += 2) {
        const enum dg_mark_kind kind = (enum dg_mark_kind)((unsigned char)s[i] % 6);
        at = forward(t, at, (unsigned char)s[i + 1] % 16);
        const size_t after = forward(t, at, 1 + (unsigned char)s[i] / 6 % 8);
        if (kind == DG_MARK_POINT)
            add_mark(t, kind, at, 0, 0);
        else if (kind == DG_MARK_OPEN)
            add_mark(t, kind, at, 0, open[depth++] = ++ids);
        else if (kind == DG_MARK_CLOSE && depth > 0)
            add_mark(t, kind, at, 0, open[--depth]);
        else if (kind == DG_MARK_PROTECTED && after > at) {
            add_mark(t, kind, at, after - at, 0);
            at = after;
        } else if (kind == DG_MARK_BREAK && at < t->d.len && t->d.text[at] == ' ')
            add_mark(t, kind, at++, 1, 0);
        else if (kind == DG_MARK_ESCAPE && at < t->d.len) {
            add_mark(t, kind, at, forward(t, at, 1) - at, 0);
            at = forward(t, at, 1);
        }
    }
    while (depth > 0)
        add_mark(t, DG_MARK_CLOSE, at, 0, open[--depth]);
}

/* Checks that every sign is written once and that marks nest, with a stack of the open ones. */
static void check_signs(const struct trial *t, const struct dg_buffer *out)
{
    unsigned char open[MOST_MARKS], seen[256][5] = {{0}};
    size_t depth = 0, counted = 0, found = 0;
    for (size_t i = 0; i < out->len; i++) {
        const unsigned char sign = (unsigned char)out->data[i];
        if (sign < SIGN_POINT || sign > SIGN_PROTECTED)
            continue;
        require(i + 1 < out->len);
        const unsigned char number = (unsigned char)out->data[++i];
        require(!seen[number][sign]);
        seen[number][sign] = 1;
        found++;
        if (sign == SIGN_OPEN)
            open[depth++] = number;
        if (sign == SIGN_CLOSE)
            require(depth > 0 && open[--depth] == number);
    }
    for (size_t i = 0; i < t->d.n; i++)
        counted += t->bytes[i].n == 2;
    require(depth == 0 && found == counted);
}

static void decorate(struct trial *t)
{
    struct dg_arena arena;
    struct dg_buffer out;
    dg_arena_init(&arena, 0);
    dg_buffer_init(&out);
    size_t *shift = dg_arena_array(&arena, t->d.answer_len + 1, sizeof *shift);
    require(shift && dg_decorate(&t->d, &arena, &out, shift) && !out.failed);
    for (size_t i = 0; i < t->d.answer_len; i++)
        require(shift[i] <= shift[i + 1] && shift[i + 1] <= out.len);
    check_signs(t, &out);
    dg_buffer_deinit(&out);
    dg_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct trial t;
    const uint8_t *at = data, *end = data + size;
    size_t n_marks;
    t.d = (struct dg_decoration){.marks = t.marks, .bytes = t.bytes, .pairs = t.pairs};
    t.d.text = take_line(&at, end, &t.d.len);
    t.d.answer = take_line(&at, end, &t.d.answer_len);
    const char *marks = take_line(&at, end, &n_marks);
    if (!is_text(t.d.text, t.d.len) || !is_text(t.d.answer, t.d.answer_len))
        return 0;
    make_marks(&t, marks, n_marks);
    for (; end - at >= 2 && t.d.n_pairs < MOST_PAIRS; at += 2)
        t.pairs[t.d.n_pairs++] = (struct dg_word_pair){at[0] % 48, at[1] % 48};
    decorate(&t);
    return 0;
}
