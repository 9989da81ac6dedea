/* The listening socket: resolve, bind, listen. Any thread; knows no HTTP. */
#ifndef DG_SERVER_HTTP_LISTEN_H
#define DG_SERVER_HTTP_LISTEN_H

#include "base/error.h"

#include <stdint.h>

/* Open a non-blocking listening socket on host:port in *fd (the caller closes it); port 0 takes a
 * free one. DG_EIO says in words what is wrong (port taken, no such address, no permission) and
 * which flag helps. */
int dg_listen_open(const char *host, uint16_t port, int *fd, struct dg_error *err);

/* The same on a Unix socket that owner and group may use; a stale socket that a dead server left at
 * path is replaced. DG_EIO: another server answers there, or the file is no socket, or another
 * kind's. */
int dg_listen_open_unix(const char *path, int *fd, struct dg_error *err);

/* Check what can be told while another server may hold both: that the host's name resolves, and
 * that unix_socket ("": none) may be made in its folder. */
int dg_listen_check(const char *host, const char *unix_socket, struct dg_error *err);

/* The port fd is bound to; 0 when it cannot be told. */
uint16_t dg_listen_port(int fd);

#endif
