/* The sockets' keeper: one thread that accepts connections, notices clients that hang up, and
 * closes connections that are too slow, or idle when others need their places. The HTTP library
 * reads and writes the sockets, but it notices neither a hang-up while a request waits for its
 * reply nor a client that drips one byte a second; the keeper does. It knows no HTTP beyond two
 * fixed refusals. A client that closes only its sending side counts as gone: the two look the same
 * on the socket. Any thread may call; callbacks come from the keeper's thread, without its lock
 * held. */
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
    DG_NET_HEADERS, /* from a request's first byte to its headers' end; also a silent new client */
    DG_NET_BODY,
    DG_NET_HANDLING, /* no limit here: requests have deadlines of their own */
    DG_NET_WRITING,
    DG_NET_IDLE, /* kept alive between requests */
    DG_NET_PHASES
};

struct dg_net_limits {
    /* connections per address; 0 = no limit */
    uint32_t max_per_client;
    /* 0 = none */
    uint32_t limit_ms[DG_NET_PHASES];
    /* interval of the quiet callback; 0: never */
    uint32_t quiet_ms;
};

struct dg_net_options {
    /* beyond it the longest-idle connection is closed, or the new one gets 503 at once */
    uint32_t max_connections;
    /* part of max_connections that is reserved for clients on this machine */
    uint32_t kept_local;
    /* All connections except those of the Unix socket speak TLS: nothing is written to them here,
     * and a refused one is closed without a reply. */
    bool encrypted;
    /* Connections of the first socket wait in the kernel until dg_net_release. */
    bool held;
    struct dg_net_limits limits;
    /* first argument of the callbacks */
    void *arg;
    /* Takes fd and enters it soon. False: it failed and has closed fd. */
    bool (*accepted)(void *arg, int fd, const struct sockaddr *addr, socklen_t n);
    /* keeps user alive; called with the lock held, so it may only count a reference */
    void (*pin)(void *user);
    /* the client of a watched request hung up; drops the pin */
    void (*gone)(void *user);
    /* the watched request's answer is late; drops the pin */
    void (*late)(void *user);
    /* The watched request's connection has been in DG_NET_HANDLING for quiet_ms; called again after
     * every further quiet_ms. Drops the pin. */
    void (*quiet)(void *user);
};

#define DG_NET_LISTENERS 2

/* Starts to accept from listen_fds (-1: none; owned from here on). *out is set before the first
 * connection is accepted, which may be before this returns. */
int dg_net_open(const int listen_fds[DG_NET_LISTENERS], const struct dg_net_options *options,
    struct dg_net **out, struct dg_error *err);
void dg_net_close_listeners(const int fds[DG_NET_LISTENERS]);
/* Ends the thread; connections still entered are forgotten, not closed. NULL is fine. */
void dg_net_close(struct dg_net *net);

/* Replaces the limits. */
void dg_net_set_limits(struct dg_net *net, const struct dg_net_limits *limits);

/* Write the whole refusal of something that is not a complete request yet to a socket that nothing
 * else is writing to; the caller closes it next. status: 408 or 503; code and message: plain ASCII
 * without quotes. */
void dg_net_refuse(int fd, int status, const char *code, const char *message);
/* Write the text of a refusal with a JSON body [n] and with headers that each end with CRLF. status
 * is 408, 413 or 503. Returns the text's length; 0: it does not fit. */
#define DG_NET_REFUSAL_BYTES 4096
size_t dg_net_refusal_write(
    char text[DG_NET_REFUSAL_BYTES], int status, const char *headers, const char *body, size_t n);
void dg_net_refusal_send(int fd, const char *text, size_t n);

/* Register an accepted fd and the address [n] that it was accepted from. Returns its id, or 0 when
 * all slots are taken. The functions below ignore the id 0, and that of a connection that has left:
 * it is neither gone nor timed out. */
uint64_t dg_net_enter(struct dg_net *net, int fd, const struct sockaddr *addr, socklen_t n);
/* Forget a connection before its fd is closed. linger: for a while, keep reading and dropping what
 * the client still sends, so that a reset does not wipe out the refusal that it was sent. */
void dg_net_leave(struct dg_net *net, uint64_t id, bool linger);
void dg_net_phase(struct dg_net *net, uint64_t id, enum dg_net_phase phase);

/* Call gone(user) once if the client hangs up, or late(user) once if due_ns (0: never) passes,
 * before dg_net_unwatch; never both. False: the client has hung up already. */
bool dg_net_watch(struct dg_net *net, uint64_t id, void *user, uint64_t due_ns);
/* Change the time when the watched request is due. */
void dg_net_due(struct dg_net *net, uint64_t id, uint64_t due_ns);
void dg_net_unwatch(struct dg_net *net, uint64_t id);

/* Has the client hung up? */
bool dg_net_gone(struct dg_net *net, uint64_t id);
/* Did the connection's request come in too slowly? */
bool dg_net_timed_out(struct dg_net *net, uint64_t id);

/* Accept the connections that options.held keeps waiting. Returns at once. */
void dg_net_release(struct dg_net *net);
/* Stop: accept what the kernel has queued, unless it is held, close the listening sockets, and
 * close connections as they fall idle (those idle now after a grace of a second, for requests
 * already on the wire). */
void dg_net_drain(struct dg_net *net);
/* True once no connection is accepted any more: the keeper takes a moment after dg_net_drain. */
bool dg_net_drained(struct dg_net *net);
/* Shut every connection that is left. */
void dg_net_abort(struct dg_net *net);
/* Connections that are open. */
size_t dg_net_count(struct dg_net *net);

/* Connections that are open; and counters since the start. */
struct dg_net_counts {
    uint64_t open;
    /* connections over the limit: 503 */
    uint64_t refused;
    /* idle connections closed for new ones */
    uint64_t evicted;
    /* connections whose requests came in too slowly: 408 */
    uint64_t timed_out;
};
void dg_net_counts(struct dg_net *net, struct dg_net_counts *out);

#endif
