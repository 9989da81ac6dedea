#include "bench/load/idle.h"

#include "bench/load/reply.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int dg_load_connect(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = 5};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

static bool ask(int fd, struct dg_load_reply *r)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    char bytes[2048];
    ssize_t n;
    int got = 0;
    dg_load_reply_reset(r);
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
        return false;
    while (got == 0 && (n = recv(fd, bytes, sizeof bytes, 0)) > 0) {
        dg_buffer_add(&r->in, bytes, (size_t)n);
        got = dg_load_reply_feed(r, false);
    }
    return got > 0 && r->status == 200;
}

int dg_load_idle_open(struct dg_load_idle *idle, uint16_t port, size_t n, struct dg_error *err)
{
    struct dg_load_reply r;
    int rc = DG_OK;
    idle->n = 0;
    if (!(idle->fds = calloc(n ? n : 1, sizeof *idle->fds)))
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu connections", n);
    dg_load_reply_init(&r);
    while (idle->n < n && rc == DG_OK) {
        int fd = dg_load_connect(port);
        if (fd < 0) {
            rc = dg_error_set(err, DG_EIO, "idle connection %zu: %s", idle->n, strerror(errno));
            break;
        }
        idle->fds[idle->n++] = fd;
        if (!ask(fd, &r))
            rc = dg_error_set(err, DG_EIO, "idle connection %zu is not answered (status %d)",
                idle->n - 1, r.status);
    }
    dg_load_reply_deinit(&r);
    return rc;
}

size_t dg_load_idle_check(struct dg_load_idle *idle)
{
    struct dg_load_reply r;
    size_t alive = 0;
    dg_load_reply_init(&r);
    for (size_t i = 0; i < idle->n; i++)
        alive += ask(idle->fds[i], &r);
    dg_load_reply_deinit(&r);
    return alive;
}

void dg_load_idle_close(struct dg_load_idle *idle)
{
    for (size_t i = 0; i < idle->n; i++)
        close(idle->fds[i]);
    free(idle->fds);
    idle->fds = NULL;
    idle->n = 0;
}
