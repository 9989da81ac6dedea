#include "trainer/score/ngram.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct ngram {
    const char *text;
    size_t len;
};

void dg_ngram_units_free(struct dg_ngram_units *u)
{
    free(u->text);
    free(u->begin);
}

/* Write the n-grams of one order to list; return how many. */
static size_t list_ngrams(const struct dg_ngram_units *u, size_t order, struct ngram *list)
{
    size_t n = u->n >= order ? u->n - order + 1 : 0;
    for (size_t i = 0; i < n; i++)
        list[i] = (struct ngram){u->text + u->begin[i], u->begin[i + order] - u->gap - u->begin[i]};
    return n;
}

static int compare(const void *a, const void *b)
{
    const struct ngram *x = a, *y = b;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return memcmp(x->text, y->text, x->len);
}

/* Length of the run of equal n-grams at list[i]. */
static size_t run(const struct ngram *list, size_t n, size_t i)
{
    size_t j = i + 1;
    while (j < n && compare(&list[i], &list[j]) == 0)
        j++;
    return j - i;
}

/* Sorts both lists. */
static uint64_t count_match(struct ngram *a, size_t n_a, struct ngram *b, size_t n_b)
{
    uint64_t shared = 0;
    if (n_a == 0 || n_b == 0)
        return 0;
    qsort(a, n_a, sizeof *a, compare);
    qsort(b, n_b, sizeof *b, compare);
    for (size_t i = 0, j = 0; i < n_a && j < n_b;) {
        int order = compare(&a[i], &b[j]);
        size_t in_a = run(a, n_a, i), in_b = run(b, n_b, j);
        if (order == 0)
            shared += in_a < in_b ? in_a : in_b;
        if (order <= 0)
            i += in_a;
        if (order >= 0)
            j += in_b;
    }
    return shared;
}

void dg_ngram_count(const struct dg_ngram_units *hyp, const struct dg_ngram_units *ref,
    size_t orders, struct dg_ngram_counts *out)
{
    struct ngram *list = dg_alloc(hyp->n + ref->n, sizeof *list, "a line to score");
    for (size_t i = 0; i < orders; i++) {
        const size_t n_hyp = list_ngrams(hyp, i + 1, list),
                     n_ref = list_ngrams(ref, i + 1, list + hyp->n);
        out[i] =
            (struct dg_ngram_counts){n_hyp, n_ref, count_match(list, n_hyp, list + hyp->n, n_ref)};
    }
    free(list);
}

size_t dg_ngram_space(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    if (n == 0)
        return 0;
    if (p[0] < 0x80)
        return p[0] == ' ' || (p[0] >= 0x09 && p[0] <= 0x0D) || (p[0] >= 0x1C && p[0] <= 0x1F);
    if (p[0] == 0xC2 && n >= 2)
        return p[1] == 0x85 || p[1] == 0xA0 ? 2 : 0;
    if (n < 3 || p[0] < 0xE1 || p[0] > 0xE3)
        return 0;
    unsigned c = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
                   c == 0x202F || c == 0x205F || c == 0x3000
               ? 3
               : 0;
}
