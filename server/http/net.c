/* DESIGN. Each connection has a slot; epoll events carry slot number and generation, so that an
 * event that was fetched before its connection left finds nothing. Sockets are registered once,
 * edge-triggered, for hang-ups alone: no wake-up per request. Slots are guarded by the mutex, and a
 * socket is only shut while its slot is entered, that is, before its owner closes it: a reused
 * descriptor is never hit. */
#include "server/http/net.h"

#include "base/clock.h"
#include "server/http/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TICK_MS 100
#define LINGER_NS 2000000000ull
#define LINGER_BYTES (64u << 20)
#define MAX_LINGERING 64
#define GRACE_NS 1000000000ull
#define EVENTS 64
#define MAX_CLOSING 64          /* evicted connections whose descriptors are still open */
#define SILENT_NS 1000000000ull /* a connection without a request may be evicted after this */
#define TAG_LISTEN 0ull
#define TAG_WAKE 1ull
#define TAG_LINGER 2ull
#define TAG_LISTEN_LOCAL 3ull
#define MS 1000000ull

struct slot {
    int fd; /* -1: free */
    uint32_t generation;
    uint32_t next_free;
    enum dg_net_phase phase;
    bool gone, timed_out;
    bool evicted;
    uint64_t since_ns;
    uint64_t client;
    void *user;
    uint64_t due_ns; /* of user; 0: never */
};

struct lingering {
    int fd;
    uint64_t until_ns;
    size_t bytes;
};

struct dg_net {
    struct dg_net_options o;
    int epoll_fd, wake_fd;
    pthread_t thread;
    bool has_thread;
    atomic_bool stop, drain;
    /* TCP and Unix; -1: none. Keeper's thread only. */
    int listen_fds[DG_NET_LISTENERS];
    /* keeper's thread only: accept again then, after running out of descriptors */
    uint64_t retry_ns;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct slot *slots; /* [n_slots] */
    uint32_t n_slots;   /* max_connections, and those that are being closed */
    uint32_t first_free;
    size_t count;               /* slots taken */
    size_t closing;             /* of these, evicted */
    size_t coming;              /* accepted, not entered yet: they have a place already */
    struct dg_clients *clients; /* of those that count and those that come */
    uint64_t drain_ns;          /* when draining began; 0 before */
    struct lingering linger[MAX_LINGERING];
    size_t n_linger;
    struct dg_net_counts counts;
};

static void wake(struct dg_net *net)
{
    uint64_t one = 1;
    ssize_t k = write(net->wake_fd, &one, sizeof one); /* full counter: it is awake already */
    (void)k;
}

/* The status line, and what goes with it: only too much at once passes by itself. */
static const char *head_of(int status)
{
    switch (status) {
    case 408: return "408 Request Timeout\r\n";
    case 413: return "413 Content Too Large\r\n";
    default: return "503 Service Unavailable\r\nRetry-After: 1\r\n";
    }
}

void dg_net_refuse(int fd, const struct dg_net_refusal *r)
{
    char body[256], text[768];
    int n_body = snprintf(body, sizeof body,
        "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"%s%s%s}}", r->code, r->message,
        r->field ? ",\"field\":\"" : "", r->field ? r->field : "", r->field ? "\"" : "");
    int n = snprintf(text, sizeof text,
        "HTTP/1.1 %sConnection: close\r\n%s%s%sContent-Type: application/json\r\n"
        "Content-Length: %d\r\n\r\n%s",
        head_of(r->status), r->id ? "X-Request-Id: " : "", r->id ? r->id : "", r->id ? "\r\n" : "",
        n_body, body);
    if (n < 0 || (size_t)n >= sizeof text)
        return;
    ssize_t k = send(fd, text, (size_t)n,
        MSG_DONTWAIT | MSG_NOSIGNAL); /* best effort: the close follows anyway */
    (void)k;
}

/* The slot of an id, or NULL when its connection has left. Lock held. */
static struct slot *find(struct dg_net *net, uint64_t id)
{
    uint32_t index = (uint32_t)id;
    if (index >= net->n_slots)
        return NULL;
    struct slot *s = &net->slots[index];
    return s->fd >= 0 && s->generation == (uint32_t)(id >> 32) ? s : NULL;
}

uint64_t dg_net_enter(struct dg_net *net, int fd, const struct sockaddr *addr, socklen_t n)
{
    uint64_t id = 0, client = dg_client_of(addr, n);
    pthread_mutex_lock(&net->lock);
    net->coming -= net->coming > 0;
    uint32_t index = net->first_free;
    if (index == UINT32_MAX)
        dg_clients_remove(net->clients, client);
    if (index != UINT32_MAX) {
        struct slot *s = &net->slots[index];
        net->first_free = s->next_free;
        s->fd = fd;
        s->generation = s->generation >= UINT32_MAX - 1 ? 1 : s->generation + 1;
        s->phase = DG_NET_HEADERS;
        s->gone = s->timed_out = s->evicted = false;
        s->client = client;
        s->user = NULL;
        s->since_ns = dg_clock_ns();
        id = (uint64_t)s->generation << 32 | index;
        net->count++;
        struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = id};
        epoll_ctl(
            net->epoll_fd, EPOLL_CTL_ADD, fd, &ev); /* fails: only the hang-up watch is lost */
    }
    bool first = net->count == 1;
    pthread_mutex_unlock(&net->lock);
    if (first)
        wake(net); /* it sleeps without a limit while there is nothing to time */
    return id;
}

/* A duplicate of fd that the keeper reads dry. Lock held. */
static void start_lingering(struct dg_net *net, int fd)
{
    if (net->n_linger == MAX_LINGERING)
        return;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return;
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = TAG_LINGER};
    if (epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, copy, &ev) != 0) {
        close(copy);
        return;
    }
    net->linger[net->n_linger++] =
        (struct lingering){.fd = copy, .until_ns = dg_clock_ns() + LINGER_NS};
}

void dg_net_leave(struct dg_net *net, uint64_t id, bool linger)
{
    pthread_mutex_lock(&net->lock);
    struct slot *s = find(net, id);
    if (s) {
        epoll_ctl(net->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
        if (linger && !s->gone)
            start_lingering(net, s->fd);
        if (s->evicted)
            net->closing--;
        else
            dg_clients_remove(net->clients, s->client);
        s->fd = -1;
        s->user = NULL;
        s->next_free = net->first_free;
        net->first_free = (uint32_t)id;
        net->count--;
    }
    pthread_mutex_unlock(&net->lock);
    if (linger)
        wake(net);
}

void dg_net_phase(struct dg_net *net, uint64_t id, enum dg_net_phase phase)
{
    pthread_mutex_lock(&net->lock);
    struct slot *s = find(net, id);
    if (s) {
        s->phase = phase;
        s->since_ns = dg_clock_ns();
    }
    pthread_mutex_unlock(&net->lock);
}

bool dg_net_watch(struct dg_net *net, uint64_t id, void *user, uint64_t due_ns)
{
    pthread_mutex_lock(&net->lock);
    struct slot *s = find(net, id);
    bool there = !s || !s->gone; /* a connection beyond the table is not watched, only answered */
    if (s && there) {
        s->user = user;
        s->due_ns = due_ns;
    }
    pthread_mutex_unlock(&net->lock);
    return there;
}

bool dg_net_gone(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    const struct slot *s = find(net, id);
    bool gone = s && s->gone;
    pthread_mutex_unlock(&net->lock);
    return gone;
}

bool dg_net_timed_out(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    const struct slot *s = find(net, id);
    bool yes = s && s->timed_out;
    pthread_mutex_unlock(&net->lock);
    return yes;
}

void dg_net_unwatch(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    struct slot *s = find(net, id);
    if (s)
        s->user = NULL;
    pthread_mutex_unlock(&net->lock);
}

size_t dg_net_count(struct dg_net *net)
{
    pthread_mutex_lock(&net->lock);
    size_t n = net->count + net->coming;
    pthread_mutex_unlock(&net->lock);
    return n;
}

void dg_net_counts(struct dg_net *net, struct dg_net_counts *out)
{
    pthread_mutex_lock(&net->lock);
    *out = net->counts;
    pthread_mutex_unlock(&net->lock);
}

void dg_net_drain(struct dg_net *net)
{
    atomic_store(&net->drain, true);
    wake(net);
}

bool dg_net_drained(struct dg_net *net)
{
    pthread_mutex_lock(&net->lock);
    bool yes = net->drain_ns != 0;
    pthread_mutex_unlock(&net->lock);
    return yes;
}

void dg_net_abort(struct dg_net *net)
{
    pthread_mutex_lock(&net->lock);
    for (uint32_t i = 0; i < net->n_slots; i++)
        if (net->slots[i].fd >= 0)
            shutdown(net->slots[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&net->lock);
}

/* The keeper's thread from here on. */

static void on_hangup(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    struct slot *s = find(net, id);
    void *user = NULL;
    if (s && !s->gone) {
        s->gone = true;
        user = s->user;
        s->user = NULL;
        if (user)
            net->o.pin(user);
    }
    pthread_mutex_unlock(&net->lock);
    if (user)
        net->o.gone(user);
}

/* Does nobody lose anything when this connection is closed? What has arrived unread is a request
 * that nobody has looked at yet. Lock held. */
static bool may_evict(const struct slot *s, uint64_t now)
{
    char byte;
    if (s->fd < 0 || s->evicted)
        return false;
    if (s->phase != DG_NET_IDLE && (s->phase != DG_NET_HEADERS || now < s->since_ns + SILENT_NS))
        return false;
    return s->phase == DG_NET_HEADERS ||
           recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL) <= 0;
}

/* Close the connection that has been idle longest, or has been at its headers longest, to make a
 * place: one of the client's own, or (client NULL) anybody's. False: none is idle. Lock held. */
static bool evict(struct dg_net *net, const uint64_t *client)
{
    struct slot *oldest = NULL;
    uint64_t now = dg_clock_ns();
    if (net->closing == MAX_CLOSING)
        return false;
    for (uint32_t i = 0; i < net->n_slots; i++) {
        struct slot *s = &net->slots[i];
        if ((!client || s->client == *client) && (!oldest || s->since_ns < oldest->since_ns) &&
            may_evict(s, now))
            oldest = s;
    }
    if (!oldest)
        return false;
    shutdown(oldest->fd, SHUT_RDWR); /* its owner reads the end and closes it */
    oldest->evicted = true;
    dg_clients_remove(net->clients, oldest->client);
    net->closing++;
    net->counts.evicted++;
    return true;
}

enum verdict { PLACE, NO_PLACE, TOO_MANY_OF_CLIENT };

/* Take a place for a connection that has been accepted. Connections from this machine (a proxy, a
 * probe, the operator) have no limit of their own and some places to themselves. */
static enum verdict take_place(struct dg_net *net, uint64_t client)
{
    enum verdict v = PLACE;
    bool local = dg_client_is_local(client);
    pthread_mutex_lock(&net->lock);
    size_t most = net->o.max_connections - (local ? 0 : net->o.kept_local);
    if (!local && net->o.max_per_client > 0 &&
        dg_clients_count(net->clients, client) >= net->o.max_per_client && !evict(net, &client))
        v = TOO_MANY_OF_CLIENT;
    else if (net->count - net->closing + net->coming >= most && !evict(net, NULL))
        v = NO_PLACE;
    else if (!dg_clients_add(net->clients, client))
        v = NO_PLACE;
    net->coming += v == PLACE;
    pthread_mutex_unlock(&net->lock);
    return v;
}

static void give_place_back(struct dg_net *net, uint64_t client)
{
    pthread_mutex_lock(&net->lock);
    net->coming--;
    dg_clients_remove(net->clients, client);
    pthread_mutex_unlock(&net->lock);
}

/* Closing with the request unread would reset the connection, and the refusal with it. */
static void refuse_connection(struct dg_net *net, int fd, enum verdict v)
{
    const struct dg_net_refusal full = {.status = 503,
        .code = "overloaded",
        .message = v == TOO_MANY_OF_CLIENT ? "too many connections are open from this address"
                                           : "too many connections are open"};
    dg_net_refuse(fd, &full);
    shutdown(fd, SHUT_WR);
    pthread_mutex_lock(&net->lock);
    net->counts.refused++;
    start_lingering(net, fd);
    pthread_mutex_unlock(&net->lock);
    close(fd);
}

static const uint64_t listen_tags[DG_NET_LISTENERS] = {TAG_LISTEN, TAG_LISTEN_LOCAL};

static int set_listening(struct dg_net *net, int how)
{
    int rc = 0;
    for (int i = 0; i < DG_NET_LISTENERS; i++) {
        struct epoll_event ev = {.events = EPOLLIN, .data.u64 = listen_tags[i]};
        if (net->listen_fds[i] >= 0 &&
            epoll_ctl(net->epoll_fd, how, net->listen_fds[i], &ev) != 0 && errno != EEXIST)
            rc = -1;
    }
    return rc;
}

static void take_in(struct dg_net *net, int fd, const struct sockaddr_storage *addr, socklen_t n)
{
    uint64_t client = dg_client_of((const struct sockaddr *)addr, n);
    enum verdict v = take_place(net, client);
    if (v != PLACE)
        refuse_connection(net, fd, v);
    else if (!net->o.accepted(net->o.arg, fd, (const struct sockaddr *)addr, n))
        give_place_back(net, client);
}

static void accept_all(struct dg_net *net, int listen_fd)
{
    while (listen_fd >= 0) {
        struct sockaddr_storage addr;
        socklen_t n = sizeof addr;
        int fd = accept4(listen_fd, (struct sockaddr *)&addr, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_in(net, fd, &addr, n);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if (errno != EAGAIN) {
            /* Out of descriptors or memory: the event would come back at once. */
            set_listening(net, EPOLL_CTL_DEL);
            net->retry_ns = dg_clock_ns() + TICK_MS * MS;
        }
        return;
    }
}

static void retry_accept(struct dg_net *net, uint64_t now)
{
    if (net->retry_ns != 0 && now >= net->retry_ns && set_listening(net, EPOLL_CTL_ADD) == 0)
        net->retry_ns = 0;
}

/* Read what lingering clients still send; close those that are done or out of time. */
static void tend_lingering(struct dg_net *net, uint64_t now)
{
    char sink[16384];
    pthread_mutex_lock(&net->lock);
    for (size_t i = 0; i < net->n_linger;) {
        struct lingering *l = &net->linger[i];
        ssize_t k;
        do {
            k = recv(l->fd, sink, sizeof sink, MSG_DONTWAIT);
            if (k > 0)
                l->bytes += (size_t)k;
        } while (k > 0 && l->bytes < LINGER_BYTES);
        bool over = k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR) ||
                    l->bytes >= LINGER_BYTES || now >= l->until_ns;
        if (over) {
            close(l->fd);
            *l = net->linger[--net->n_linger];
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&net->lock);
}

/* A watched request whose answer is late, pinned; NULL: there is none. Slots from *from on. */
static void *take_late(struct dg_net *net, uint32_t *from, uint64_t now)
{
    void *user = NULL;
    pthread_mutex_lock(&net->lock);
    for (; *from < net->n_slots && !user; (*from)++) {
        struct slot *s = &net->slots[*from];
        if (s->fd < 0 || !s->user || s->due_ns == 0 || now < s->due_ns)
            continue;
        user = s->user;
        s->user = NULL;
        net->o.pin(user);
    }
    pthread_mutex_unlock(&net->lock);
    return user;
}

static void tell_late(struct dg_net *net, uint64_t now)
{
    uint32_t from = 0;
    for (void *user; (user = take_late(net, &from, now)) != NULL;)
        net->o.late(user);
}

/* How long a connection may stay as it is; 0 = for ever. Lock held. */
static uint64_t limit_ns(const struct dg_net *net, const struct slot *s)
{
    uint64_t limit = net->o.limit_ms[s->phase] * MS;
    bool quiet = s->phase == DG_NET_IDLE || s->phase == DG_NET_HEADERS;
    if (net->drain_ns != 0 && quiet && (limit == 0 || limit > GRACE_NS))
        limit = GRACE_NS;
    return limit;
}

/* Its request is late. Lock held. */
static void tell_slow(struct dg_net *net, struct slot *s)
{
    static const struct dg_net_refusal slow = {
        .status = 408, .code = "request_timeout", .message = "the request came in too slowly"};
    if (s->timed_out)
        return;
    dg_net_refuse(s->fd, &slow);
    s->timed_out = true;
    net->counts.timed_out++;
}

static void close_slow(struct dg_net *net, uint64_t now)
{
    pthread_mutex_lock(&net->lock);
    for (uint32_t i = 0; i < net->n_slots; i++) {
        struct slot *s = &net->slots[i];
        if (s->fd < 0)
            continue;
        uint64_t limit = limit_ns(net, s);
        uint64_t since = s->since_ns > net->drain_ns ? s->since_ns : net->drain_ns;
        if (limit == 0 || now < since + limit)
            continue;
        if (s->phase == DG_NET_BODY || (s->phase == DG_NET_HEADERS && net->drain_ns == 0))
            tell_slow(net, s);
        shutdown(s->fd, SHUT_RDWR); /* its owner reads the end and closes it */
        s->since_ns = now;
    }
    pthread_mutex_unlock(&net->lock);
}

static void begin_drain(struct dg_net *net)
{
    if (net->drain_ns != 0)
        return;
    for (int i = 0; i < DG_NET_LISTENERS; i++) {
        accept_all(net, net->listen_fds[i]); /* these clients believe they are connected */
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
    bool yes = net->count > 0 || net->n_linger > 0 || net->retry_ns != 0;
    pthread_mutex_unlock(&net->lock);
    return yes;
}

static void *keep(void *arg)
{
    struct dg_net *net = arg;
    struct epoll_event events[EVENTS];
    uint64_t next_tick = 0;
    while (!atomic_load(&net->stop)) {
        int n = epoll_wait(net->epoll_fd, events, EVENTS, needs_ticks(net) ? TICK_MS : -1);
        bool linger = false;
        for (int i = 0; i < n; i++) {
            uint64_t tag = events[i].data.u64;
            uint64_t count;
            if (tag == TAG_LISTEN || tag == TAG_LISTEN_LOCAL)
                accept_all(net, net->listen_fds[tag == TAG_LISTEN_LOCAL]);
            else if (tag == TAG_LINGER)
                linger = true;
            else if (tag != TAG_WAKE)
                on_hangup(net, tag);
            else if (read(net->wake_fd, &count, sizeof count) < 0)
                continue; /* nothing to take: another event said so first */
        }
        if (atomic_load(&net->drain))
            begin_drain(net);
        uint64_t now = dg_clock_ns();
        if (linger || now >= next_tick)
            tend_lingering(net, now);
        if (now < next_tick)
            continue;
        next_tick = now + TICK_MS * MS;
        close_slow(net, now);
        tell_late(net, now);
        retry_accept(net, now);
    }
    return NULL;
}

static int open_fds(struct dg_net *net, struct dg_error *err)
{
    struct epoll_event wake_ev = {.events = EPOLLIN, .data.u64 = TAG_WAKE};
    net->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    net->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (net->epoll_fd < 0 || net->wake_fd < 0 || set_listening(net, EPOLL_CTL_ADD) != 0 ||
        epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, net->wake_fd, &wake_ev) != 0)
        return dg_error_set(err, DG_EIO, "cannot set up epoll: %s", strerror(errno));
    return DG_OK;
}

void dg_net_close_listeners(const int fds[DG_NET_LISTENERS])
{
    for (int i = 0; i < DG_NET_LISTENERS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int dg_net_open(const int listen_fds[DG_NET_LISTENERS], const struct dg_net_options *options,
    struct dg_net **out, struct dg_error *err)
{
    struct dg_net *net = calloc(1, sizeof *net);
    if (!net) {
        dg_net_close_listeners(listen_fds);
        return dg_error_set(err, DG_ENOMEM, "no memory for the connection keeper");
    }
    net->o = *options;
    memcpy(net->listen_fds, listen_fds, sizeof net->listen_fds);
    net->epoll_fd = net->wake_fd = -1;
    pthread_mutex_init(&net->lock, NULL);
    int rc = open_fds(net, err);
    if (rc != DG_OK)
        goto out;
    net->n_slots = options->max_connections + MAX_CLOSING;
    net->slots = calloc(net->n_slots, sizeof *net->slots);
    net->clients = dg_clients_open(net->n_slots);
    if (!net->slots || !net->clients) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %u connections", options->max_connections);
        goto out;
    }
    for (uint32_t i = 0; i < net->n_slots; i++) {
        net->slots[i].fd = -1;
        net->slots[i].next_free = i + 1 < net->n_slots ? i + 1 : UINT32_MAX;
    }
    *out = net; /* before the thread: the first connection may come at once, and its owner asks for
                   it */
    int number = pthread_create(&net->thread, NULL, keep, net);
    net->has_thread = number == 0;
    if (number != 0)
        rc = dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
out:
    if (rc != DG_OK) {
        *out = NULL;
        dg_net_close(net);
    }
    return rc;
}

void dg_net_close(struct dg_net *net)
{
    if (!net)
        return;
    if (net->has_thread) {
        atomic_store(&net->stop, true);
        wake(net);
        pthread_join(net->thread, NULL);
    }
    for (size_t i = 0; i < net->n_linger; i++)
        close(net->linger[i].fd);
    dg_net_close_listeners(net->listen_fds);
    if (net->epoll_fd >= 0)
        close(net->epoll_fd);
    if (net->wake_fd >= 0)
        close(net->wake_fd);
    pthread_mutex_destroy(&net->lock);
    dg_clients_close(net->clients);
    free(net->slots);
    free(net);
}
