#include "translate/accept/rerank.h"

#include "translate/accept/second_look.h"

#include <math.h>
#include <string.h>

/* Weight of the reading beside the search's score, which is divided by the length penalty. Chosen
 * on FLORES dev among 0.1 to 1.2: into German and French 0.2 is best, from them 0.8. */
#define BACK 0.4

/* True if a is better; an answer that was not read back is worse than one that was. */
static bool is_better(const struct dg_part_hyp *a, const struct dg_part_hyp *b)
{
    const bool read = isfinite(a->back);
    if (read != (bool)isfinite(b->back))
        return read;
    return read ? a->score + BACK * a->back > b->score + BACK * b->back : a->score > b->score;
}

/* Move hyps[from] to the front. */
static void put_first(struct dg_part_hyp *hyps, size_t from)
{
    const struct dg_part_hyp h = hyps[from];
    memmove(hyps + 1, hyps, from * sizeof *hyps);
    hyps[0] = h;
}

int dg_rerank(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n,
    struct dg_error *err)
{
    struct dg_part_hyp *best = NULL;
    for (uint32_t i = 1; i < n; i++) {
        size_t at = i;
        while (at > 0 && is_better(&hyps[i], &hyps[at - 1]))
            at--;
        put_first(hyps + at, i - at);
    }
    if (j->options.tokens || j->options.keep_loops)
        return 0;
    int rc = dg_look_choose(j, p, hyps, n, &best, err);
    if (!rc && best)
        put_first(hyps, (size_t)(best - hyps));
    return rc;
}
