#include "server/schedule/batcher.h"

/* Set in a bulk sentence's rank: behind all that have it not. */
#define BULK (UINT64_C(1) << 63)

#define MS UINT64_C(1000000)

/* Patience: a sentence of 20 pieces and beam 4 lets shorter ones that come up to 0.4 s later pass,
 * one of 200 pieces 4 s. Encoding: about as long as a step of many rows. */
const struct dg_batch_policy dg_batch_policy_default = {.batching = DG_BATCHING_CONTINUOUS,
    .encode_tokens = 256,
    .bulk_every = 16,
    .patience_ns = 5 * MS,
    .patience_max_ns = 10000 * MS};

uint64_t dg_batcher_rank(
    const struct dg_batch_policy *policy, enum dg_class class, uint64_t arrived_ns, uint64_t work)
{
    if (policy->batching != DG_BATCHING_CONTINUOUS)
        return arrived_ns;
    uint64_t most = policy->patience_max_ns > 0 ? policy->patience_max_ns : BULK / 2;
    uint64_t per = policy->patience_ns;
    uint64_t wait = per > 0 && work > most / per ? most : work * per;
    return (arrived_ns + wait) | (class == DG_CLASS_BULK ? BULK : 0);
}

void dg_batcher_free(struct dg_batcher *b)
{
    for (int c = 0; c < DG_CLASSES; c++)
        dg_heap_free(&b->heaps[c]);
}

bool dg_batcher_reserve(struct dg_batcher *b, size_t more)
{
    bool ok = true;
    for (int c = 0; c < DG_CLASSES; c++)
        ok = dg_heap_reserve(&b->heaps[c], more) && ok;
    return ok;
}

enum dg_class dg_batcher_class(uint64_t rank)
{
    return rank & BULK ? DG_CLASS_BULK : DG_CLASS_INTERACTIVE;
}

static struct dg_heap *heap_of(struct dg_batcher *b, const struct dg_waiting *w)
{
    return &b->heaps[dg_batcher_class(w->node.key)];
}

/* w found no room: what becomes free is kept for it, if that is due to it. An interactive one that
 * kept room before has only been tried again; for a bulk one their step stays due. */
static void keep_room(struct dg_batcher *b, struct dg_waiting *w)
{
    if (!w->refused)
        return;
    if (dg_batcher_class(w->node.key) == DG_CLASS_BULK) {
        b->owed = b->owed || w->keeps;
        return;
    }
    if (b->keeper || (b->owed && !w->keeps))
        return;
    w->keeps = true;
    b->keeper = w;
}

void dg_batcher_add(struct dg_batcher *b, struct dg_waiting *w)
{
    dg_heap_put(heap_of(b, w), &w->node);
    b->rows += w->rows;
    keep_room(b, w);
}

void dg_batcher_remove(struct dg_batcher *b, struct dg_waiting *w)
{
    dg_heap_remove(heap_of(b, w), &w->node);
    b->rows -= w->rows;
    if (b->keeper == w)
        b->keeper = NULL;
}

size_t dg_batcher_count(const struct dg_batcher *b)
{
    return b->heaps[DG_CLASS_INTERACTIVE].n + b->heaps[DG_CLASS_BULK].n;
}

static struct dg_waiting *first_of(const struct dg_batcher *b, int class)
{
    return (struct dg_waiting *)(void *)dg_heap_first(&b->heaps[class]); /* node is its head */
}

struct dg_waiting *dg_batcher_first(const struct dg_batcher *b)
{
    struct dg_waiting *w = first_of(b, DG_CLASS_INTERACTIVE);
    return w ? w : first_of(b, DG_CLASS_BULK);
}

/* live[n] in the order of one step: as it stands, or with the bulk ones, which are its end,
 * first. */
struct order {
    const struct dg_running *live;
    size_t n, first;
    uint64_t flip; /* BULK when bulk ones go first: then rank ^ flip is what ascends */
};

static bool is_bulks(const struct dg_batch_policy *policy, uint64_t step)
{
    return policy->batching == DG_BATCHING_CONTINUOUS && policy->bulk_every > 0 &&
           step % policy->bulk_every == 0;
}

static struct order order_of(bool bulk_first, const struct dg_running *live, size_t n)
{
    struct order o = {.live = live, .n = n};
    if (!bulk_first)
        return o;
    o.flip = BULK;
    while (o.first < n && !(live[o.first].rank & BULK))
        o.first++;
    return o;
}

static size_t nth(const struct order *o, size_t i)
{
    return o->first + i < o->n ? o->first + i : o->first + i - o->n;
}

/* One sentence of the ranking of a step, which has `ahead` rows in front of it: does it advance?
 * The first always does. */
static bool advances(uint64_t ahead, uint32_t rows, uint32_t knee)
{
    return ahead == 0 || ahead + rows <= knee;
}

/* Do bulk ones join first now? While room is kept their step is put off. */
static bool bulk_joins_first(struct dg_batcher *b, uint64_t step)
{
    bool due = b->owed || is_bulks(&b->policy, step);
    b->owed = due && b->keeper;
    return due && !b->keeper;
}

size_t dg_batcher_pick(struct dg_batcher *b, const struct dg_room *room,
    const struct dg_running *live, size_t n, struct dg_waiting **out, size_t cap)
{
    const struct dg_batch_policy *p = &b->policy;
    struct order o = order_of(bulk_joins_first(b, room->step), live, n);
    bool no_bulk_lives = o.flip && o.first == n;
    int classes = b->keeper ? DG_CLASS_INTERACTIVE + 1 : DG_CLASSES;
    uint32_t rows = room->rows, sentences = room->sentences, blocks = room->blocks;
    uint64_t ahead = 0, encode = 0;
    size_t count = 0, at = 0;
    if (p->batching == DG_BATCHING_STATIC && n > 0)
        return 0;
    for (int k = 0; k < classes; k++) {
        struct dg_waiting *w;
        while (count < cap && (w = first_of(b, o.flip ? DG_CLASSES - 1 - k : k)) != NULL) {
            for (; at < n && (live[nth(&o, at)].rank ^ o.flip) <= (w->node.key ^ o.flip); at++)
                ahead += live[nth(&o, at)].rows;
            if (p->batching == DG_BATCHING_CONTINUOUS && !advances(ahead, w->rows, room->knee))
                break;
            bool alone = n + count == 0;
            if (dg_batcher_class(w->node.key) == DG_CLASS_BULK)
                w->keeps = no_bulk_lives && count == 0;
            if (!alone && (sentences == 0 || w->rows > rows || w->blocks > blocks)) {
                w->refused = true;
                keep_room(b, w);
                return count; /* nobody takes the room that it waits for */
            }
            encode += w->tokens;
            if (p->encode_tokens > 0 && n > 0 && count > 0 && encode > p->encode_tokens)
                return count;
            ahead += w->rows;
            rows -= w->rows < rows ? w->rows : rows;
            blocks -= w->blocks < blocks ? w->blocks : blocks;
            sentences -= sentences > 0;
            dg_batcher_remove(b, w);
            out[count++] = w;
        }
    }
    return count;
}

void dg_batcher_run(const struct dg_batch_policy *policy, uint32_t knee, uint64_t step,
    struct dg_running *live, size_t n)
{
    struct order o = order_of(is_bulks(policy, step), live, n);
    uint64_t ahead = 0;
    for (size_t i = 0; i < n; i++) {
        struct dg_running *r = &live[nth(&o, i)];
        r->runs = policy->batching != DG_BATCHING_CONTINUOUS || advances(ahead, r->rows, knee);
        ahead += r->runs ? r->rows : 0;
    }
}
