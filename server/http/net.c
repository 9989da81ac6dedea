/* DESIGN. Each connection has a slot; epoll events carry slot number and generation, so that an
 * event that was fetched before its connection left matches no slot. Sockets are registered once,
 * edge-triggered, for hang-ups alone: no wake-up per request. The mutex guards the slots, and a
 * socket is only shut down while its slot is entered, that is, before its owner closes it: a reused
 * descriptor is never hit. */
#include "server/http/net_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NO_SLOT UINT32_MAX

/* Wakes the keeper. */
static void wake(struct dg_net *net)
{
    uint64_t one = 1;
    ssize_t k = write(net->wake_fd, &one, sizeof one); /* counter full: already awake */
    (void)k;
}

struct dg_net_slot *dg_net_find(struct dg_net *net, uint64_t id)
{
    uint32_t index = (uint32_t)id;
    if (index >= net->n_slots)
        return NULL;
    struct dg_net_slot *s = &net->slots[index];
    return s->fd >= 0 && s->generation == (uint32_t)(id >> 32) ? s : NULL;
}

bool dg_net_has_unread(const struct dg_net_slot *s)
{
    char byte;
    return recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

bool dg_net_is_plain(const struct dg_net *net, const struct sockaddr *addr)
{
    return !net->o.encrypted || (addr && addr->sa_family == AF_UNIX);
}

bool dg_net_came(struct dg_net *net, int fd, uint64_t *client)
{
    size_t i = 0;
    while (i < net->n_coming && net->coming[i].fd != fd)
        i++;
    if (i == net->n_coming)
        return false;
    *client = net->coming[i].client;
    net->coming[i] = net->coming[--net->n_coming];
    return true;
}

uint64_t dg_net_enter(struct dg_net *net, int fd, const struct sockaddr *addr, socklen_t n)
{
    uint64_t id = 0, client = dg_client_of(addr, n);
    pthread_mutex_lock(&net->lock);
    if (!dg_net_came(net, fd, &client)) /* dg_net_miss removed it, or it was never handed over */
        dg_clients_add(net->clients, client);
    uint32_t index = net->first_free;
    if (index != NO_SLOT)
        net->first_free = net->slots[index].next_free;
    else if (net->n_slots < net->max_slots)
        index = net->n_slots++;
    if (index == NO_SLOT) {
        dg_clients_remove(net->clients, client);
    } else {
        struct dg_net_slot *s = &net->slots[index];
        s->fd = fd;
        s->generation = s->generation >= UINT32_MAX - 1 ? 1 : s->generation + 1;
        s->phase = DG_NET_HEADERS;
        s->timed_out = s->evicted = false;
        s->gone_ns = 0;
        s->plain = dg_net_is_plain(net, addr);
        s->client = client;
        s->user = NULL;
        s->since_ns = dg_clock_ns();
        id = (uint64_t)s->generation << 32 | index;
        net->count++;
        struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = id};
        /* on failure only the hang-up watch is lost */
        epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
    }
    bool first = net->count == 1;
    pthread_mutex_unlock(&net->lock);
    if (first)
        wake(net); /* the keeper sleeps without a timeout when it has nothing to time */
    return id;
}

void dg_net_leave(struct dg_net *net, uint64_t id, bool linger)
{
    pthread_mutex_lock(&net->lock);
    struct dg_net_slot *s = dg_net_find(net, id);
    if (s) {
        epoll_ctl(net->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
        if (linger && s->gone_ns == 0)
            dg_net_linger(net, s->fd);
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
    struct dg_net_slot *s = dg_net_find(net, id);
    if (s) {
        s->phase = phase;
        s->since_ns = dg_clock_ns();
    }
    pthread_mutex_unlock(&net->lock);
}

bool dg_net_watch(struct dg_net *net, uint64_t id, void *user, uint64_t due_ns)
{
    pthread_mutex_lock(&net->lock);
    struct dg_net_slot *s = dg_net_find(net, id);
    /* a connection beyond the table is answered but not watched */
    bool there = !s || s->gone_ns == 0;
    if (s && there) {
        s->user = user;
        s->due_ns = due_ns;
    }
    pthread_mutex_unlock(&net->lock);
    return there;
}

void dg_net_due(struct dg_net *net, uint64_t id, uint64_t due_ns)
{
    pthread_mutex_lock(&net->lock);
    struct dg_net_slot *s = dg_net_find(net, id);
    if (s)
        s->due_ns = due_ns;
    pthread_mutex_unlock(&net->lock);
}

bool dg_net_gone(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    const struct dg_net_slot *s = dg_net_find(net, id);
    bool gone = s && s->gone_ns != 0;
    pthread_mutex_unlock(&net->lock);
    return gone;
}

bool dg_net_timed_out(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    const struct dg_net_slot *s = dg_net_find(net, id);
    bool yes = s && s->timed_out;
    pthread_mutex_unlock(&net->lock);
    return yes;
}

void dg_net_unwatch(struct dg_net *net, uint64_t id)
{
    pthread_mutex_lock(&net->lock);
    struct dg_net_slot *s = dg_net_find(net, id);
    if (s)
        s->user = NULL;
    pthread_mutex_unlock(&net->lock);
}

/* The lock is held. */
static size_t n_open(const struct dg_net *net)
{
    return net->count + net->n_coming;
}

size_t dg_net_count(struct dg_net *net)
{
    pthread_mutex_lock(&net->lock);
    size_t n = n_open(net);
    pthread_mutex_unlock(&net->lock);
    return n;
}

void dg_net_set_limits(struct dg_net *net, const struct dg_net_limits *limits)
{
    pthread_mutex_lock(&net->lock);
    net->o.limits = *limits;
    pthread_mutex_unlock(&net->lock);
}

void dg_net_counts(struct dg_net *net, struct dg_net_counts *out)
{
    pthread_mutex_lock(&net->lock);
    *out = net->counts;
    out->open = n_open(net);
    pthread_mutex_unlock(&net->lock);
}

void dg_net_release(struct dg_net *net)
{
    atomic_store(&net->release, true);
    wake(net);
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

static int open_fds(struct dg_net *net, struct dg_error *err)
{
    struct epoll_event wake_ev = {.events = EPOLLIN, .data.u64 = DG_NET_TAG_WAKE};
    net->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    net->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (net->epoll_fd < 0 || net->wake_fd < 0 || dg_net_set_listening(net, EPOLL_CTL_ADD) != 0 ||
        epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, net->wake_fd, &wake_ev) != 0)
        return dg_error_set(err, DG_EIO, "cannot set up epoll: %s", strerror(errno));
    dg_net_fill_spares(net);
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
    net->held = options->held;
    memcpy(net->listen_fds, listen_fds, sizeof net->listen_fds);
    net->epoll_fd = net->wake_fd = -1;
    for (int i = 0; i < DG_NET_SPARES; i++)
        net->spares[i] = -1;
    pthread_mutex_init(&net->lock, NULL);
    int rc = open_fds(net, err);
    if (rc != DG_OK)
        goto out;
    net->max_slots = options->max_connections + DG_NET_MAX_CLOSING;
    net->first_free = NO_SLOT;
    net->slots = calloc(net->max_slots, sizeof *net->slots);
    net->coming = calloc(net->max_slots, sizeof *net->coming);
    net->clients = dg_clients_open(net->max_slots);
    if (!net->slots || !net->coming || !net->clients) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %u connections", options->max_connections);
        goto out;
    }
    /* Set before the thread starts: the first connection may come at once, and its owner reads
     * *out. */
    *out = net;
    int number = pthread_create(&net->thread, NULL, dg_net_keep, net);
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
    for (int i = 0; i < DG_NET_SPARES; i++)
        if (net->spares[i] >= 0)
            close(net->spares[i]);
    pthread_mutex_destroy(&net->lock);
    dg_clients_close(net->clients);
    free(net->coming);
    free(net->slots);
    free(net);
}
