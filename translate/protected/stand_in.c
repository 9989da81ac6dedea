/* DESIGN. A protected span is not made of words: a model that has to spell "{{#if a}}" or "日本"
 * gets half of it wrong and mistranslates the words beside it. It is shown one word instead, "XX1"
 * for the first span of a sentence, "XX2" for the second: models that were never trained for this
 * copied such words in 480 of 480 cases. A bundle with reserved pieces was trained for it: "⟨1⟩" is
 * a piece that no text can spell.
 *
 *     Write to {name} at https://x.org.   shown as   Write to XX1 at XX2.
 *
 * layout/ then finds the stand-ins in the answer and writes the spans' bytes in their place, each
 * exactly once: draft/stand_ins.c removes the repetition of one that the model produced twice;
 * layout/ places one that the model dropped by attention. */
#include "translate/protected/stand_in.h"

#include "text/protected/amount.h"
#include "text/protected/code_number.h"
#include "text/scan.h"
#include "text/numbers/spelt_numbers.h"
#include "text/utf8.h"
#include "translate/no_memory.h"
#include "translate/protected/span_marks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "XX%u"

enum { WORD = 3 }; /* letters of a word; fewer are a unit's, such as "kg" */

/* True if both vocabularies can spell the stand-in words. */
static bool is_spelt(const struct dg_tokenizer *const sides[2])
{
    static const char all[] = "XX1 XX2 XX3 XX4 XX5 XX6 XX7 XX8 XX9 XX10";
    for (int i = 0; i < 2; i++) {
        struct dg_token *tokens = NULL;
        size_t n = 0;
        bool known = dg_tokenizer_has_text(sides[i]) &&
                     !dg_tokenizer_encode(sides[i], all, strlen(all), &tokens, &n, NULL);
        /* Byte pieces such as "<0x58>" cover no text, except the last one of a letter. */
        for (size_t k = 0; known && k < n; k++)
            known = tokens[k].id != dg_tokenizer_unk(sides[i]) && tokens[k].end > tokens[k].begin &&
                    !strstr(dg_tokenizer_piece(sides[i], tokens[k].id), "<0x");
        free(tokens);
        if (!known)
            return false;
    }
    return true;
}

int dg_stand_ins_open(const struct dg_bundle *bundle, const struct dg_tokenizer *const sides[2],
    struct dg_stand_ins *out, struct dg_error *err)
{
    out->bundle = bundle;
    out->spelt = is_spelt(sides);
    out->n_reserved = (uint32_t)dg_bundle_reserved_count(bundle);
    for (int i = 0; i < 2; i++) {
        out->reserved[i] = calloc(out->n_reserved + 1, sizeof *out->reserved[i]);
        if (!out->reserved[i])
            return dg_error_set(err, DG_ENOMEM, "no memory for reserved pieces");
        for (uint32_t k = 0; k < out->n_reserved; k++) {
            const char *name = dg_bundle_reserved(bundle, k);
            if (!dg_tokenizer_has_piece(sides[i], name) || strlen(name) >= DG_STAND_IN_NAME)
                return dg_error_field(err, DG_EFORMAT, "reserved",
                    "reserved piece \"%s\" is no token of the %s vocabulary, or over %d bytes",
                    name, i ? "target" : "source", DG_STAND_IN_NAME - 1);
            out->reserved[i][k] = dg_tokenizer_id(sides[i], name);
        }
    }
    return 0;
}

void dg_stand_ins_close(struct dg_stand_ins *s)
{
    free(s->reserved[0]);
    free(s->reserved[1]);
}

/* The next name that the sentence does not have itself; false: there is none. */
static bool next_name(const struct dg_stand_ins *t, const struct dg_shown *shown, unsigned *number,
    struct dg_stand_in *s)
{
    const uint32_t most = t->n_reserved ? t->n_reserved : DG_MAX_STAND_INS;
    while (*number < most) {
        const unsigned k = (*number)++;
        *s = (struct dg_stand_in){.source = -1, .target = -1};
        if (t->n_reserved) {
            snprintf(s->name, sizeof s->name, "%s", dg_bundle_reserved(t->bundle, k));
            s->source = t->reserved[0][k];
            s->target = t->reserved[1][k];
        } else {
            snprintf(s->name, sizeof s->name, NAME, k + 1);
        }
        if (!memmem(shown->text, shown->len, s->name, strlen(s->name)))
            return true;
    }
    return false;
}

/* True if a placeholder is before the first word of the sentence and touches it: one of a pair
 * whose other one is in another sentence, "{0}Read the terms. Then go on.{1}". */
static bool opens_sentence(const struct dg_shown *shown, const struct dg_mark *m)
{
    const size_t end = m->at + m->len;
    return m->at == 0 && ispunct((unsigned char)shown->text[0]) &&
           dg_scan_is_upper(dg_scan_peek(shown->text, end, shown->len));
}

/* True if the span has only control characters, such as the bell, U+0007. */
static bool is_control(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && iscntrl((unsigned char)s[i]))
        i++;
    return i == n;
}

/* True if a placeholder is between two words and touches both: "file{0}is". The model reads its
 * stand-in with a blank on either side. */
static bool parts_words(const struct dg_shown *shown, const struct dg_mark *m)
{
    return m->kind == DG_MARK_PROTECTED && m->len > 1 &&
           ispunct((unsigned char)shown->text[m->at]) && shown->text[m->at] != '&' &&
           dg_shown_touches_word(shown, m->at, true) &&
           dg_shown_touches_word(shown, m->at + m->len, false);
}

/* Text for mark m in place of its letters: the name of its own stand-in; the digits of a spelt
 * number, to which the model fits the words around them; "" for a control character, for one of a
 * pair, and for a sign attached to a word, which the model reads better without it; NULL: keep the
 * letters. */
static const char *text_for(const struct dg_stand_ins *t, struct dg_shown *shown,
    const struct dg_mark *m, unsigned *number, char digits[DG_STAND_IN_NAME])
{
    const char *s = shown->text;
    const size_t end = m->at + m->len;
    if (m->kind == DG_MARK_OPEN || m->kind == DG_MARK_CLOSE)
        return "";
    if (m->kind != DG_MARK_PROTECTED || !m->len)
        return NULL;
    if (is_control(s + m->at, m->len))
        return "";
    const unsigned value =
        m->end - m->begin == m->len ? dg_spelt_number_value(NULL, s + m->at, m->len) : 0;
    if (value > 0) {
        snprintf(digits, DG_STAND_IN_NAME, "%u", value);
        return digits;
    }
    if (!parts_words(shown, m) &&
        (dg_shown_touches_word(shown, m->at, true) || dg_shown_touches_word(shown, end, false)))
        return opens_sentence(shown, m) ||
                       ((unsigned char)s[m->at] >= 0x80 && !dg_utf8_has_letter(s + m->at, m->len))
                   ? ""
                   : NULL;
    if (shown->n_stand_ins == DG_MAX_STAND_INS ||
        !next_name(t, shown, number, &shown->stand_ins[shown->n_stand_ins]))
        return NULL;
    return shown->stand_ins[shown->n_stand_ins++].name;
}

/* Append the letters of mark m. Those of a protected span are composed (NFC), because the model
 * sees and writes them so, and layout/ looks for them in the answer. */
static int add_letters(const struct dg_shown *shown, const struct dg_mark *m, struct dg_buffer *b,
    struct dg_error *err)
{
    char *nfc = NULL;
    size_t n = 0;
    if (m->kind != DG_MARK_PROTECTED) {
        dg_buffer_add(b, shown->text + m->at, m->len);
        return 0;
    }
    int rc = dg_utf8_nfc(shown->text + m->at, m->len, &nfc, &n, err);
    if (!rc)
        dg_buffer_add(b, nfc, n);
    free(nfc);
    return rc;
}

/* True if a "/" and a word follow amount m, as in "$5/month"; `next` is the mark after it. */
static bool is_per_word(
    const struct dg_shown *shown, const struct dg_mark *m, const struct dg_mark *next)
{
    const size_t slash = m->at + m->len;
    size_t i = slash + 1;
    while (i < shown->len && isalpha((unsigned char)shown->text[i]) &&
           (i == slash + 1 || islower((unsigned char)shown->text[i])))
        i++;
    return slash < shown->len && shown->text[slash] == '/' && i > slash + WORD &&
           !isalnum((unsigned char)shown->text[i]) && (!next || next->at > slash) &&
           dg_amount_is(shown->text + m->at, m->len);
}

/* Append " / " for the "/" after a price, because the model translates the word after it if blanks
 * set it apart. The mark restores the "/". */
static void add_slash(struct dg_shown *shown, size_t source, struct dg_buffer *b)
{
    shown->letters[shown->n_marks] = (struct dg_mark_bytes){"/", 1};
    shown->marks[shown->n_marks++] = (struct dg_mark){
        .kind = DG_MARK_ESCAPE, .at = b->len, .len = 3, .begin = source, .end = source + 1};
    dg_buffer_adds(b, " / ");
}

/* Write shown->text to b with each mark's stand-in or letters, and list the marks with their new
 * places. named: with stand-ins. */
static int write_shown(const struct dg_stand_ins *named, struct dg_arena *arena,
    struct dg_shown *shown, struct dg_buffer *b, struct dg_error *err)
{
    const struct dg_mark *old = shown->marks;
    const size_t n = shown->n_marks;
    size_t at = 0;
    unsigned number = 0;
    int rc;
    shown->n_marks = 0;
    shown->marks = dg_arena_array(arena, 2 * n, sizeof *shown->marks);
    shown->letters = dg_arena_array(arena, 2 * n, sizeof *shown->letters);
    if (!shown->marks || !shown->letters)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < n; i++) {
        const struct dg_mark *m = &old[i];
        char digits[DG_STAND_IN_NAME];
        const char *name = named ? text_for(named, shown, m, &number, digits) : NULL;
        const bool apart = name && name[0] && parts_words(shown, m);
        const size_t end = m->at + m->len;
        dg_buffer_add(b, shown->text + at, m->at - at);
        const size_t begin = b->len;
        dg_buffer_adds(b, apart ? " " : "");
        if (name)
            dg_buffer_adds(b, name);
        else if ((rc = add_letters(shown, m, b, err)))
            return rc;
        dg_buffer_adds(b, apart ? " " : "");
        const bool is_code = dg_code_number_end(shown->text, m->at, end) == end;
        shown->letters[shown->n_marks] =
            (struct dg_mark_bytes){shown->text + m->at, is_code ? 0 : m->len};
        struct dg_mark *moved = &shown->marks[shown->n_marks++];
        *moved = *m;
        moved->at = begin;
        moved->len = b->len - begin;
        at = end;
        if (name && name[0] && is_per_word(shown, m, i + 1 < n ? &old[i + 1] : NULL)) {
            add_slash(shown, m->end, b);
            at++;
        }
    }
    dg_buffer_add(b, shown->text + at, shown->len - at);
    return 0;
}

int dg_stand_in_put(const struct dg_stand_ins *named, const char *from, const char *to,
    const struct dg_alphabet *known, struct dg_arena *arena, struct dg_shown *shown,
    struct dg_error *err)
{
    struct dg_buffer b;
    dg_span_marks_leave(from, to, named ? NULL : known, shown);
    dg_span_marks_join(shown);
    if (!shown->n_marks)
        return 0;
    if (named) {
        dg_span_marks_pair(shown);
        shown->stand_ins = dg_arena_array(arena, DG_MAX_STAND_INS, sizeof *shown->stand_ins);
        if (!shown->stand_ins)
            return DG_JOB_NO_MEMORY(err);
    }
    dg_buffer_init(&b);
    int rc = write_shown(named, arena, shown, &b, err);
    if (!rc) {
        shown->text = b.failed ? NULL : dg_arena_strndup(arena, b.data ? b.data : "", b.len);
        shown->len = b.len;
        rc = shown->text ? 0 : DG_JOB_NO_MEMORY(err);
    }
    dg_buffer_deinit(&b);
    return rc;
}

size_t dg_stand_in_find(
    const struct dg_shown *shown, const char *text, size_t n, struct dg_token *list)
{
    size_t found = 0, at = 0;
    for (size_t i = 0; i < shown->n_stand_ins; i++) {
        const struct dg_stand_in *s = &shown->stand_ins[i];
        const size_t len = strlen(s->name);
        const char *there = s->source >= 0 ? memmem(text + at, n - at, s->name, len) : NULL;
        if (!there)
            continue;
        at = (size_t)(there - text) + len;
        list[found++] =
            (struct dg_token){.id = s->source, .begin = (uint32_t)(at - len), .end = (uint32_t)at};
    }
    return found;
}

const char *dg_stand_in_name_of(
    const struct dg_stand_ins *t, const struct dg_shown *shown, int32_t id, uint64_t *said)
{
    for (size_t i = 0; i < shown->n_stand_ins; i++) {
        if (shown->stand_ins[i].target != id)
            continue;
        const bool again = *said >> i & 1;
        *said |= UINT64_C(1) << i;
        return again ? "" : shown->stand_ins[i].name;
    }
    for (uint32_t i = 0; i < t->n_reserved; i++)
        if (id == t->reserved[1][i])
            return "";
    return NULL;
}
