/* What systemd and compatible managers expect of a service: that it reports its state
 * (sd_notify(3): one datagram to $NOTIFY_SOCKET; the protocol is documented and stable, so no
 * library is needed) and takes over a socket that already listens (sd_listen_fds(3)). Without the
 * environment variables nothing happens. Any thread. */
#ifndef DG_SERVER_HTTP_SYSTEMD_H
#define DG_SERVER_HTTP_SYSTEMD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Send lines such as "READY=1" to the service manager. False: nothing was sent. */
bool dg_systemd_notify(const char *lines);
/* Send "RELOADING=1" with the timestamp that must accompany it. */
void dg_systemd_reloading(void);

/* How often the service manager expects WATCHDOG=1, in nanoseconds; 0: never. */
uint64_t dg_systemd_watchdog_ns(void);

/* The listening socket that was passed to the process, made non-blocking and close-on-exec, in *fd;
 * -1: none was. DG_EINVAL when it is no listening TCP socket, or several were passed. */
int dg_systemd_listen_fd(int *fd, struct dg_error *err);

#endif
