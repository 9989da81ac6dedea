#include "translate/protected/foreign_terms.h"

#include "model/engine/terms.h"
#include "text/protected/foreign.h"
#include "text/protected/identifier.h"
#include "text/protected/quantity.h"
#include "text/protected/salutation.h"
#include "text/numbers/spelt_hours.h"
#include "text/protected/title.h"
#include "text/utf8.h"
#include "translate/no_memory.h"

#include <stdlib.h>
#include <string.h>

/* True if m is foreign words or signs, a quantity, a name after a title or a program's name, not an
 * address or the like. */
static bool is_foreign(
    const struct dg_alphabet *known, const struct dg_shown *shown, const struct dg_mark *m)
{
    const size_t end = m->at + m->len;
    return m->end - m->begin == m->len &&
           (dg_foreign_end(known, shown->text, m->at, end) == end ||
               dg_quantity_is(shown->text + m->at, m->len) ||
               dg_title_name_end(shown->text, m->at, end) == end ||
               dg_identifier_name_end(shown->text, m->at, end) == end);
}

/* Keep those of the n terms that touch no protected span but foreign words; returns their number.
 */
static size_t without_protected(const struct dg_alphabet *known, const struct dg_shown *shown,
    struct dg_glossary_match *terms, size_t n)
{
    for (size_t i = 0; i < shown->n_marks && n; i++) {
        const struct dg_mark *m = &shown->marks[i];
        size_t kept = 0;
        if (m->kind != DG_MARK_PROTECTED || is_foreign(known, shown, m))
            continue;
        for (size_t k = 0; k < n; k++)
            if (terms[k].end <= m->at || terms[k].begin >= m->at + m->len)
                terms[kept++] = terms[k];
        n = kept;
    }
    return n;
}

/* True if m is words of the source that are translated as a whole. */
static bool is_whole(const struct dg_shown *shown, const struct dg_mark *m)
{
    struct dg_spelt_hour hour;
    return dg_spelt_hour_read(NULL, shown->text + m->at, m->len, &hour) ||
           dg_salutation_is(NULL, shown->text + m->at, m->len);
}

/* Write the pieces of mark m that none of the n terms covers to `out`; returns their number. A mark
 * that is translated as a whole has none if a term touches it. */
static size_t cut_mark(const struct dg_shown *shown, const struct dg_mark *m,
    const struct dg_glossary_match *terms, size_t n, struct dg_mark *out)
{
    const size_t end = m->at + m->len;
    size_t at = m->at, pieces = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && (terms[i].end <= at || terms[i].begin >= end))
            continue;
        size_t to = i < n ? terms[i].begin : end;
        while (at < to && shown->text[at] == ' ')
            at++;
        while (to > at && shown->text[to - 1] == ' ')
            to--;
        if (at < to) {
            struct dg_mark *piece = &out[pieces++];
            *piece = *m;
            piece->at = at;
            piece->len = to - at;
            piece->begin = m->begin + (at - m->at);
            piece->end = piece->begin + piece->len;
        }
        at = i < n ? terms[i].end : end;
    }
    return pieces > 0 && out[0].len < m->len && is_whole(shown, m) ? 0 : pieces;
}

/* Turn the offsets of the n terms in the NFC of shown->text into those in shown->text. */
static int to_shown(
    const struct dg_shown *shown, struct dg_glossary_match *terms, size_t n, struct dg_error *err)
{
    size_t at = 0, composed = 0, next_begin = 0, next_end = 0;
    while (at < shown->len && next_end < n) {
        const size_t end = dg_utf8_nfc_end(shown->text, shown->len, at);
        char *nfc;
        size_t len;
        const int rc = dg_utf8_nfc(shown->text + at, end - at, &nfc, &len, err);
        if (rc)
            return rc;
        free(nfc);
        composed += len;
        while (next_begin < n && terms[next_begin].begin < composed)
            terms[next_begin++].begin = at;
        while (next_end < n && terms[next_end].end <= composed)
            terms[next_end++].end = end;
        at = end;
    }
    return 0;
}

/* Find the terms in shown->text. Entries are in NFC, and it is as it was sent. */
static int find_terms(const struct dg_glossary *glossary, const struct dg_shown *shown,
    struct dg_glossary_match *terms, size_t *n, struct dg_error *err)
{
    char *nfc;
    size_t len;
    int rc = dg_utf8_nfc(shown->text, shown->len, &nfc, &len, err);
    if (rc)
        return rc;
    *n = dg_glossary_find(glossary, nfc, len, terms, DG_MAX_TERMS);
    if (len != shown->len || memcmp(nfc, shown->text, len) != 0)
        rc = to_shown(shown, terms, *n, err);
    free(nfc);
    return rc;
}

int dg_foreign_terms_leave(const struct dg_glossary *glossary, const struct dg_alphabet *known,
    struct dg_arena *arena, struct dg_shown *shown, struct dg_error *err)
{
    struct dg_glossary_match terms[DG_MAX_TERMS];
    size_t kept = 0, n = 0;
    if (glossary && shown->n_marks) {
        const int rc = find_terms(glossary, shown, terms, &n, err);
        if (rc)
            return rc;
    }
    n = without_protected(known, shown, terms, n);
    if (!n)
        return 0;
    /* A term within a mark leaves two pieces of it. */
    struct dg_mark *marks = dg_arena_array(arena, shown->n_marks + n, sizeof *marks);
    if (!marks)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < shown->n_marks; i++) {
        const struct dg_mark *m = &shown->marks[i];
        if (m->kind == DG_MARK_PROTECTED && m->len && is_foreign(known, shown, m))
            kept += cut_mark(shown, m, terms, n, marks + kept);
        else
            marks[kept++] = *m;
    }
    shown->marks = marks;
    shown->n_marks = kept;
    return 0;
}
