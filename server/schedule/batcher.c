#include "server/schedule/batcher.h"

/* Set in a bulk sentence's rank: it goes after all ranks without it. */
#define BULK (UINT64_C(1) << 63)

#define MS UINT64_C(1000000)

/* encode_tokens: encoding as many takes about as long as a step of many rows. usage_ns: 25
 * tokens of recent use rank a client half a second later. */
const struct dg_batch_policy dg_batch_policy_default = {.batching = DG_BATCHING_CONTINUOUS,
    .encode_tokens = 256,
    .bulk_every = 16,
    .patience_max_ns = 10000 * MS,
    .usage_ns = 20 * MS,
    .usage_max_ns = 10000 * MS};

uint64_t dg_batcher_rank(const struct dg_batch_policy *policy, enum dg_class class,
    uint64_t arrived_ns, uint64_t patience_ns)
{
    if (policy->batching != DG_BATCHING_CONTINUOUS)
        return arrived_ns;
    const uint64_t most = policy->patience_max_ns > 0 ? policy->patience_max_ns : BULK / 2;
    return (arrived_ns + (patience_ns < most ? patience_ns : most)) |
           (class == DG_CLASS_BULK ? BULK : 0);
}

enum dg_class dg_batcher_class(uint64_t rank)
{
    return rank & BULK ? DG_CLASS_BULK : DG_CLASS_INTERACTIVE;
}

/* ---- The sentences that wait ---- */

void dg_batcher_free(struct dg_batcher *b)
{
    for (int c = 0; c < DG_CLASSES; c++)
        dg_heap_free(&b->heaps[c]);
    dg_heap_free(&b->patient);
}

bool dg_batcher_reserve(struct dg_batcher *b, size_t more)
{
    bool ok = dg_heap_reserve(&b->patient, more);
    for (int c = 0; c < DG_CLASSES; c++)
        ok = dg_heap_reserve(&b->heaps[c], more) && ok;
    return ok;
}

static struct dg_heap *heap_of(struct dg_batcher *b, const struct dg_entry *e)
{
    const enum dg_class class = dg_batcher_class(e->node.key);
    return e->patient && class == DG_CLASS_INTERACTIVE ? &b->patient : &b->heaps[class];
}

/* Reserves freed capacity for e if e was refused and may have a reservation. */
static void reserve_room(struct dg_batcher *b, struct dg_entry *e)
{
    if (!e->refused)
        return;
    /* A bulk sentence reserves nothing. If the bulk step was meant for it, the step stays due. */
    if (dg_batcher_class(e->node.key) == DG_CLASS_BULK) {
        b->bulk_due = b->bulk_due || e->reserved;
        return;
    }
    /* One reservation at a time; and a due bulk step comes before a new one. A sentence that held
     * the reservation keeps it: it was only tried again. */
    if (b->reserved_for || (b->bulk_due && !e->reserved))
        return;
    e->reserved = true;
    b->reserved_for = e;
}

void dg_batcher_add(struct dg_batcher *b, struct dg_entry *e)
{
    dg_heap_put(heap_of(b, e), &e->node);
    reserve_room(b, e);
}

void dg_batcher_remove(struct dg_batcher *b, struct dg_entry *e)
{
    dg_heap_remove(heap_of(b, e), &e->node);
    if (b->reserved_for == e)
        b->reserved_for = NULL;
}

size_t dg_batcher_count(const struct dg_batcher *b)
{
    return b->heaps[DG_CLASS_INTERACTIVE].n + b->patient.n + b->heaps[DG_CLASS_BULK].n;
}

static struct dg_entry *entry_of(struct dg_heap_node *node)
{
    return (struct dg_entry *)(void *)node; /* the entry's first member */
}

static struct dg_entry *first_of(const struct dg_batcher *b, int class)
{
    struct dg_heap_node *e = dg_heap_first(&b->heaps[class]), *patient = dg_heap_first(&b->patient);
    const bool later = class != DG_CLASS_INTERACTIVE || !patient || (e && e->key <= patient->key);
    return entry_of(later ? e : patient);
}

struct dg_entry *dg_batcher_first(const struct dg_batcher *b)
{
    struct dg_entry *e = first_of(b, DG_CLASS_INTERACTIVE);
    return e ? e : first_of(b, DG_CLASS_BULK);
}

/* ---- The ranking of one step ---- */

/* The ranking of live[n], which is ascending by rank with bulk sentences at its end; in a bulk step
 * they come first. */
struct order {
    struct dg_entry *const *live;
    size_t n;
    /* counted if bulk goes first; else 0 */
    size_t n_interactive;
    bool bulk_first;
};

static bool is_bulks(const struct dg_batch_policy *policy, uint64_t step)
{
    return policy->batching == DG_BATCHING_CONTINUOUS && policy->bulk_every > 0 &&
           step % policy->bulk_every == 0;
}

static struct order order_of(bool bulk_first, struct dg_entry *const *live, size_t n)
{
    struct order o = {.live = live, .n = n, .bulk_first = bulk_first};
    /* Find where the bulk ones begin, for nth(); the class is the rank's highest bit. */
    while (bulk_first && o.n_interactive < n && !(live[o.n_interactive]->node.key & BULK))
        o.n_interactive++;
    return o;
}

/* The i-th live sentence of the step's ranking. */
static struct dg_entry *nth(const struct order *o, size_t i)
{
    const size_t at = o->n_interactive + i; /* the list rotated so that its bulk ones come first */
    return o->live[at < o->n ? at : at - o->n];
}

/* A rank in this step: if bulk goes first, the bit that puts bulk sentences last is inverted. */
static uint64_t step_rank(const struct order *o, const struct dg_entry *e)
{
    return e->node.key ^ (o->bulk_first ? BULK : 0);
}

/* How full a step is, while walking down its ranking. */
struct fill {
    /* rows that advance so far */
    uint64_t rows;
    /* a sentence that is not patient is live or waits */
    bool urgent;
};

static bool any_urgent(struct dg_entry *const *live, size_t n)
{
    while (n > 0 && live[n - 1]->patient)
        n--;
    return n > 0;
}

/* True if e still advances. The first always does; one that does not fit lets narrower ones after
 * it pass. */
static bool fits(const struct fill *f, const struct dg_entry *e, const struct dg_room *room)
{
    const bool less = f->urgent && e->patient && room->patient_knee > 0;
    return f->rows == 0 || f->rows + e->rows <= (less ? room->patient_knee : room->knee);
}

void dg_room_set_knee(struct dg_room *room, uint32_t step_rows, uint32_t all)
{
    room->knee = step_rows > 0 ? step_rows : all;
    room->patient_knee = step_rows / 2;
}

/* ---- Picking ---- */

/* True if bulk sentences join first in this step. A bulk step is postponed while room is reserved.
 */
static bool bulk_joins_first(struct dg_batcher *b, uint64_t step)
{
    bool due = b->bulk_due || is_bulks(&b->policy, step);
    b->bulk_due = due && b->reserved_for;
    return due && !b->reserved_for;
}

/* One call of dg_batcher_pick, while walking down the ranking. */
struct pick {
    struct dg_batcher *b;
    struct order order;
    struct dg_room left;
    /* rows of the ranking so far, live and joining */
    struct fill fill;
    /* source tokens of those that join */
    uint64_t encode;
    /* live sentences of the ranking so far */
    size_t passed;
    /* those that join */
    size_t count;
};

/* True if e would advance in this step. Live sentences that rank before it are counted first. */
static bool would_advance(struct pick *p, const struct dg_entry *e)
{
    const struct order *o = &p->order;
    for (; p->passed < o->n; p->passed++) {
        const struct dg_entry *live = nth(o, p->passed);
        if (step_rank(o, live) > step_rank(o, e))
            break;
        if (fits(&p->fill, live, &p->left))
            p->fill.rows += live->rows;
    }
    return p->b->policy.batching != DG_BATCHING_CONTINUOUS || fits(&p->fill, e, &p->left);
}

/* Returns the next sentence of a class that joins if there is room, or NULL. If the first would not
 * advance, the others of its class, which rank after it, would not either; except that if it is
 * patient, one that is not may. */
static struct dg_entry *next_of(struct pick *p, int class)
{
    struct dg_entry *e = first_of(p->b, class);
    if (!e || would_advance(p, e))
        return e;
    if (!e->patient || class != DG_CLASS_INTERACTIVE || p->fill.rows + e->rows > p->left.knee)
        return NULL;
    e = entry_of(dg_heap_first(&p->b->heaps[class]));
    return e && would_advance(p, e) ? e : NULL;
}

/* True if there is room for e. In an empty engine always: there will never be more. */
static bool has_room(const struct pick *p, const struct dg_entry *e)
{
    if (p->order.n + p->count == 0)
        return true;
    return p->left.sentences > 0 && e->rows <= p->left.rows && e->blocks <= p->left.blocks;
}

/* True if e has to wait because of its encoding, which holds up the running sentences: all that
 * join are encoded in the same step. */
static bool encodes_too_much(const struct pick *p, const struct dg_entry *e)
{
    const uint32_t most = p->b->policy.encode_tokens;
    return most > 0 && p->order.n > 0 && p->count > 0 && p->encode + e->source_tokens > most;
}

static void take(struct pick *p, struct dg_entry *e)
{
    struct dg_room *left = &p->left;
    /* The first of an empty engine may need more than there is: nothing is left then. */
    p->encode += e->source_tokens;
    p->fill.rows += e->rows;
    left->rows -= e->rows < left->rows ? e->rows : left->rows;
    left->blocks -= e->blocks < left->blocks ? e->blocks : left->blocks;
    left->sentences -= left->sentences > 0;
    p->count++;
    dg_batcher_remove(p->b, e);
}

size_t dg_batcher_pick(struct dg_batcher *b, const struct dg_room *room,
    struct dg_entry *const *live, size_t n, struct dg_entry **out, size_t cap)
{
    struct pick p = {.b = b, .left = *room};
    p.fill.urgent = b->heaps[DG_CLASS_INTERACTIVE].n > 0 || any_urgent(live, n);
    p.order = order_of(bulk_joins_first(b, room->step), live, n);
    if (b->policy.batching == DG_BATCHING_STATIC && n > 0)
        return 0;
    const bool bulk_first = p.order.bulk_first, no_bulk_lives = p.order.n_interactive == n;
    /* While room is reserved, bulk ones do not join at all. */
    const int classes = b->reserved_for ? DG_CLASS_INTERACTIVE + 1 : DG_CLASSES;
    for (int k = 0; k < classes; k++) {
        struct dg_entry *e;
        while (p.count < cap && (e = next_of(&p, bulk_first ? DG_CLASSES - 1 - k : k)) != NULL) {
            /* A bulk step is meant for its first sentence; if no bulk sentence is live, the step
             * stays due until that one has joined. */
            if (dg_batcher_class(e->node.key) == DG_CLASS_BULK)
                e->reserved = bulk_first && no_bulk_lives && p.count == 0;
            if (!has_room(&p, e)) {
                e->refused = true;
                reserve_room(b, e);
                return p.count; /* no other one may take the room that e waits for */
            }
            if (encodes_too_much(&p, e))
                return p.count;
            out[p.count] = e;
            take(&p, e);
        }
    }
    return p.count;
}

void dg_batcher_run(const struct dg_batch_policy *policy, const struct dg_room *room,
    struct dg_entry *const *live, size_t n)
{
    struct order o = order_of(is_bulks(policy, room->step), live, n);
    struct fill fill = {.urgent = any_urgent(live, n)};
    for (size_t i = 0; i < n; i++) {
        struct dg_entry *e = nth(&o, i);
        e->runs = policy->batching != DG_BATCHING_CONTINUOUS || fits(&fill, e, room);
        fill.rows += e->runs ? e->rows : 0;
    }
}
