/* DESIGN. Of each set of duplicates only the first is in its lane's batcher and in the table of
 * duplicates; the others are linked to it by next. So entering and leaving cost O(log n). Example:
 * A, B and A wait. The second A is on the first one's list, and the first has the better rank of
 * the two. When the first leaves, the second becomes the first, takes over what the batcher knows
 * about it (dg_entry_succeed), and counts in the bound as a sentence, no longer as a duplicate. */
#include "server/schedule/lane.h"

#include "server/schedule/queue_internal.h"

struct dg_lane *dg_lane_of(struct dg_queue *q, const struct dg_served *model)
{
    for (size_t i = 0; i < q->n_lanes; i++)
        if (q->lanes[i].model == model)
            return &q->lanes[i];
    return NULL;
}

struct dg_lane *dg_lane_make(struct dg_queue *q, struct dg_served *model)
{
    struct dg_lane *l = dg_lane_of(q, model);
    if (l || q->n_lanes == DG_QUEUE_MAX_LANES)
        return l;
    l = &q->lanes[q->n_lanes++];
    *l = (struct dg_lane){.model = model, .batcher.policy = q->o.policy};
    return l;
}

void dg_lane_retire(struct dg_queue *q, struct dg_lane *l)
{
    if (!l || dg_batcher_count(&l->batcher) > 0)
        return;
    dg_batcher_free(&l->batcher);
    *l = q->lanes[--q->n_lanes];
}

void dg_lane_add(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e)
{
    l->tokens[dg_batcher_class(e->node.key)] += e->source_tokens;
    dg_batcher_add(&l->batcher, e);
    dg_duplicates_put(&q->duplicates, e);
}

static void take_out(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e)
{
    l->tokens[dg_batcher_class(e->node.key)] -= e->source_tokens;
    dg_batcher_remove(&l->batcher, e);
    dg_duplicates_remove(&q->duplicates, e);
}

/* Adds to what its client has waiting, or subtracts. A task that waits beside the bound takes none
 * of its client's share either. */
static void count_use(struct dg_queue *q, const struct dg_entry *e, int64_t cost)
{
    if (!e->task->large)
        dg_usage_wait(&q->usage, e->task->client, (enum dg_class)e->counts_class, cost);
}

void dg_lane_count_in(
    struct dg_queue *q, struct dg_lane *l, struct dg_entry *e, struct dg_entry *first)
{
    e->first = first;
    e->counts = dg_queue_cost(e, e != first);
    e->counts_class = (uint8_t)dg_batcher_class(first->node.key);
    l->cost[e->counts_class] += e->counts;
    l->large[e->counts_class] += e->task->large ? e->counts : 0;
    l->entries[e->counts_class]++;
    count_use(q, e, e->counts);
}

void dg_lane_count_out(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e)
{
    e->first = NULL;
    l->cost[e->counts_class] -= e->counts;
    l->large[e->counts_class] -= e->task->large ? e->counts : 0;
    l->entries[e->counts_class]--;
    count_use(q, e, -(int64_t)e->counts);
}

void dg_lane_enter(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e)
{
    struct dg_entry *first = dg_duplicates_find(&q->duplicates, e);
    if (!first) {
        e->next = NULL;
        dg_lane_add(q, l, e);
        dg_lane_count_in(q, l, e, e);
        return;
    }
    /* The first takes the better rank, and is patient only if both are. It is removed and added
     * again, since a heap's key must not change inside. */
    if (e->node.key < first->node.key || first->patient > e->patient) {
        const uint64_t key = e->node.key < first->node.key ? e->node.key : first->node.key;
        take_out(q, l, first);
        first->node = (struct dg_heap_node){.key = key};
        first->patient = first->patient && e->patient;
        dg_lane_add(q, l, first);
    }
    e->next = first->next;
    first->next = e;
    dg_lane_count_in(q, l, e, first);
    dg_metrics_add(q->o.metrics, DG_COUNT_COALESCED, 0, 1);
}

/* Removes one entry; its duplicates stay, and the next of them becomes the first if e was. */
static void leave(struct dg_queue *q, struct dg_lane *l, struct dg_entry *e)
{
    struct dg_entry **link = &e->first->next, *next = e->next;
    if (e->first != e) {
        while (*link != e)
            link = &(*link)->next;
        *link = next;
    } else {
        take_out(q, l, e);
        for (struct dg_entry *other = next; other; other = other->next)
            other->first = next;
        if (next) {
            dg_entry_succeed(next, e);
            dg_lane_add(q, l, next);
            dg_lane_count_out(q, l, next);
            dg_lane_count_in(q, l, next, next); /* no longer as a duplicate */
        }
    }
    dg_lane_count_out(q, l, e);
}

void dg_lane_leave_task(
    struct dg_queue *q, struct dg_lane *l, const struct dg_task *t, struct dg_entry **list)
{
    for (size_t i = 0; i < t->n_entries; i++) {
        struct dg_entry *e = &t->entries[i];
        if (!e->first)
            continue;
        leave(q, l, e);
        e->next = *list;
        *list = e;
    }
}

bool dg_lane_reserve(struct dg_lane *l, size_t entries)
{
    return l && dg_batcher_reserve(&l->batcher, entries);
}
