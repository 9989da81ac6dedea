/* One request and its reply, as http.c, daemon.c, exchange.c and stream.c see it. The library owns
 * one reference, the code that will wake it another; the last one frees it. Fields belong to the
 * HTTP thread that serves the connection, but for those that lock guards. */
#ifndef DG_SERVER_HTTP_EXCHANGE_H
#define DG_SERVER_HTTP_EXCHANGE_H

#include "base/buffer.h"
#include "server/http/http.h"
#include "server/http/net.h"
#include "server/http/request_id.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define DG_HTTP_ID_BYTES 129
#define DG_HTTP_TYPE_BYTES 129

struct dg_http {
    struct dg_http_options o;
    struct MHD_Daemon *daemon;
    /* of the Unix socket, where the other one speaks TLS; NULL: that one takes both */
    struct MHD_Daemon *local;
    struct dg_net *net;
    atomic_bool draining;
    /* of bodies that have arrived, until their replies are sent */
    atomic_size_t bodies_bytes;
    /* exchanges whose wake is still due */
    atomic_size_t awaited;
    atomic_uint_least64_t next_id;
    uint64_t id_seed;
};

/* A connection: what the library carries as its socket context. */
struct dg_http_connection {
    /* of net */
    uint64_t id;
    bool linger;
    /* that its session uses; NULL: plain */
    struct dg_tls_pair *pair;
};

enum dg_later_state {
    DG_LATER_NONE,
    DG_LATER_RUNNING,
    DG_LATER_SUSPENDED,
    /* Answered without its wake, which is still due. */
    DG_LATER_LATE,
    DG_LATER_WOKEN
};

struct dg_http_exchange {
    struct dg_http *http;
    struct MHD_Connection *mhd;
    /* NULL beyond the table, and when the request is over: then it serves the next one, or is
     * freed. The HTTP thread takes it away with lock held. */
    struct dg_http_connection *connection;
    struct dg_http_request request;
    struct dg_buffer body;
    /* owned; NULL: none */
    char *query;
    size_t reserved_bytes;
    bool headers_seen, dispatched;
    /* refused in the midst of its body: the status says how */
    bool cut_short;
    bool replied;
    /* the reply's body is asked for piece by piece */
    bool streaming;
    int status;
    /* where the status does not say it; 0: it does */
    int outcome;
    /* of the reply's body */
    size_t sent_bytes;
    /* the reply, by Accept-Encoding */
    bool varies;
    /* its Content-Encoding; NULL: none */
    const char *coding;
    struct dg_http_reply reply;
    const void *tag;
    /* of every reply, see dg_http_set_headers; NULL: none */
    const char *const (*headers)[2];
    /* the name that its id has besides, or NULL */
    const char *id_header;
    char id[DG_HTTP_ID_BYTES];
    char trace[DG_TRACE_PARENT_BYTES];
    char type[DG_HTTP_TYPE_BYTES];
    /* guarded by lock once the handler has returned */
    const struct dg_http_later *later;
    /* NULL: the reply does not come later */
    void *later_arg;
    /* Streaming: bytes on their way, HTTP thread only. */
    struct dg_buffer out;
    size_t out_at;
    /* nothing comes after them */
    bool out_last;
    atomic_uint refs;
    pthread_mutex_t lock;
    /* guarded by lock */
    enum dg_later_state state;
    /* guarded by lock: it was answered without its wake */
    bool late;
    /* guarded by lock */
    bool told_gone;
    /* guarded by lock: it is a stream, and not begun */
    bool turned;
    /* guarded by lock: its wake is late then; 0: never */
    uint64_t due_ns;
    /* guarded by lock: there is something new to fill in */
    bool poked;
    /* guarded by lock: or that it is still at work */
    bool ping;
};

/* Start the library's threads, and stop them; has_unix: there is a Unix socket, too. */
int dg_http_daemons_start(struct dg_http *http, bool has_unix, struct dg_error *err);
void dg_http_daemons_stop(struct dg_http *http);
/* Hand an accepted socket over; arg is the struct dg_http. False: it was closed. */
bool dg_http_daemons_add(void *arg, int fd, const struct sockaddr *addr, socklen_t n);
/* The library's callbacks for a request: whatever comes of it, and its end. */
enum MHD_Result dg_http_on_request(void *cls, struct MHD_Connection *mhd, const char *url,
    const char *method, const char *version, const char *data, size_t *n, void **context);
void dg_http_on_completed(
    void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode how);

/* The request line was read: a new exchange, NULL when memory is out. The library's callback: cls
 * is the struct dg_http. */
void *dg_exchange_new(void *cls, const char *uri, struct MHD_Connection *mhd);
void dg_exchange_unref(struct dg_http_exchange *x);
/* The callbacks of net.h for a watched exchange. */
void dg_exchange_pin(void *user);
void dg_exchange_gone(void *user);
void dg_exchange_late(void *user);
void dg_exchange_quiet(void *user);
/* Has its deadline passed without a wake? */
bool dg_exchange_is_late(struct dg_http_exchange *x);
/* The request is over: what its code still says is nothing to the connection. */
void dg_exchange_leave(struct dg_http_exchange *x);
/* Wait for the wake without a thread. False: it came already, the exchange can be finished now. */
bool dg_exchange_suspend(struct dg_http_exchange *x);
/* Begin the stream that the reply has turned into. False: it is none. */
bool dg_exchange_stream(struct dg_http_exchange *x);
/* Hand a reply to the library: the one there is; the one that a handler must have given; what the
 * handler, which has returned, asked for. */
enum MHD_Result dg_exchange_send(struct dg_http_exchange *x);
enum MHD_Result dg_exchange_reply(struct dg_http_exchange *x);
enum MHD_Result dg_exchange_settle(struct dg_http_exchange *x);
/* Make the reply of a request that never reaches a handler, or whose deadline passed. */
void dg_exchange_refuse(
    struct dg_http_exchange *x, int status, const char *code, const char *message);
void dg_exchange_reply_late(struct dg_http_exchange *x);

/* The response whose body is filled in as it comes; NULL when memory is out. */
struct MHD_Response *dg_http_stream_response(struct dg_http_exchange *x);
/* dg_http_poke, its lock held. */
void dg_http_poke_locked(struct dg_http_exchange *x);
/* The exchange is over; the reply may be cut off. */
void dg_http_stream_end(struct dg_http_exchange *x);
/* Tell the code that works on the reply that the client has hung up, once. */
void dg_http_tell_gone(struct dg_http_exchange *x);

#endif
