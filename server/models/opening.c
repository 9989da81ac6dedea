/* DESIGN. Waiting requests form a line. The work on the executor serves the first of them: it takes
 * references to its models that are already open, closes idle models until its next one has room,
 * opens that one without the lock, and gives models to every request in the line that can now have
 * all it needs. Only the first in line holds models while it waits, and the requests that hold
 * others will finish, so there is no circular wait. If nothing can be closed, it looks again after
 * TICK_NS.
 *
 * A listing owns one reference to its open model. References are only taken under the lock; so if
 * there is no other one under the lock, the model is idle and stays so. */
#include "server/models/opening.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/models/internal.h"

#define TICK_NS 2000000ull
/* interval of checks while open models take too much, all are in use and no request waits */
#define LOOK_AGAIN_NS 50000000ull
/* after a bundle could not be opened, requests for it fail for this long instead of waiting */
#define TRY_AGAIN_NS 1000000000ull

/* ---- all of this with the lock ---- */

/* Takes references to all of o's models, if all are open and none is leaving. The first in line
 * takes those that are open in any case. True: o has all of them. */
static bool take(struct dg_opening *o, bool first)
{
    bool all = true;
    for (size_t i = 0; i < o->n; i++)
        all =
            all && (*o->models[i] || (o->listings[i]->open && (first || !o->listings[i]->leaving)));
    for (size_t i = 0; i < o->n && (all || first); i++) {
        if (*o->models[i] || !o->listings[i]->open)
            continue;
        dg_served_ref(o->listings[i]->open);
        *o->models[i] = o->listings[i]->open;
    }
    return all;
}

static bool needs(const struct dg_opening *o, const struct dg_listing *l)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->listings[i] == l)
            return true;
    return false;
}

/* True if o has all its models, or must not wait for them any longer (o->err). */
static bool settle(const struct dg_models *m, struct dg_opening *o, bool first)
{
    if (m->opening.stopped)
        dg_error_set(o->err, DG_ECANCELED, "the server is stopping");
    else if (atomic_load(o->ended) != 0)
        dg_error_set(o->err, DG_ECANCELED, "the request is over");
    for (size_t i = 0; i < o->n && o->err->code == DG_OK; i++)
        if (o->listings[i]->failed_ns > 0 &&
            dg_clock_ns() - o->listings[i]->failed_ns < TRY_AGAIN_NS)
            *o->err = o->listings[i]->failure;
    return o->err->code != DG_OK || take(o, first);
}

static size_t n_open(const struct dg_models *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->list[i]->open != NULL;
    return n;
}

/* Closes the model that has been idle longest and is not one of o's (o NULL: of all), and returns
 * it for the caller to release; NULL: none is idle. */
static struct dg_served *close_one_take(struct dg_models *m, const struct dg_opening *o)
{
    struct dg_listing *idle = NULL;
    for (size_t i = 0; i < m->n; i++) {
        struct dg_listing *l = m->list[i];
        if (!l->open || atomic_load(&l->open->refs) > 1 || (o && needs(o, l)))
            continue;
        if (!idle || atomic_load(&l->open->used_ns) < atomic_load(&idle->open->used_ns))
            idle = l;
    }
    if (!idle)
        return NULL;
    struct dg_served *s = idle->open;
    idle->open = NULL;
    m->opening.closed++;
    return s;
}

/* Returns the open bundle that stays, that o does not need, and that has been open longest, or
 * NULL. */
static struct dg_listing *longest_open(const struct dg_models *m, const struct dg_opening *o)
{
    struct dg_listing *longest = NULL;
    for (size_t i = 0; i < m->n; i++) {
        struct dg_listing *l = m->list[i];
        if (l->open && !l->leaving && !needs(o, l) &&
            (!longest || l->opened_ns < longest->opened_ns))
            longest = l;
    }
    return longest;
}

static size_t n_leaving(const struct dg_models *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->list[i]->leaving;
    return n;
}

void dg_opening_make_room(const struct dg_models *m, const struct dg_opening *o, uint64_t waited_ns)
{
    struct dg_listing *next;
    for (uint64_t n = n_leaving(m); n < waited_ns / DG_OPENING_PATIENCE_NS; n++) {
        if (!(next = longest_open(m, o)))
            return;
        next->leaving = true;
    }
}

static void all_stay(struct dg_models *m)
{
    for (size_t i = 0; i < m->n; i++)
        m->list[i]->leaving = false;
}

static struct dg_listing *next_closed(const struct dg_opening *o)
{
    for (size_t i = 0; i < o->n; i++)
        if (!*o->models[i])
            return o->listings[i];
    return NULL;
}

/* True if there is room for l, or if nothing else is open whose closing would make room. */
static bool has_room(
    const struct dg_models *m, const struct dg_opening *o, const struct dg_listing *l)
{
    size_t own = 0;
    for (size_t i = 0; i < o->n; i++)
        own += *o->models[i] ? (*o->models[i])->bytes : 0;
    return dg_served_bytes_alive() <= own || dg_models_fit(m, dg_models_estimate(m, l));
}

/* ---- the line ---- */

/* Removes a request from the line. If it was the first, the bundles marked for its sake stay open.
 */
static void remove_at(struct dg_models *m, struct dg_opening **at)
{
    struct dg_opening *o = *at;
    if (at == &m->opening.line)
        all_stay(m);
    *at = o->next;
    if (!*at)
        m->opening.end = at;
    m->opening.n--;
}

/* Move each request that has all it waits for, or has ended, onto *told. Lock held. */
static void serve_line(struct dg_models *m, struct dg_opening **told)
{
    for (struct dg_opening **at = &m->opening.line; *at;) {
        struct dg_opening *o = *at;
        if (!settle(m, o, at == &m->opening.line)) {
            at = &o->next;
            continue;
        }
        remove_at(m, at);
        o->next = *told;
        *told = o;
    }
}

static void tell_all(struct dg_opening *told)
{
    while (told) {
        struct dg_opening *o = told;
        told = o->next; /* ready may free it */
        o->ready(o->arg);
    }
}

/* Opens l, which the caller references, without the lock. The requests that wait for it get it, or
 * the error. */
static void open_listing(struct dg_models *m, struct dg_listing *l)
{
    struct dg_served *s = NULL;
    struct dg_error err = {0};
    dg_models_open_listed(m, l, &s, &err);
    if (err.code == DG_OK)
        dg_served_log(s);
    else
        dg_log(DG_LOG_ERROR, "bundle cannot be opened name=%s message=\"%s\"",
            dg_bundle_name(l->bundle), err.message);
    pthread_mutex_lock(&m->lock);
    if (err.code == DG_OK) {
        dg_models_is_open_take(m, l, s);
    } else {
        m->opening.failed++;
        l->failed_ns = dg_clock_ns();
        dg_error_clear(&l->failure);
        dg_error_set(&l->failure, DG_EINTERNAL, "the model %s cannot be opened: see the log",
            dg_bundle_name(l->bundle));
    }
    pthread_mutex_unlock(&m->lock);
}

/* Takes one step for the first in line. False: nobody waits, or nothing can be done now. */
static bool step(struct dg_models *m)
{
    struct dg_opening *told = NULL;
    struct dg_served *closed = NULL;
    struct dg_listing *l = NULL;
    bool blocked = false, over = false;
    pthread_mutex_lock(&m->lock);
    serve_line(m, &told);
    const struct dg_opening *first = m->opening.line;
    if (first) {
        l = next_closed(first);
        if (!has_room(m, first, l)) {
            closed = close_one_take(m, first);
            blocked = !closed;
            l = NULL;
        }
        if (blocked)
            dg_opening_make_room(m, first, dg_clock_ns() - first->since_ns);
        if (l)
            dg_listing_ref(l);
    } else if (!dg_models_fit(m, 0) && n_open(m) > 1) {
        /* one took more than estimated, or a request needed two at once */
        closed = close_one_take(m, NULL);
        over = !closed;
    }
    pthread_mutex_unlock(&m->lock);
    tell_all(told);
    dg_served_unref(closed);
    if (l)
        open_listing(m, l);
    dg_listing_unref(l);
    if (blocked || over)
        dg_executor_post_at(
            m->o.executor, &m->opening.work, dg_clock_ns() + (blocked ? TICK_NS : LOOK_AGAIN_NS));
    return l || closed;
}

static void open_some(void *arg)
{
    while (step(arg))
        ;
}

void dg_opening_init(struct dg_models *m)
{
    m->opening.end = &m->opening.line;
    m->opening.work = (struct dg_work){.run = open_some, .arg = m};
}

/* ---- from other threads ---- */

bool dg_opening_try(struct dg_models *m, struct dg_opening *o)
{
    pthread_mutex_lock(&m->lock);
    const bool there = settle(m, o, false);
    pthread_mutex_unlock(&m->lock);
    return there;
}

void dg_opening_begin(struct dg_models *m, struct dg_opening *o)
{
    pthread_mutex_lock(&m->lock);
    o->since_ns = dg_clock_ns();
    o->next = NULL;
    *m->opening.end = o;
    m->opening.end = &o->next;
    m->opening.n++;
    dg_executor_post(m->o.executor, &m->opening.work);
    pthread_mutex_unlock(&m->lock);
}

bool dg_opening_cancel(struct dg_models *m, struct dg_opening *o)
{
    pthread_mutex_lock(&m->lock);
    struct dg_opening **at = &m->opening.line;
    while (*at && *at != o)
        at = &(*at)->next;
    const bool waited = *at != NULL;
    if (waited)
        remove_at(m, at);
    pthread_mutex_unlock(&m->lock);
    return waited;
}

void dg_opening_done(struct dg_served *s)
{
    if (s)
        atomic_store(&s->used_ns, dg_clock_ns());
}

void dg_opening_stop(struct dg_models *m)
{
    struct dg_opening *told = NULL;
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->opening.stopped = true;
    serve_line(m, &told);
    pthread_mutex_unlock(&m->lock);
    tell_all(told);
}

void dg_opening_count(struct dg_models *m, struct dg_opening_counts *out)
{
    pthread_mutex_lock(&m->lock);
    *out = (struct dg_opening_counts){m->opening.opened, m->opening.closed, m->opening.failed,
        m->opening.n, dg_served_bytes_alive(), m->o.memory};
    pthread_mutex_unlock(&m->lock);
}
