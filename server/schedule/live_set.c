#include "server/schedule/live_set.h"

#include <string.h>

void dg_live_set_init(struct dg_live_set *s)
{
    for (uint32_t i = 0; i < DG_LIVE_MAX; i++)
        s->free_ids[i] = i;
}

bool dg_live_set_next_id(const struct dg_live_set *s, uint32_t *id)
{
    if (s->n == DG_LIVE_MAX)
        return false;
    *id = s->free_ids[s->n];
    return true;
}

void dg_live_set_put(struct dg_live_set *s, struct dg_entry *e)
{
    e->id = s->free_ids[s->n];
    s->by_id[e->id] = e;
    /* From the end: a sentence that has just come mostly ranks last. */
    uint32_t at = s->n++;
    for (; at > 0 && s->ranking[at - 1]->node.key > e->node.key; at--)
        s->ranking[at] = s->ranking[at - 1];
    s->ranking[at] = e;
}

static uint32_t find(const struct dg_live_set *s, const struct dg_entry *e)
{
    uint32_t at = 0;
    while (s->ranking[at] != e)
        at++;
    return at;
}

void dg_live_set_leave(struct dg_live_set *s, struct dg_entry *e)
{
    const uint32_t at = find(s, e);
    s->n--;
    memmove(&s->ranking[at], &s->ranking[at + 1], (s->n - at) * sizeof *s->ranking);
    /* The engine must release the id before the next sentence, which gets it, is admitted. */
    s->by_id[e->id] = NULL;
    s->free_ids[s->n] = e->id;
}

void dg_live_set_unlink(struct dg_live_set *s, struct dg_entry *before, struct dg_entry *e)
{
    struct dg_entry *next = e->next;
    if (before) {
        before->next = next;
    } else if (next) {
        /* The engine only knows the id, so the sentence goes on unchanged. */
        dg_entry_succeed(next, e);
        s->ranking[find(s, e)] = next;
        s->by_id[e->id] = next;
    } else {
        dg_live_set_leave(s, e);
    }
}

size_t dg_live_set_of_model(
    const struct dg_live_set *s, const struct dg_served *model, struct dg_entry **out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->ranking[i]->task->model == model)
            out[n++] = s->ranking[i];
    return n;
}
