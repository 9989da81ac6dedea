#include "server/batcher.h"

#include <stdbool.h>

size_t dg_batcher_pick(const struct dg_batch_policy *policy, const struct dg_waiting *waiting,
    size_t n, const struct dg_room *room, uint64_t now_ns, size_t *picked)
{
    uint32_t rows = room->rows, sentences = room->sentences;
    uint64_t encode = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct dg_waiting *w = &waiting[i];
        if (w->deadline_ns != 0 && w->deadline_ns <= now_ns)
            continue; /* too late for it: the queue will drop it */
        bool alone = room->rows_live == 0 &&
                     count == 0; /* no room will ever be larger: let the engine say so */
        if (!alone && (sentences == 0 || w->rows > rows))
            break;
        encode += w->source_tokens;
        if (policy->encode_tokens > 0 && room->rows_live > 0 && count > 0 &&
            encode > policy->encode_tokens)
            break;
        rows -= w->rows < rows ? w->rows : rows;
        sentences -= sentences > 0;
        picked[count++] = i;
    }
    return count;
}
