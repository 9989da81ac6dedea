#include "documents/office/pieces.h"

#include "text/protected.h"

#include <stdlib.h>
#include <string.h>

/* Formattings that are compared, to keep the time linear. */
#define MAX_TRIED 64

void dg_pieces_add(struct dg_pieces *q, struct dg_piece piece)
{
    if (q->n == q->cap) {
        size_t cap = q->cap ? 2 * q->cap : 32;
        struct dg_piece *more = realloc(q->list, cap * sizeof *more);
        if (!more) {
            q->failed = true;
            return;
        }
        q->list = more;
        q->cap = cap;
    }
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

const struct dg_piece *dg_pieces_main(struct dg_pieces *q)
{
    const struct dg_piece *best = NULL;
    size_t most = 0;
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
