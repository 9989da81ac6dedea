#include "model/engine/ngram.h"

#include <string.h>

bool dg_ngram_tail_at(const int32_t *ids, uint32_t n, uint32_t order, uint32_t i)
{
    return memcmp(ids + i, ids + n - (order - 1), (order - 1) * sizeof *ids) == 0;
}

bool dg_ngram_repeats(const int32_t *ids, uint32_t n, uint32_t order, int32_t next)
{
    for (uint32_t i = 0; i + order <= n; i++)
        if (ids[i + order - 1] == next && dg_ngram_tail_at(ids, n, order, i))
            return true;
    return false;
}

uint32_t dg_ngram_blocked(const int32_t *ids, uint32_t n, uint32_t order)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + order <= n; i++)
        count += dg_ngram_tail_at(ids, n, order, i);
    return count;
}
