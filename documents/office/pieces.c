#include "documents/office/pieces.h"

#include "base/array.h"
#include "text/protected/protected.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>

/* Formattings that are compared, to keep the time linear. */
#define MAX_TRIED 64

void dg_pieces_add(struct dg_pieces *q, struct dg_piece piece)
{
    struct dg_piece *more = dg_array_grow(q->list, q->n, &q->cap, sizeof *more);
    if (!more) {
        q->failed = true;
        return;
    }
    q->list = more;
    q->list[q->n++] = piece;
}

bool dg_pieces_same_run(
    const struct dg_pieces *q, const struct dg_piece *p, size_t run, size_t run_end)
{
    const char *s = q->r->xml.s;
    return p->run_end - p->run == run_end - run && memcmp(s + p->run, s + run, run_end - run) == 0;
}

/* Number of bytes of the words, without addresses and other protected spans. */
static size_t count_words(const struct dg_pieces *q, const struct dg_piece *p)
{
    const char *s = q->r->xml.s + p->begin;
    const size_t len = p->end - p->begin;
    size_t n = len, begin;
    for (size_t at = 0, end; (end = dg_protected_next(NULL, s, len, at, &begin)) > 0; at = end)
        n -= end - begin;
    return n;
}

static void weigh(struct dg_pieces *q)
{
    size_t sum = 0;
    for (size_t i = 0; i < q->n; i++) {
        struct dg_piece *p = &q->list[i];
        p->weight = p->kind == DG_PIECE_WORDS && !p->linked ? count_words(q, p) : 0;
        sum += p->weight;
    }
    for (size_t i = 0; i < q->n && sum == 0; i++)
        if (q->list[i].kind == DG_PIECE_WORDS)
            q->list[i].weight = q->list[i].end - q->list[i].begin;
}

/* Sets *first to the first words, NULL if there are none; true if all have its formatting. */
static bool are_alike(const struct dg_pieces *q, const struct dg_piece **first)
{
    *first = NULL;
    for (size_t i = 0; i < q->n; i++) {
        const struct dg_piece *p = &q->list[i];
        if (p->kind != DG_PIECE_WORDS || p->end == p->begin)
            continue;
        if (*first && !dg_pieces_same_run(q, p, (*first)->run, (*first)->run_end))
            return false;
        *first = *first ? *first : p;
    }
    return true;
}

const struct dg_piece *dg_pieces_main(struct dg_pieces *q)
{
    const struct dg_piece *best;
    size_t most = 0;
    if (are_alike(q, &best)) /* most paragraphs: no words need to be weighed */
        return best;
    weigh(q);
    for (size_t i = 0, tried = 0; i < q->n && tried < MAX_TRIED; i++) {
        const struct dg_piece *p = &q->list[i];
        size_t n = 0;
        if (p->weight == 0)
            continue;
        tried++;
        for (size_t k = 0; k < q->n; k++)
            if (q->list[k].weight > 0 && dg_pieces_same_run(q, &q->list[k], p->run, p->run_end))
                n += q->list[k].weight;
        if (n > most) {
            most = n;
            best = p;
        }
    }
    return best;
}

/* ---- the numbers of notes ---- */

static bool is_tag(const struct dg_piece *p)
{
    return p->kind == DG_PIECE_OPEN || p->kind == DG_PIECE_CLOSE;
}

/* True if the words right before piece i end with a letter, or with signs after one. */
static bool is_after_letter(const struct dg_pieces *q, size_t i)
{
    while (i > 0 && is_tag(&q->list[i - 1]))
        i--;
    if (i == 0 || q->list[i - 1].kind != DG_PIECE_WORDS)
        return false;
    const char *s = q->r->xml.s + q->list[i - 1].begin;
    size_t n = q->list[i - 1].end - q->list[i - 1].begin;
    while (n > 0 && strchr(".,;:!?)\"", s[n - 1]))
        n--;
    size_t begin = n > 0 ? n - 1 : 0;
    while (begin > 0 && (s[begin] & 0xC0) == 0x80)
        begin--;
    return dg_utf8_has_letter(s + begin, n - begin);
}

/* True if words begin with a letter right after piece i - 1. */
static bool is_before_letter(const struct dg_pieces *q, size_t i)
{
    while (i < q->n && is_tag(&q->list[i]))
        i++;
    if (i == q->n || q->list[i].kind != DG_PIECE_WORDS)
        return false;
    const char *s = q->r->xml.s + q->list[i].begin;
    const size_t n = q->list[i].end - q->list[i].begin;
    return dg_scan_is_letter(dg_scan_peek(s, 0, n));
}

/* True if the words are of a number's characters; *digits is set if one is a digit or a star. */
static bool is_of_number(const struct dg_pieces *q, const struct dg_piece *p, bool *digits)
{
    const char *s = q->r->xml.s;
    for (size_t k = p->begin; k < p->end; k++) {
        const unsigned char c = (unsigned char)s[k];
        if (c < 0x80 && !isdigit(c) && !strchr("*,-+[]()", c))
            return false;
        *digits = *digits || isdigit(c) || c == '*';
    }
    return !p->instead && !dg_utf8_has_letter(s + p->begin, p->end - p->begin);
}

size_t dg_pieces_note_number(const struct dg_pieces *q, size_t i)
{
    const struct dg_piece *first = &q->list[i];
    const bool container = first->kind == DG_PIECE_OPEN;
    bool digits = false;
    size_t end = i + container;
    while (end < q->n && q->list[end].kind == DG_PIECE_WORDS &&
           (container || dg_pieces_same_run(q, &q->list[end], first->run, first->run_end))) {
        if (!is_of_number(q, &q->list[end++], &digits))
            return 0;
    }
    if (container && (end == q->n || q->list[end++].kind != DG_PIECE_CLOSE))
        return 0;
    return digits && is_after_letter(q, i) && !is_before_letter(q, end) ? end - i : 0;
}
