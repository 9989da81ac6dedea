#include "server/http/systemd.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

bool dg_systemd_notify(const char *lines)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t n = path ? strlen(path) : 0;
    if ((n < 2) || n >= sizeof a.sun_path || (path[0] != '/' && path[0] != '@'))
        return false;
    memcpy(a.sun_path, path, n);
    if (path[0] == '@')
        a.sun_path[0] = '\0'; /* an abstract name, not in the file system */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    bool sent = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&a, size) > 0;
    close(fd);
    return sent;
}

void dg_systemd_reloading(void)
{
    char lines[96];
    snprintf(lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%llu",
        (unsigned long long)(dg_clock_ns() / 1000));
    dg_systemd_notify(lines);
}

/* A variable as a whole number; 0: absent, wrong, or meant for another process. */
static long long read_variable(const char *name, const char *pid_name)
{
    const char *value = getenv(name), *pid = getenv(pid_name);
    char *end;
    if (!value || (pid && strtoll(pid, NULL, 10) != (long long)getpid()))
        return 0;
    long long n = strtoll(value, &end, 10);
    return *end == '\0' && n > 0 ? n : 0;
}

uint64_t dg_systemd_watchdog_ns(void)
{
    return (uint64_t)read_variable("WATCHDOG_USEC", "WATCHDOG_PID") * 1000;
}

static bool listens(int fd)
{
    int type = 0, accepts = 0;
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof type, m = sizeof accepts, k = sizeof a;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &m) == 0 && accepts &&
           getsockname(fd, (struct sockaddr *)&a, &k) == 0 &&
           (a.ss_family == AF_INET || a.ss_family == AF_INET6);
}

int dg_systemd_listen_fd(int *fd, struct dg_error *err)
{
    long long n = getenv("LISTEN_PID") ? read_variable("LISTEN_FDS", "LISTEN_PID") : 0;
    *fd = -1;
    if (n == 0)
        return DG_OK;
    if (n > 1)
        return dg_error_set(err, DG_EINVAL, "%lld sockets were passed, the server takes one", n);
    if (!listens(FIRST_FD))
        return dg_error_set(err, DG_EINVAL, "the passed socket is not a listening TCP socket");
    int flags = fcntl(FIRST_FD, F_GETFL);
    if (flags < 0 || fcntl(FIRST_FD, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) < 0)
        return dg_error_set(err, DG_EIO, "cannot set up the passed socket: %s", strerror(errno));
    *fd = FIRST_FD;
    return DG_OK;
}
