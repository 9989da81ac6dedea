/* What systemd and its kind ask of a service: to be told how it is (sd_notify(3): one datagram to
 * $NOTIFY_SOCKET; the protocol is documented and stable, so no library for it), and to take over a
 * socket that listens already (sd_listen_fds(3)). Without the variables nothing happens. Any
 * thread. */
#ifndef DG_SERVER_HTTP_SYSTEMD_H
#define DG_SERVER_HTTP_SYSTEMD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Tell the service manager: lines such as "READY=1". False: nobody listens. */
bool dg_systemd_notify(const char *lines);
/* "RELOADING=1" with the time that goes with it. */
void dg_systemd_reloading(void);

/* How often it wants to hear WATCHDOG=1, in nanoseconds; 0: never. */
uint64_t dg_systemd_watchdog_ns(void);

/* The listening socket that was passed on, made non-blocking and ours alone, in *fd; -1: none was.
 * DG_EINVAL when it is no listening TCP socket, or several were passed. */
int dg_systemd_listen_fd(int *fd, struct dg_error *err);

#endif
