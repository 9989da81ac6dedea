/* HTTP over libmicrohttpd, which only files that include exchange.h know (http.c, daemon.c,
 * exchange.c and others): requests come in as plain structs, replies go out. An HTTP thread asks
 * whether a request is admitted when its headers are there, and calls the handler when all of it is
 * there. The handler replies immediately (dg_http_reply_take), or suspends the exchange
 * (dg_http_later) until other code wakes it (dg_http_wake): no thread waits meanwhile, and an HTTP
 * thread makes the reply after the wake. Bodies over the limit, ambiguous framing and slow clients
 * never reach a handler. */
#ifndef DG_SERVER_HTTP_HTTP_H
#define DG_SERVER_HTTP_HTTP_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_http;
struct dg_tls;
struct dg_http_exchange; /* one request and its reply */
struct dg_net_counts;

struct dg_http_request {
    /* path: percent-decoded, without the query */
    const char *method, *path;
    /* as it was sent, without "?"; "": there is none */
    const char *query;
    /* [body_len]; not NUL-terminated text, never NULL */
    const char *body;
    size_t body_len;
    /* Content-Type; "": none, or longer than any real one */
    const char *type;
    /* X-Request-Id: the client's when it is well-formed, else made here */
    const char *id;
    /* W3C Trace Context's traceparent; "": none, or malformed */
    const char *trace;
    /* when the headers were complete; 0: not yet */
    uint64_t start_ns;
    /* when the body was complete; 0: not yet */
    uint64_t handled_ns;
};

#define DG_HTTP_MAX_HEADERS 10
#define DG_HTTP_LARGE_REPLY 1048576 /* smaller ones go into the kernel's buffers as a rule */

struct dg_http_reply {
    int status;
    /* static storage; NULL: none */
    const char *content_type;
    /* malloc'd (NULL: empty); taken with the reply */
    char *body;
    /* instead of body: static storage, which many replies can be sent from at a time */
    const char *fixed;
    size_t body_len;
    struct {
        /* static storage */
        const char *name;
        char value[640];
    } headers[DG_HTTP_MAX_HEADERS];
    size_t n_headers;
    /* of a stream: sent when nothing else was sent for ping_ms; NULL: nothing */
    const char *ping;
    /* end the connection after this reply */
    bool close;
};

/* Add a header; silently dropped beyond the table (a bug: asserted). */
void dg_http_reply_header(struct dg_http_reply *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Limits that may change while the server runs. */
struct dg_http_limits {
    /* except for clients on this machine; 0: no limit */
    uint32_t max_connections_per_address;
    uint32_t header_timeout_ms, body_timeout_ms, write_timeout_ms, idle_timeout_ms;
    /* quiet time of a stream before it sends reply.ping; 0: never */
    uint32_t ping_ms;
};

struct dg_http_options {
    uint32_t threads;
    uint32_t max_connections;
    size_t max_body_bytes;
    /* of all requests together; counts the bytes that have arrived */
    size_t max_bodies_bytes;
    /* the same of requests that bring a file (dg_http_upload): their bodies do not count above */
    size_t max_upload_bytes, max_uploads_bytes;
    /* of the replies of DG_HTTP_LARGE_REPLY bytes and more that clients are reading; a single one
     * may be larger. 0: no limit */
    size_t max_replies_bytes;
    /* NULL: plain HTTP; else the first socket speaks TLS alone, the second is plain. Borrowed. */
    struct dg_tls *tls;
    /* Connections of the first socket wait in the kernel until dg_http_release. */
    bool held;
    struct dg_http_limits limits;
    /* first argument of the callbacks */
    void *app;
    /* Look at a request whose headers are complete, before its body is read. If this replies, the
     * request is refused: its body is not kept, and handle is not called. NULL: all are admitted.
     * HTTP thread. */
    void (*admit)(void *app, struct dg_http_exchange *x);
    /* Answer one request. HTTP thread. */
    void (*handle)(void *app, struct dg_http_exchange *x);
    /* Make the reply for a request that never reached handle (413, bad framing) or whose deadline
     * passed. code and message are those of the API; x has its path. HTTP thread. */
    void (*refuse)(void *app, struct dg_http_exchange *x, int status, const char *code,
        const char *message, struct dg_http_reply *r);
    /* Add the headers that every reply has, just before it is sent. NULL: none. HTTP thread. */
    void (*mark)(void *app, struct dg_http_exchange *x, struct dg_http_reply *r);
    /* A reply was sent, or its client has gone (status 499). HTTP thread. */
    void (*finished)(void *app, struct dg_http_exchange *x, int status);
};

/* Serve from listen_fds (-1: none; owned from here on). */
int dg_http_open(const int listen_fds[2], const struct dg_http_options *options,
    struct dg_http **out, struct dg_error *err);
/* Replace the limits. Any thread. */
void dg_http_set_limits(struct dg_http *http, const struct dg_http_limits *limits);
/* Accept the connections that options.held keeps waiting. Returns at once. */
void dg_http_release(struct dg_http *http);
/* Accept no more; replies end their connections; idle connections are closed. Returns at once. */
void dg_http_drain(struct dg_http *http);
/* True once no connection is accepted any more. That takes a moment after dg_http_drain: clients
 * that had connected by then still become connections. */
bool dg_http_drained(struct dg_http *http);
/* Connections that are still open. */
size_t dg_http_connections(struct dg_http *http);
/* Stop. Every exchange must have been woken, or be about to be: this waits for those wakes. NULL is
 * fine. */
void dg_http_close(struct dg_http *http);

const struct dg_http_request *dg_http_request(const struct dg_http_exchange *x);
/* A request header; NULL when absent. HTTP thread, until the reply; borrowed. */
const char *dg_http_header(const struct dg_http_exchange *x, const char *name);
/* Is a Content-Type (NULL: absent) this media type, with or without parameters? Any thread. */
bool dg_http_is_type(const char *content_type, const char *type);
/* Did the client come through a Unix socket, which the file's mode guards? HTTP thread. */
bool dg_http_unix(const struct dg_http_exchange *x);
/* Does the connection itself speak TLS? HTTP thread. */
bool dg_http_encrypted(const struct dg_http_exchange *x);
/* The port of this machine that the client connected to through a loopback address (127.0.0.1,
 * ::1); 0: through another one, or a Unix socket. HTTP thread. */
unsigned dg_http_loopback_port(const struct dg_http_exchange *x);
/* A number for the client's address (for IPv6, its /64); 0: this machine or a Unix socket, where
 * many clients may share one proxy. HTTP thread. */
uint64_t dg_http_client(const struct dg_http_exchange *x);
/* Has the client hung up? Nobody will read the reply. HTTP thread. */
bool dg_http_gone(const struct dg_http_exchange *x);
/* Bytes of the reply's body that were handed to the library. HTTP thread. */
size_t dg_http_sent(const struct dg_http_exchange *x);
/* The connections of the server that serves this exchange (net.h). */
void dg_http_counts(const struct dg_http_exchange *x, struct dg_net_counts *out);
/* The outcome of a stream that ends in an error: the status that the reply would have had if its
 * own status were not sent already. 0: as the status says. HTTP thread. */
void dg_http_set_outcome(struct dg_http_exchange *x, int status);
int dg_http_outcome(const struct dg_http_exchange *x);
/* From within admit: the request brings a file, so that its body may be larger. */
void dg_http_upload(struct dg_http_exchange *x);
/* From within admit: only the body shows whether the client is allowed this request. Such bodies
 * take at most half of the memory that bodies share, so that they never keep out all others. */
void dg_http_unproven(struct dg_http_exchange *x);
/* For routes: one pointer that travels with the exchange, such as the route that was found. */
void dg_http_set_tag(struct dg_http_exchange *x, const void *tag);
const void *dg_http_tag(const struct dg_http_exchange *x);

/* Add these headers to the exchange's reply, whichever code makes it: NULL-ended pairs of name and
 * value, static storage. HTTP thread. */
void dg_http_set_headers(struct dg_http_exchange *x, const char *const (*headers)[2]);
/* Also send the request's id under this header name; static storage. HTTP thread. */
void dg_http_set_id_header(struct dg_http_exchange *x, const char *name);
/* The reply, from within admit, handle or finish; its body is taken. */
void dg_http_reply_take(struct dg_http_exchange *x, struct dg_http_reply *r);

/* Callbacks of an exchange that is answered later, or as a stream. */
struct dg_http_later {
    /* after the wake, on an HTTP thread: must reply now */
    void (*finish)(void *arg, struct dg_http_exchange *x);
    /* the client hung up before the wake: finish early; dg_http_wake is still due. NULL: the work
     * is done all the same. Any thread */
    void (*gone)(void *arg);
    /* the exchange is over: free arg. Any thread */
    void (*drop)(void *arg);
    /* For a stream whose deadline passed without a wake: append its last bytes. NULL: the stream is
     * cut off. Other threads may still be working on arg. HTTP thread. */
    void (*late)(void *arg, struct dg_http_exchange *x, struct dg_buffer *out);
    /* Not NULL: the reply is a stream. Then finish is called as soon as handle returns, and its
     * reply has no body. fill appends what can be sent now; it is called again whenever the socket
     * has taken the last bytes or, if it appended nothing, after the next poke. last: the wake has
     * come, and the stream ends with what is appended now. HTTP thread. */
    void (*fill)(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out);
};

/* From within handle: announce that the reply comes after dg_http_wake, which must then be called
 * exactly once, by any thread, even before handle returns. (If handle replies after all, no wake is
 * due.) */
void dg_http_later(struct dg_http_exchange *x, const struct dg_http_later *later, void *arg);
void dg_http_wake(struct dg_http_exchange *x);
/* Set when the wake is due (dg_clock_ns); 0: never. If it is more than a second late, the HTTP side
 * replies 504 without it (for a stream, see late) by its own clock, whatever holds up the work:
 * gone is called, and the wake, which is still due, has no effect. After dg_http_later. Any thread,
 * before the wake. */
void dg_http_due(struct dg_http_exchange *x, uint64_t deadline_ns);
/* Turn the reply into a stream: `later`, which must have the same gone and drop, replaces the
 * callbacks, and its finish is called soon. After a dg_http_later without fill. Any thread, once,
 * before the wake. */
void dg_http_turn(struct dg_http_exchange *x, const struct dg_http_later *later);
/* Free the request's body. Only from the one thread that reads the body, after dg_http_later and
 * before the wake. */
void dg_http_drop_body(struct dg_http_exchange *x);
/* Announce that a stream has something to fill in. Any thread, before the wake. */
void dg_http_poke(struct dg_http_exchange *x);

#endif
