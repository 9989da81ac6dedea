/* Closing a socket with unread bytes resets the connection, and what was sent last is lost with it.
 * So a refused client's socket is kept a moment longer and read dry. Guarded by the net's lock. */
#include "server/http/net_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LINGER_NS 2000000000ull
#define LINGER_BYTES (64u << 20)

void dg_net_linger(struct dg_net *net, int fd)
{
    if (net->n_linger == DG_NET_MAX_LINGERING)
        return;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return;
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = DG_NET_TAG_LINGER};
    if (epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, copy, &ev) != 0) {
        close(copy);
        return;
    }
    net->linger[net->n_linger++] =
        (struct dg_net_lingering){.fd = copy, .until_ns = dg_clock_ns() + LINGER_NS};
}

void dg_net_tend_lingering(struct dg_net *net, uint64_t now)
{
    char sink[16384];
    pthread_mutex_lock(&net->lock);
    for (size_t i = 0; i < net->n_linger;) {
        struct dg_net_lingering *l = &net->linger[i];
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
