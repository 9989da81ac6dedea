/* One request and its reply, as http.c and http_stream.c see it. */
#ifndef DG_SERVER_HTTP_INTERNAL_H
#define DG_SERVER_HTTP_INTERNAL_H

#include "base/buffer.h"
#include "server/http/http.h"
#include "server/http/net.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define DG_HTTP_ID_BYTES 129

struct dg_http {
    struct dg_http_options o;
    struct MHD_Daemon *daemon;
    struct dg_net *net;
    atomic_bool draining;
    atomic_size_t bodies_bytes; /* of bodies that have arrived, until their replies are sent */
    atomic_size_t awaited;      /* exchanges whose wake is still due */
    atomic_uint_least64_t next_id;
    uint64_t id_seed;
};

/* A connection: what the library carries as its socket context. */
struct dg_http_connection {
    uint64_t id; /* of net */
    bool linger;
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
    struct dg_http_connection *connection; /* NULL beyond the table */
    struct dg_http_request request;
    struct dg_buffer body;
    char *query; /* owned; NULL: none */
    size_t reserved_bytes;
    bool headers_seen, dispatched;
    bool cut_short; /* refused in the midst of its body: the status says how */
    bool replied;
    bool streaming; /* the reply's body is asked for piece by piece */
    int status;
    int outcome;       /* where the status does not say it; 0: it does */
    size_t sent_bytes; /* of the reply's body */
    struct dg_http_reply reply;
    const void *tag;
    const char *const (*headers)[2]; /* of every reply, see dg_http_set_headers; NULL: none */
    char id[DG_HTTP_ID_BYTES];
    const struct dg_http_later *later;
    void *later_arg;
    uint64_t due_ns; /* its wake is late then; 0: never */
    /* Streaming: bytes on their way, HTTP thread only. */
    struct dg_buffer out;
    size_t out_at;
    bool out_last; /* nothing comes behind them */
    atomic_uint refs;
    pthread_mutex_t lock;
    enum dg_later_state state; /* guarded by lock */
    bool late;                 /* guarded by lock: it was answered without its wake */
    bool told_gone;            /* guarded by lock */
    bool poked;                /* guarded by lock: there is something new to fill in */
};

/* The response whose body is filled in as it comes; NULL when memory is out. */
struct MHD_Response *dg_http_stream_response(struct dg_http_exchange *x);
/* The exchange is over; the reply may be cut off. */
void dg_http_stream_end(struct dg_http_exchange *x);
/* Tell whoever is at work on the reply that the client has hung up, once. */
void dg_http_tell_gone(struct dg_http_exchange *x);

#endif
