/* The sockets' keeper: one thread that accepts, notices clients that hang up, and closes
 * connections that are too slow, or idle where others need their places. The HTTP library reads and
 * writes the sockets, but sees neither a hang-up while a request waits for its answer nor a client
 * that drips one byte a second; this does. Knows no HTTP beyond two fixed refusals. A client that
 * closes only its sending side counts as gone: the two look the same on the socket. Any thread may
 * call; callbacks come from the keeper's thread, without its lock held. */
#ifndef DG_SERVER_HTTP_NET_H
#define DG_SERVER_HTTP_NET_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct dg_net;

/* What a connection is doing; each phase has its own time limit. */
enum dg_net_phase {
    DG_NET_HEADERS, /* a request's first byte to the end of its headers (also: connected, silent) */
    DG_NET_BODY,
    DG_NET_HANDLING, /* no limit here: requests have deadlines of their own */
    DG_NET_WRITING,
    DG_NET_IDLE, /* kept alive between requests */
    DG_NET_PHASES
};

struct dg_net_limits {
    /* connections of one address; 0 = none */
    uint32_t max_per_client;
    /* 0 = none */
    uint32_t limit_ms[DG_NET_PHASES];
    /* see quiet; 0: never */
    uint32_t quiet_ms;
};

struct dg_net_options {
    /* above: the longest idle one is closed, else 503 at once */
    uint32_t max_connections;
    /* of max_connections, only for clients on this machine */
    uint32_t kept_local;
    /* Connections but those of the Unix socket speak TLS: nothing is written onto them here, a
     * refused one is closed without words. */
    bool encrypted;
    struct dg_net_limits limits;
    /* first argument of the callbacks */
    void *arg;
    /* Takes fd, and enters it soon; false: it did not, and has closed it. */
    bool (*accepted)(void *arg, int fd, const struct sockaddr *addr, socklen_t n);
    /* keep user alive; called with the lock held: count, nothing else */
    void (*pin)(void *user);
    /* the client of a watched request hung up; drops the pin */
    void (*gone)(void *user);
    /* its answer is late; drops the pin */
    void (*late)(void *user);
    /* Its connection is in DG_NET_HANDLING for quiet_ms, once more for each; drops the pin. */
    void (*quiet)(void *user);
};

#define DG_NET_LISTENERS 2

/* Accepts from listen_fds (-1: none; owned from here on) as soon as dg_net_open returns. */
int dg_net_open(const int listen_fds[DG_NET_LISTENERS], const struct dg_net_options *options,
    struct dg_net **out, struct dg_error *err);
void dg_net_close_listeners(const int fds[DG_NET_LISTENERS]);
/* Ends the thread; connections still entered are forgotten, not closed. NULL is fine. */
void dg_net_close(struct dg_net *net);

/* Others from now on. */
void dg_net_set_limits(struct dg_net *net, const struct dg_net_limits *limits);

/* Of what is no request yet. All plain ASCII without quotes. */
struct dg_net_refusal {
    /* 408 or 503 */
    int status;
    const char *code, *message;
};

/* Write a whole refusal onto a socket that nothing else is writing to; the caller closes it
 * next. */
void dg_net_refuse(int fd, const struct dg_net_refusal *r);
/* The text of one with a body [n] of JSON, and headers that each end with CRLF. status 408, 413 or
 * 503. Its length; 0: it has no room. */
#define DG_NET_REFUSAL_BYTES 4096
size_t dg_net_refusal_write(
    char text[DG_NET_REFUSAL_BYTES], int status, const char *headers, const char *body, size_t n);
void dg_net_refusal_send(int fd, const char *text, size_t n);

/* Know an accepted fd from now on, and the address [n] that it was accepted from; its id, or 0 when
 * the limit is reached. */
uint64_t dg_net_enter(struct dg_net *net, int fd, const struct sockaddr *addr, socklen_t n);
/* Forget it before its fd is closed. linger: keep reading and dropping what the client still sends
 * for a moment, so that the refusal it was sent is not wiped out by a reset. Unknown ids (0) are
 * ignored. */
void dg_net_leave(struct dg_net *net, uint64_t id, bool linger);
void dg_net_phase(struct dg_net *net, uint64_t id, enum dg_net_phase phase);

/* Call gone(user) once if the client hangs up, or late(user) once if due_ns (0: never) passes,
 * before dg_net_unwatch; one of them. False: it has hung up already. */
bool dg_net_watch(struct dg_net *net, uint64_t id, void *user, uint64_t due_ns);
/* It is due by then instead. */
void dg_net_due(struct dg_net *net, uint64_t id, uint64_t due_ns);
void dg_net_unwatch(struct dg_net *net, uint64_t id);

/* Has the client hung up? */
bool dg_net_gone(struct dg_net *net, uint64_t id);
/* Was it told that its request came in too slowly? */
bool dg_net_timed_out(struct dg_net *net, uint64_t id);

/* Stop: accept what the kernel has queued, close the listening socket, and close connections as
 * they fall idle (those idle now after a grace of a second, for requests already on the wire). */
void dg_net_drain(struct dg_net *net);
/* Whether nobody is accepted any more: the keeper takes a moment after dg_net_drain. */
bool dg_net_drained(struct dg_net *net);
/* Shut every connection that is left. */
void dg_net_abort(struct dg_net *net);
size_t dg_net_count(struct dg_net *net);

/* Since the start. */
struct dg_net_counts {
    /* connections over the limit: 503 */
    uint64_t refused;
    /* idle connections closed for new ones */
    uint64_t evicted;
    /* those whose requests came in too slowly: 408 */
    uint64_t timed_out;
};
void dg_net_counts(struct dg_net *net, struct dg_net_counts *out);

#endif
