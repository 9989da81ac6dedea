/* Closing a socket with unread bytes resets the connection, and what was sent last is lost with it.
 * So a refused client's socket is kept and read dry until the client has sent its body: many
 * programs read the reply only then. Guarded by the net's lock. */
#include "server/http/net_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#define QUIET_NS 2000000000ull /* for as long as nothing comes */
#define LINGER_NS 30000000000ull
#define LINGER_BYTES (64u << 20)

static void drop(struct dg_net *net, size_t i)
{
    close(net->linger[i].fd);
    net->linger[i] = net->linger[--net->n_linger];
}

/* The newest refusal is on its way, and the oldest has most likely been read. */
static void drop_oldest(struct dg_net *net)
{
    size_t oldest = 0;
    for (size_t i = 1; i < net->n_linger; i++)
        if (net->linger[i].end_ns < net->linger[oldest].end_ns)
            oldest = i;
    drop(net, oldest);
}

void dg_net_linger(struct dg_net *net, int fd)
{
    const uint64_t now = dg_clock_ns();
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return;
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = DG_NET_TAG_LINGER};
    if (epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, copy, &ev) != 0) {
        close(copy);
        return;
    }
    if (net->n_linger == DG_NET_MAX_LINGERING)
        drop_oldest(net);
    net->linger[net->n_linger++] = (struct dg_net_lingering){
        .fd = copy, .until_ns = now + QUIET_NS, .end_ns = now + LINGER_NS};
}

void dg_net_tend_lingering(struct dg_net *net, uint64_t now)
{
    char sink[16384];
    pthread_mutex_lock(&net->lock);
    for (size_t i = 0; i < net->n_linger;) {
        struct dg_net_lingering *l = &net->linger[i];
        const size_t before = l->bytes;
        ssize_t k;
        do {
            k = recv(l->fd, sink, sizeof sink, MSG_DONTWAIT);
            if (k > 0)
                l->bytes += (size_t)k;
        } while (k > 0 && l->bytes < LINGER_BYTES);
        if (l->bytes > before)
            l->until_ns = now + QUIET_NS;
        bool over = k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR) ||
                    l->bytes >= LINGER_BYTES || now >= l->until_ns || now >= l->end_ns;
        if (over)
            drop(net, i);
        else
            i++;
    }
    pthread_mutex_unlock(&net->lock);
}
