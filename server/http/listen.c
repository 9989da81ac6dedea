#include "server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

static int bind_error(const char *host, uint16_t port, int number, struct dg_error *err)
{
    switch (number) {
    case EADDRINUSE:
        return dg_error_field(err, DG_EIO, "port",
            "port %u on %s is taken by another program: choose a free one with --port", port, host);
    case EACCES:
        return dg_error_field(err, DG_EIO, "port",
            "port %u needs more rights than this user has: choose one above 1023 with --port",
            port);
    case EADDRNOTAVAIL:
        return dg_error_field(err, DG_EIO, "host",
            "%s is not an address of this machine: choose another with --host", host);
    default:
        return dg_error_field(
            err, DG_EIO, "port", "cannot listen on %s port %u: %s", host, port, strerror(number));
    }
}

static int listen_on(const struct addrinfo *a)
{
    int on = 1;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) {
        int off = 0; /* "::" serves IPv4 clients too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

static int resolve(const char *host, uint16_t port, struct addrinfo **list, struct dg_error *err)
{
    char service[8];
    struct addrinfo hints = {0};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    snprintf(service, sizeof service, "%u", port);
    int rc = getaddrinfo(host, service, &hints, list);
    return rc == 0 ? DG_OK
                   : dg_error_field(err, DG_EIO, "host", "cannot resolve %s: %s (see --host)", host,
                         gai_strerror(rc));
}

int dg_listen_open(const char *host, uint16_t port, int *fd, struct dg_error *err)
{
    struct addrinfo *list = NULL;
    int rc = resolve(host, port, &list, err);
    if (rc != DG_OK)
        return rc;
    int number = EADDRNOTAVAIL, found = -1;
    for (const struct addrinfo *a = list; a && found < 0; a = a->ai_next) {
        found = listen_on(a);
        if (found < 0)
            number = errno;
    }
    freeaddrinfo(list);
    if (found < 0)
        return bind_error(host, port, number, err);
    *fd = found;
    return DG_OK;
}

static int unix_error(const char *path, const char *why, struct dg_error *err)
{
    return dg_error_field(
        err, DG_EIO, "unix_socket", "cannot listen on %s: %s (see --unix-socket)", path, why);
}

static int unix_address(const char *path, struct sockaddr_un *out, struct dg_error *err)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof out->sun_path)
        return unix_error(path, "a path of at most 107 bytes is allowed", err);
    memcpy(out->sun_path, path, strlen(path));
    return DG_OK;
}

enum unix_path { PATH_FREE, PATH_STALE, PATH_ANSWERS };

/* Tells what is at the path. An error: something that is not ours to remove. */
static int look_at_path(const struct sockaddr_un *a, enum unix_path *out, struct dg_error *err)
{
    struct stat there;
    *out = PATH_FREE;
    if (lstat(a->sun_path, &there) != 0)
        return errno == ENOENT ? DG_OK : unix_error(a->sun_path, strerror(errno), err);
    if (!S_ISSOCK(there.st_mode))
        return unix_error(a->sun_path, "the path exists and is not a socket", err);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return unix_error(a->sun_path, strerror(errno), err);
    int number = connect(fd, (const struct sockaddr *)a, sizeof *a) == 0 ? 0 : errno;
    close(fd);
    if (number == EPROTOTYPE)
        return unix_error(a->sun_path, "the path exists and is a socket of another kind", err);
    if (number == ENOENT)
        return DG_OK;
    *out = number == ECONNREFUSED ? PATH_STALE : PATH_ANSWERS;
    /* EAGAIN: its backlog is full */
    return number == 0 || number == EAGAIN || number == ECONNREFUSED
               ? DG_OK
               : unix_error(a->sun_path, strerror(number), err);
}

/* Removes a socket that nobody answers any more. */
static int clear_path(const struct sockaddr_un *a, struct dg_error *err)
{
    enum unix_path is;
    int rc = look_at_path(a, &is, err);
    if (rc == DG_OK && is == PATH_ANSWERS)
        return unix_error(a->sun_path, "another server uses this socket", err);
    if (rc == DG_OK && is == PATH_STALE && unlink(a->sun_path) != 0)
        return unix_error(a->sun_path, strerror(errno), err);
    return rc;
}

int dg_listen_open_unix(const char *path, int *out, struct dg_error *err)
{
    struct sockaddr_un a;
    int rc = unix_address(path, &a, err);
    if (rc == DG_OK)
        rc = clear_path(&a, err);
    if (rc != DG_OK)
        return rc;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* Nobody can connect before listen, so the mode is set in time. */
    if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof a) != 0 || chmod(path, 0660) != 0 ||
        listen(fd, BACKLOG) != 0) {
        rc = unix_error(path, strerror(errno), err);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    *out = fd;
    return DG_OK;
}

/* The path is free, or has a socket, which may be in use by the server that is to be replaced. */
static int check_unix(const char *path, struct dg_error *err)
{
    char folder[sizeof((struct sockaddr_un *)0)->sun_path + 1] = ".";
    const char *slash = strrchr(path, '/');
    struct sockaddr_un a;
    enum unix_path is;
    int rc = unix_address(path, &a, err);
    if (rc == DG_OK)
        rc = look_at_path(&a, &is, err);
    if (rc != DG_OK)
        return rc;
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return unix_error(path, strerror(errno), err);
    return DG_OK;
}

int dg_listen_check(const char *host, const char *unix_socket, struct dg_error *err)
{
    struct addrinfo *list = NULL;
    int rc = resolve(host, 0, &list, err);
    if (rc != DG_OK)
        return rc;
    freeaddrinfo(list);
    return unix_socket[0] != '\0' ? check_unix(unix_socket, err) : DG_OK;
}

uint16_t dg_listen_port(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        return 0;
    if (a.ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)&a)->sin_port);
    if (a.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&a)->sin6_port);
    return 0;
}
