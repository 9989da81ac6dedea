/* Admission of connections: each accepted connection gets a place, made if necessary by closing an
 * idle one, or a refusal. The keeper's thread only. */
#include "server/http/net_internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define STARVED_EVICTIONS 8           /* idle connections per tick */
#define STARVED_LOG_NS 60000000000ull /* interval between log lines about it */
#define SILENT_NS 1000000000ull       /* a client without a request may be evicted after this */

/* True if nobody loses anything when this connection is closed. Unread bytes mean a request that
 * has not been read yet. Lock held. */
static bool may_evict(const struct dg_net_slot *s, uint64_t now)
{
    if (s->fd < 0 || s->evicted)
        return false;
    if (s->phase != DG_NET_IDLE && (s->phase != DG_NET_HEADERS || now < s->since_ns + SILENT_NS))
        return false;
    return s->phase == DG_NET_HEADERS || !dg_net_has_unread(s);
}

/* Close the connection that has been idle, or reading headers, longest to make a place: one of the
 * client's own, or (client NULL) anybody's. False: none may be evicted. Lock held. */
static bool evict(struct dg_net *net, const uint64_t *client)
{
    struct dg_net_slot *oldest = NULL;
    uint64_t now = dg_clock_ns();
    if (net->closing == DG_NET_MAX_CLOSING)
        return false;
    for (uint32_t i = 0; i < net->n_slots; i++) {
        struct dg_net_slot *s = &net->slots[i];
        if ((!client || s->client == *client) && (!oldest || s->since_ns < oldest->since_ns) &&
            may_evict(s, now))
            oldest = s;
    }
    if (!oldest)
        return false;
    shutdown(oldest->fd, SHUT_RDWR); /* its owner reads end-of-file and closes it */
    oldest->evicted = true;
    dg_clients_remove(net->clients, oldest->client);
    net->closing++;
    net->counts.evicted++;
    return true;
}

enum verdict { PLACE, NO_PLACE, TOO_MANY_OF_CLIENT };

/* List the connection as coming until its owner enters it. Lock held. */
static void put_coming(struct dg_net *net, int fd, uint64_t client)
{
    struct stat what = {0};
    uint64_t missed; /* a closed connection that had the same descriptor */
    if (dg_net_came(net, fd, &missed))
        dg_clients_remove(net->clients, missed);
    fstat(fd, &what);
    net->coming[net->n_coming++] = (struct dg_net_coming){fd, what.st_ino, client};
}

/* Take a place for a connection that has been accepted. Connections from this machine (a proxy, a
 * probe, the operator) have no per-address limit and some reserved places. */
static enum verdict take_place(struct dg_net *net, int fd, uint64_t client)
{
    enum verdict v = PLACE;
    bool local = dg_client_is_local(client);
    pthread_mutex_lock(&net->lock);
    size_t most = net->o.max_connections - (local ? 0 : net->o.kept_local);
    if (!local && net->o.limits.max_per_client > 0 &&
        dg_clients_count(net->clients, client) >= net->o.limits.max_per_client &&
        !evict(net, &client))
        v = TOO_MANY_OF_CLIENT;
    else if (net->count - net->closing + net->n_coming >= most && !evict(net, NULL))
        v = NO_PLACE;
    else if (!dg_clients_add(net->clients, client))
        v = NO_PLACE;
    else
        put_coming(net, fd, client);
    pthread_mutex_unlock(&net->lock);
    return v;
}

static void give_place_back(struct dg_net *net, int fd)
{
    uint64_t client;
    pthread_mutex_lock(&net->lock);
    if (dg_net_came(net, fd, &client))
        dg_clients_remove(net->clients, client);
    pthread_mutex_unlock(&net->lock);
}

/* True if the descriptor is still the socket that was handed over, and data can still pass through
 * it. */
static bool is_coming(const struct dg_net_coming *c)
{
    struct stat what;
    struct pollfd look = {.fd = c->fd};
    if (fstat(c->fd, &what) != 0 || what.st_ino != c->inode)
        return false;
    return poll(&look, 1, 0) == 0 || !(look.revents & (POLLHUP | POLLERR));
}

void dg_net_miss(struct dg_net *net)
{
    pthread_mutex_lock(&net->lock);
    for (size_t i = net->n_coming; i-- > 0;) {
        const struct dg_net_coming c = net->coming[i];
        if (is_coming(&c))
            continue;
        net->coming[i] = net->coming[--net->n_coming];
        dg_clients_remove(net->clients, c.client);
    }
    pthread_mutex_unlock(&net->lock);
}

/* Refuse a connection and let it linger: closing it with the request unread would reset it and lose
 * the refusal. */
static void refuse_connection(struct dg_net *net, int fd, enum verdict v, bool plain)
{
    if (plain)
        dg_net_refuse(fd, 503, "overloaded",
            v == TOO_MANY_OF_CLIENT ? "too many connections are open from this address"
                                    : "too many connections are open");
    shutdown(fd, SHUT_WR);
    pthread_mutex_lock(&net->lock);
    net->counts.refused++;
    dg_net_linger(net, fd);
    pthread_mutex_unlock(&net->lock);
    close(fd);
}

int dg_net_set_listening(struct dg_net *net, int how)
{
    int rc = 0;
    for (int i = 0; i < DG_NET_LISTENERS; i++) {
        struct epoll_event ev = {.events = EPOLLIN, .data.u64 = (uint64_t)i};
        if (net->listen_fds[i] >= 0 && !(i == 0 && net->held) &&
            epoll_ctl(net->epoll_fd, how, net->listen_fds[i], &ev) != 0 && errno != EEXIST)
            rc = -1;
    }
    return rc;
}

static void take_in(struct dg_net *net, int fd, const struct sockaddr_storage *addr, socklen_t n)
{
    const struct sockaddr *from = (const struct sockaddr *)addr;
    uint64_t client = dg_client_of(from, n);
    enum verdict v = take_place(net, fd, client);
    if (v != PLACE)
        refuse_connection(net, fd, v, dg_net_is_plain(net, from));
    else if (!net->o.accepted(net->o.arg, fd, from, n))
        give_place_back(net, fd);
}

void dg_net_fill_spares(struct dg_net *net)
{
    for (int i = 0; i < DG_NET_SPARES; i++)
        if (net->spares[i] < 0)
            net->spares[i] = fcntl(net->wake_fd, F_DUPFD_CLOEXEC, 0);
}

/* Accept a connection with a spare descriptor. One from this machine keeps the descriptor until it
 * leaves, so health checks are answered. Others are refused: waiting, they would block those behind
 * them in the queue. False: none is waiting, or no spare is left. */
static bool accept_spare(struct dg_net *net, int listen_fd)
{
    struct sockaddr_storage addr;
    const struct sockaddr *from = (const struct sockaddr *)&addr;
    socklen_t n = sizeof addr;
    int i = 0;
    while (i < DG_NET_SPARES && net->spares[i] < 0)
        i++;
    if (i == DG_NET_SPARES)
        return false;
    close(net->spares[i]);
    net->spares[i] = -1;
    int fd = accept4(listen_fd, (struct sockaddr *)&addr, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && dg_client_is_local(dg_client_of(from, n))) {
        take_in(net, fd, &addr, n);
        return true;
    }
    if (fd >= 0)
        refuse_connection(net, fd, NO_PLACE, dg_net_is_plain(net, from));
    dg_net_fill_spares(net);
    return fd >= 0;
}

/* Out of descriptors or memory: stop watching the listening sockets, or the event would recur at
 * once. Idle connections are evicted as when all places are taken; if none is idle, connections
 * from this machine get the spare descriptors. */
static void starve(struct dg_net *net, int listen_fd)
{
    const int why = errno;
    int evicted = 0;
    const uint64_t now = dg_clock_ns();
    dg_net_set_listening(net, EPOLL_CTL_DEL);
    net->retry_ns = now + DG_NET_TICK_MS * DG_NET_MS;
    pthread_mutex_lock(&net->lock);
    while (evicted < STARVED_EVICTIONS && evict(net, NULL))
        evicted++;
    const size_t count = net->count;
    pthread_mutex_unlock(&net->lock);
    while (evicted == 0 && why != ENOMEM && accept_spare(net, listen_fd))
        continue;
    if (net->starved_ns != 0 && now - net->starved_ns < STARVED_LOG_NS)
        return;
    net->starved_ns = now;
    dg_log(DG_LOG_WARN, "connections wait message=\"%s\" connections=%zu", strerror(why), count);
}

void dg_net_accept(struct dg_net *net, int listen_fd)
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
        if (errno != EAGAIN)
            starve(net, listen_fd);
        return;
    }
}

void dg_net_retry_accept(struct dg_net *net, uint64_t now)
{
    if (net->retry_ns == 0 || now < net->retry_ns)
        return;
    dg_net_fill_spares(net); /* before others take the freed descriptors */
    if (dg_net_set_listening(net, EPOLL_CTL_ADD) == 0)
        net->retry_ns = 0;
}
