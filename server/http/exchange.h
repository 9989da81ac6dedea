/* One request and its reply, as http.c, daemon.c, exchange.c and stream.c see it. The library owns
 * one reference, the code that will wake it another; the last one frees it. Fields belong to the
 * HTTP thread that serves the connection, but for those that lock guards. */
#ifndef DG_SERVER_HTTP_EXCHANGE_H
#define DG_SERVER_HTTP_EXCHANGE_H

#include "base/buffer.h"
#include "server/http/compress.h"
#include "server/http/http.h"
#include "server/http/net.h"
#include "server/http/request_id.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define DG_HTTP_ID_BYTES 129
#define DG_HTTP_TYPE_BYTES 129
#define DG_HTTP_HEAD_MAX 16384 /* most bytes of a request's line and headers together */

/* Memory that request bodies share. */
struct dg_http_pool {
    /* maximum bytes of one body, and of all together */
    size_t each, together;
    /* from the arrival of bodies until their replies are sent */
    atomic_size_t used;
    /* the part of used that unproven bodies take while they arrive, at most half of together */
    atomic_size_t unproven;
};

/* A fixed body of replies. */
struct dg_http_fixed {
    const char *body;
    /* by enum dg_compress_coding; owned, NULL: not compressed yet, or not smaller */
    char *coded[3];
    size_t n[3];
};

#define DG_HTTP_FIXED_MAX 32

struct dg_http {
    struct dg_http_options o;
    struct MHD_Daemon *daemon;
    /* serves the Unix socket when the other daemon speaks TLS; NULL: daemon serves both */
    struct MHD_Daemon *local;
    struct dg_net *net;
    atomic_bool draining;
    /* uploads: requests that bring a file; bodies: all others */
    struct dg_http_pool bodies, uploads;
    /* bytes of large replies until they are sent */
    atomic_size_t replies_bytes;
    /* exchanges whose wake is still due */
    atomic_size_t awaited;
    atomic_uint_least64_t next_id;
    uint64_t id_seed;
    pthread_mutex_t fixed_lock;
    /* guarded by fixed_lock: [n_fixed], which only grow */
    struct dg_http_fixed fixed[DG_HTTP_FIXED_MAX];
    size_t n_fixed;
};

/* A connection, as the library's socket context. */
struct dg_http_connection {
    /* in net; 0: not in its table */
    uint64_t id;
    bool linger;
    /* certificate and key of its TLS session; NULL: plain */
    struct dg_tls_pair *pair;
};

enum dg_later_state {
    DG_LATER_NONE,
    DG_LATER_RUNNING,
    DG_LATER_SUSPENDED,
    /* answered without its wake, which is still due */
    DG_LATER_LATE,
    DG_LATER_WOKEN
};

struct dg_http_exchange {
    struct dg_http *http;
    struct MHD_Connection *mhd;
    /* until the request is over: then it serves the next one, or is freed */
    struct dg_http_connection *connection;
    /* the connection's id in net; 0, which net ignores: it is not in its table, or the request is
     * over. The HTTP thread clears it with lock held. */
    uint64_t net_id;
    struct dg_http_request request;
    struct dg_buffer body;
    /* where the body's bytes are reserved */
    struct dg_http_pool *pool;
    /* owned; NULL: none */
    char *query;
    size_t reserved_bytes;
    /* see dg_http_unproven */
    bool unproven;
    /* its share of pool->unproven */
    size_t unproven_bytes;
    /* its share of replies_bytes */
    size_t reply_bytes;
    /* refused in the middle of its body; status says why */
    bool cut_short;
    bool replied;
    /* the library asks for the reply's body block by block */
    bool streaming;
    int status;
    /* overrides status in logs and counters; 0: status is right */
    int outcome;
    /* bytes of the reply's body handed to the library */
    size_t sent_bytes;
    /* the reply depends on Accept-Encoding */
    bool varies;
    /* the reply's Content-Encoding; NULL: none */
    const char *coding;
    struct dg_http_reply reply;
    const void *tag;
    /* extra headers of the reply, see dg_http_set_headers; NULL: none */
    const char *const (*headers)[2];
    /* additional header that carries the id, or NULL */
    const char *id_header;
    char id[DG_HTTP_ID_BYTES];
    char trace[DG_TRACE_PARENT_BYTES];
    char type[DG_HTTP_TYPE_BYTES];
    /* guarded by lock once the handler has returned */
    const struct dg_http_later *later;
    /* NULL: the reply does not come later */
    void *later_arg;
    /* Streaming: the block being sent, and how much of it was sent. HTTP thread only. */
    struct dg_buffer out;
    size_t out_at;
    /* the stream ends after that block */
    bool out_last;
    atomic_uint refs;
    pthread_mutex_t lock;
    /* Guarded by lock. */
    enum dg_later_state state;
    /* the reply is made without the wake */
    bool late;
    bool told_gone;
    /* the reply is to be a stream that has not begun */
    bool turned;
    /* when the wake is late; 0: never */
    uint64_t due_ns;
    /* fill has something new */
    bool poked;
    /* reply.ping is due */
    bool ping;
};

/* Is there room for n more bytes of the body? */
bool dg_http_pool_has_room(const struct dg_http_exchange *x, size_t n);
/* Reserve n bytes of the body that have arrived; false: there is no room. Bytes that are only
 * announced are not reserved: the client may never send them. */
bool dg_http_pool_reserve(struct dg_http_exchange *x, size_t n);
/* The body is complete: it no longer counts as unproven. */
void dg_http_pool_prove(struct dg_http_exchange *x);
/* Release all bytes of the body. */
void dg_http_pool_release(struct dg_http_exchange *x);

/* A fixed body [*n] in a coding, and its size in *n; compressed at the first call. NULL: it became
 * no smaller, or memory is out. Lives until dg_http_fixed_close. */
const char *dg_http_fixed_coded(
    struct dg_http *http, const char *body, enum dg_compress_coding coding, size_t *n);
void dg_http_fixed_close(struct dg_http *http);

/* Start and stop the library's threads; has_unix: there is a Unix socket, too. */
int dg_http_daemons_start(struct dg_http *http, bool has_unix, struct dg_error *err);
void dg_http_daemons_stop(struct dg_http *http);
/* Hand an accepted socket to the library; arg is the struct dg_http. False: it was closed. */
bool dg_http_daemons_add(void *arg, int fd, const struct sockaddr *addr, socklen_t n);
/* The bytes of the request's line and headers. *fits: they are within the limit, and the library
 * has memory left for a reply. */
size_t dg_http_daemons_head(struct MHD_Connection *mhd, bool *fits);
/* The library's callbacks for a request: each event of it, and its end. */
enum MHD_Result dg_http_on_request(void *cls, struct MHD_Connection *mhd, const char *url,
    const char *method, const char *version, const char *data, size_t *n, void **context);
void dg_http_on_completed(
    void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode how);

/* The library's callback after the request line was read: returns a new exchange; NULL: no memory
 * for it, or there was none for its connection. cls is the struct dg_http. */
void *dg_exchange_new(void *cls, const char *uri, struct MHD_Connection *mhd);
void dg_exchange_unref(struct dg_http_exchange *x);
/* The callbacks of net.h for a watched exchange. */
void dg_exchange_pin(void *user);
void dg_exchange_gone(void *user);
void dg_exchange_late(void *user);
void dg_exchange_quiet(void *user);
/* Has its deadline passed without a wake? */
bool dg_exchange_is_late(struct dg_http_exchange *x);
/* Detach the exchange from its connection: the request is over. */
void dg_exchange_leave(struct dg_http_exchange *x);
/* Suspend the connection until the wake. False: the wake has come already, and the exchange can be
 * finished now. */
bool dg_exchange_suspend(struct dg_http_exchange *x);
/* Begin the stream that the reply was turned into. False: it was not turned into one. */
bool dg_exchange_stream(struct dg_http_exchange *x);
/* Hand a reply to the library: dg_exchange_send the one that is set; dg_exchange_reply the one that
 * a handler must have set; dg_exchange_settle whatever the handler, which has returned, asked
 * for. */
enum MHD_Result dg_exchange_send(struct dg_http_exchange *x);
enum MHD_Result dg_exchange_reply(struct dg_http_exchange *x);
enum MHD_Result dg_exchange_settle(struct dg_http_exchange *x);
/* Make the reply of a request that never reaches a handler, or whose deadline passed. */
void dg_exchange_refuse(
    struct dg_http_exchange *x, int status, const char *code, const char *message);
void dg_exchange_reply_late(struct dg_http_exchange *x);

/* The response whose body is filled in block by block; NULL when memory is out. */
struct MHD_Response *dg_http_stream_response(struct dg_http_exchange *x);
/* dg_http_poke with the exchange's lock held. */
void dg_http_poke_locked(struct dg_http_exchange *x);
/* A stream's exchange is over; the reply may be cut off. */
void dg_http_stream_end(struct dg_http_exchange *x);
/* Tell the code that works on the reply, once, that the client has hung up. */
void dg_http_tell_gone(struct dg_http_exchange *x);

#endif
