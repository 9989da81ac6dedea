/* The keeper's thread: tells owners of hang-ups and late answers, closes connections that are too
 * slow, drains. Callbacks are called without the lock. */
#include "server/http/net_internal.h"

#include "base/clock.h"
#include "base/thread_name.h"

#include <sys/epoll.h>
#include <unistd.h>

#define GRACE_NS 1000000000ull
#define EVENTS 64

static void on_hangup(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    struct dg_net_slot *s = dg_net_find(net, id);
    void *user = NULL;
    if (s && s->gone_ns == 0) {
        s->gone_ns = dg_clock_ns();
        user = s->user;
        s->user = NULL;
        if (user)
            net->o.pin(user);
    }
    pthread_mutex_unlock(&net->lock);
    if (user)
        net->o.gone(user);
}

/* What is due for a watched request: its answer is late, or its connection has been quiet. */
struct due {
    void (*tell)(void *user);
    /* pinned; NULL: nothing is due */
    void *user;
};

/* Searches the slots from *from on. */
static struct due take_due(struct dg_net *net, uint32_t *from, uint64_t now)
{
    struct due d = {0};
    pthread_mutex_lock(&net->lock);
    const uint64_t quiet = net->o.limits.quiet_ms * DG_NET_MS;
    for (; *from < net->n_slots && !d.user; (*from)++) {
        struct dg_net_slot *s = &net->slots[*from];
        if (s->fd < 0 || !s->user)
            continue;
        if (s->due_ns != 0 && now >= s->due_ns) {
            d = (struct due){net->o.late, s->user};
            s->user = NULL;
        } else if (quiet > 0 && s->phase == DG_NET_HANDLING && now >= s->since_ns + quiet) {
            d = (struct due){net->o.quiet, s->user};
            s->since_ns = now;
        }
        if (d.user)
            net->o.pin(d.user);
    }
    pthread_mutex_unlock(&net->lock);
    return d;
}

static void tell_due(struct dg_net *net, uint64_t now)
{
    uint32_t from = 0;
    for (struct due d; (d = take_due(net, &from, now)).user != NULL;)
        d.tell(d.user);
}

/* How long a connection may stay in its phase; 0 = no limit. Lock held. */
static uint64_t limit_ns(const struct dg_net *net, const struct dg_net_slot *s)
{
    uint64_t limit = net->o.limits.limit_ms[s->phase] * DG_NET_MS;
    bool quiet = s->phase == DG_NET_IDLE || s->phase == DG_NET_HEADERS;
    if (net->drain_ns != 0 && quiet && (limit == 0 || limit > GRACE_NS))
        limit = GRACE_NS;
    return limit;
}

/* Refuse a connection whose request came in too slowly. Lock held. */
static void tell_slow(struct dg_net *net, struct dg_net_slot *s)
{
    if (s->timed_out)
        return;
    if (s->plain)
        dg_net_refuse(s->fd, 408, "request_timeout", "the request arrived too slowly");
    s->timed_out = true;
    net->counts.timed_out++;
}

/* True if the client hung up without a request, or within one, and all its bytes were read. The
 * library (0.9.75, epoll) misses an end-of-file that arrives with the last bytes, and would wait
 * until the request's time is up. The grace is for a request that was read this moment. Lock held.
 */
static bool is_abandoned(const struct dg_net_slot *s, uint64_t now)
{
    return s->gone_ns != 0 && now >= s->gone_ns + GRACE_NS &&
           (s->phase == DG_NET_IDLE || s->phase == DG_NET_HEADERS || s->phase == DG_NET_BODY) &&
           !dg_net_has_unread(s);
}

/* Closes connections whose time is up, and those from which nothing more will come. */
static void close_slow(struct dg_net *net, uint64_t now)
{
    pthread_mutex_lock(&net->lock);
    for (uint32_t i = 0; i < net->n_slots; i++) {
        struct dg_net_slot *s = &net->slots[i];
        if (s->fd < 0)
            continue;
        if (is_abandoned(s, now)) {
            shutdown(s->fd, SHUT_RDWR); /* its owner reads end-of-file once more */
            continue;
        }
        uint64_t limit = limit_ns(net, s);
        uint64_t since = s->since_ns > net->drain_ns ? s->since_ns : net->drain_ns;
        if (limit == 0 || now < since + limit)
            continue;
        if (s->phase == DG_NET_BODY || (s->phase == DG_NET_HEADERS && net->drain_ns == 0))
            tell_slow(net, s);
        shutdown(s->fd, SHUT_RDWR); /* its owner reads end-of-file and closes it */
        s->since_ns = now;
    }
    pthread_mutex_unlock(&net->lock);
}

/* A failure to watch the sockets is tried again at a tick. */
static void begin_accepting(struct dg_net *net)
{
    net->held = false;
    if (dg_net_set_listening(net, EPOLL_CTL_ADD) != 0)
        net->retry_ns = dg_clock_ns();
}

static void begin_drain(struct dg_net *net)
{
    if (net->drain_ns != 0)
        return;
    for (int i = 0; i < DG_NET_LISTENERS; i++) {
        /* The kernel has accepted the queued clients. Those of a held socket wait for the next
         * server that has it. */
        if (i > 0 || !net->held)
            dg_net_accept(net, net->listen_fds[i]);
        if (net->listen_fds[i] >= 0)
            close(net->listen_fds[i]);
        net->listen_fds[i] = -1;
    }
    pthread_mutex_lock(&net->lock);
    net->drain_ns = dg_clock_ns();
    pthread_mutex_unlock(&net->lock);
}

static bool needs_ticks(struct dg_net *net)
{
    pthread_mutex_lock(&net->lock);
    bool yes = net->count > 0 || net->n_coming > 0 || net->n_linger > 0 || net->retry_ns != 0;
    pthread_mutex_unlock(&net->lock);
    return yes;
}

void *dg_net_keep(void *arg)
{
    struct dg_net *net = arg;
    struct epoll_event events[EVENTS];
    uint64_t next_tick = 0;
    dg_thread_name("connections");
    while (!atomic_load(&net->stop)) {
        int n = epoll_wait(net->epoll_fd, events, EVENTS, needs_ticks(net) ? DG_NET_TICK_MS : -1);
        bool linger = false;
        for (int i = 0; i < n; i++) {
            uint64_t tag = events[i].data.u64;
            uint64_t count;
            if (tag < DG_NET_LISTENERS)
                dg_net_accept(net, net->listen_fds[tag]);
            else if (tag == DG_NET_TAG_LINGER)
                linger = true;
            else if (tag != DG_NET_TAG_WAKE)
                on_hangup(net, tag);
            else if (read(net->wake_fd, &count, sizeof count) < 0)
                continue; /* nothing to read: the counter was reset already */
        }
        if (atomic_exchange(&net->release, false))
            begin_accepting(net);
        if (atomic_load(&net->drain))
            begin_drain(net);
        uint64_t now = dg_clock_ns();
        if (linger || now >= next_tick)
            dg_net_tend_lingering(net, now);
        if (now < next_tick)
            continue;
        next_tick = now + DG_NET_TICK_MS * DG_NET_MS;
        dg_net_miss(net);
        close_slow(net, now);
        tell_due(net, now);
        dg_net_retry_accept(net, now);
    }
    return NULL;
}
