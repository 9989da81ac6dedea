/* DESIGN. The library runs N polling threads (epoll) and accepts nothing itself: net.c accepts
 * connections and hands their sockets over, so that listening, draining and connection limits are
 * ours. exchange.c handles the life of a request and its reply, daemon.c the library's daemons;
 * this file has the callbacks for a request, start and stop. */
#include "server/http/exchange.h"

#include "base/clock.h"
#include "server/http/framing.h"
#include "server/http/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#define DROPPED_BYTES 65536 /* largest body of a refused request that is still read */
#define MAX_KEPT_LOCAL 16   /* most places reserved for clients on this machine */
#define TOO_MANY_BODIES "too many large requests are in progress"
#define FLUSH_NS 1000000000ull /* time for the last replies to be written when stopping */

/* ---- The library's callbacks ---- */

static enum MHD_Result look_at_header(
    void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    dg_framing_header(cls, key, value);
    return MHD_YES;
}

/* Append one header if it fits. */
static void put_header(char *out, size_t cap, size_t *n, const char *name, const char *value)
{
    const int len = snprintf(out + *n, cap - *n, "%s: %s\r\n", name, value);
    if (len > 0 && (size_t)len < cap - *n)
        *n += (size_t)len;
    out[*n] = '\0';
}

/* Write directly to a connection that nothing else is writing to. From the connection's own
 * thread. */
static void send_past_library(struct MHD_Connection *mhd, const char *text, size_t n)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info && info->tls_session) {
        dg_tls_send(info->tls_session, text, n);
        return;
    }
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info)
        dg_net_refusal_send(info->connect_fd, text, n);
}

/* Refuse a request in the middle of its body, when the library accepts no reply any more, or when
 * it has no memory for one: the refusal goes directly to the connection, which nothing has been
 * written to yet. */
static enum MHD_Result refuse_past_library(
    struct dg_http_exchange *x, int status, const char *code, const char *message)
{
    struct dg_http_reply r = {0};
    char headers[2048], text[DG_NET_REFUSAL_BYTES];
    x->http->o.refuse(x->http->o.app, x, status, code, message, &r);
    const char *body = r.fixed ? r.fixed : r.body ? r.body : "";
    size_t n = (size_t)snprintf(headers, sizeof headers, "X-Request-Id: %s\r\n", x->id);
    for (size_t i = 0; i < r.n_headers; i++)
        put_header(headers, sizeof headers, &n, r.headers[i].name, r.headers[i].value);
    for (const char *const(*h)[2] = x->headers; h && (*h)[0]; h++)
        put_header(headers, sizeof headers, &n, (*h)[0], (*h)[1]);
    send_past_library(x->mhd, text, dg_net_refusal_write(text, status, headers, body, r.body_len));
    free(r.body);
    x->connection->linger = true;
    x->status = status;
    x->cut_short = true;
    return MHD_NO;
}

/* Refuse a request line and headers over the limit: before anything is done for them. */
static enum MHD_Result refuse_head(struct dg_http_exchange *x, size_t head)
{
    char message[160];
    snprintf(message, sizeof message,
        "the request's line and headers have %zu bytes, the limit is %d, less with many headers or "
        "parameters: send texts in the body",
        head, DG_HTTP_HEAD_MAX);
    return refuse_past_library(x, 431, "too_large", message);
}

/* Refuse a request for its headers, before its body is read; x->replied: it was refused. */
static void check_head(struct dg_http_exchange *x, const struct dg_framing *f, const char *version)
{
    const struct dg_http *http = x->http;
    char message[160];
    const char *coding = dg_http_header(x, "Content-Encoding");
    const char *fault = dg_framing_fault(f, strcmp(version, "HTTP/1.1") == 0);
    if (fault) {
        dg_exchange_refuse(x, 400, "bad_framing", fault);
    } else if (coding && strcasecmp(coding, "identity") != 0) {
        dg_exchange_refuse(
            x, 415, "unsupported_encoding", "Content-Encoding must be identity, or absent");
        dg_http_reply_header(&x->reply, "Accept-Encoding", "identity");
    } else if (http->o.admit) {
        http->o.admit(http->o.app, x);
    }
    if (x->replied)
        return;
    if (f->length > x->pool->each) {
        snprintf(message, sizeof message, "the body has %llu bytes, the limit is %zu", f->length,
            x->pool->each);
        dg_exchange_refuse(x, 413, "too_large", message);
    } else if (f->length > 0 && !dg_http_pool_has_room(x, (size_t)f->length)) {
        dg_exchange_refuse(x, 503, "overloaded", TOO_MANY_BODIES);
    }
}

static bool has_body(const struct dg_framing *f)
{
    return f->length > 0 || f->chunked;
}

/* The reply to a request that admit refused waits until a small body has been read and dropped, so
 * that the connection can be used again. A client that awaits "100 Continue" has not sent it. */
static bool is_answered_later(const struct dg_http_exchange *x, const struct dg_framing *f)
{
    return !x->reply.close && !f->chunked && f->length <= DROPPED_BYTES &&
           (f->length == 0 || !dg_http_header(x, "Expect"));
}

/* Handle complete headers, before the body is read. */
static enum MHD_Result on_headers(
    struct dg_http_exchange *x, const char *method, const char *path, const char *version)
{
    struct dg_http *http = x->http;
    struct dg_framing f = {0};
    x->request.method = method;
    x->request.path = dg_framing_path(path);
    x->request.start_ns = dg_clock_ns();
    dg_request_id_choose(dg_http_header(x, "X-Request-Id"), http->id_seed,
        atomic_fetch_add(&http->next_id, 1), x->id, sizeof x->id);
    x->request.id = x->id;
    dg_trace_parent_choose(dg_http_header(x, "traceparent"), x->trace);
    x->request.trace = x->trace;
    const char *type = dg_http_header(x, "Content-Type");
    if (type && strlen(type) < sizeof x->type)
        strcpy(x->type, type);
    x->request.type = x->type;
    bool fits;
    const size_t head = dg_http_daemons_head(x->mhd, &fits);
    if (!fits)
        return refuse_head(x, head);
    MHD_get_connection_values(x->mhd, MHD_HEADER_KIND, look_at_header, &f);
    check_head(x, &f, version);
    if (x->replied && !is_answered_later(x, &f)) {
        x->reply.close = true;
        x->connection->linger = true;
        return dg_exchange_send(x);
    }
    if (has_body(&f))
        dg_net_phase(http->net, x->net_id, DG_NET_BODY);
    return MHD_YES;
}

/* Take bytes of the body. Only a chunked body can turn out too long here. */
static enum MHD_Result on_body(struct dg_http_exchange *x, const char *data, size_t *n)
{
    const size_t limit = x->pool->each, step = x->http->o.max_body_bytes, before = x->body.len;
    char message[96];
    if (x->replied) { /* refused already */
        *n = 0;
        return MHD_YES;
    }
    snprintf(message, sizeof message, "the body has more than %zu bytes, the limit", limit);
    if (*n > limit - x->body.len)
        return refuse_past_library(x, 413, "too_large", message);
    if (!dg_http_pool_reserve(x, *n))
        return refuse_past_library(x, 503, "overloaded", TOO_MANY_BODIES);
    dg_buffer_add(&x->body, data, *n);
    /* The time limit of a body is for max_body_bytes; an upload has it again for each further
     * max_body_bytes. */
    if (x->body.len / step > before / step)
        dg_net_phase(x->http->net, x->net_id, DG_NET_BODY);
    *n = 0;
    return MHD_YES;
}

enum MHD_Result dg_http_on_request(void *cls, struct MHD_Connection *mhd, const char *url,
    const char *method, const char *version, const char *data, size_t *n, void **context)
{
    struct dg_http *http = cls;
    struct dg_http_exchange *x = *context;
    (void)mhd;
    if (!x)
        return MHD_NO; /* no memory for the exchange or its connection */
    if (x->request.start_ns == 0)
        return on_headers(x, method, url, version);
    if (*n > 0)
        return on_body(x, data, n);
    if (x->request.handled_ns > 0) { /* called again, or woken */
        if (dg_exchange_suspend(x))
            return MHD_YES;
        if (dg_exchange_is_late(x))
            dg_exchange_reply_late(x);
        else if (!dg_exchange_stream(x))
            x->later->finish(x->later_arg, x);
        return dg_exchange_reply(x);
    }
    x->request.handled_ns = dg_clock_ns();
    dg_net_phase(http->net, x->net_id, DG_NET_HANDLING);
    x->request.body = x->body.data ? x->body.data : "";
    x->request.body_len = x->body.len;
    dg_http_pool_prove(x);
    if (x->body.failed)
        dg_exchange_refuse(x, 503, "overloaded", "no memory for the body");
    else if (!x->replied)
        http->o.handle(http->o.app, x);
    return dg_exchange_settle(x);
}

/* The status that a request ended with, as log and metrics say it. */
static int final_status(const struct dg_http_exchange *x, enum MHD_RequestTerminationCode how)
{
    const union MHD_ConnectionInfo *own;
    if (x->status != 0 && (how == MHD_REQUEST_TERMINATED_COMPLETED_OK || x->cut_short))
        return x->status;
    if (dg_net_timed_out(x->http->net, x->net_id))
        return 408;
    /* No status of ours: the library may have refused the request by itself. */
    own = x->status == 0 ? MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_HTTP_STATUS) : NULL;
    return own ? (int)own->http_status : 499;
}

void dg_http_on_completed(
    void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode how)
{
    struct dg_http *http = cls;
    struct dg_http_exchange *x = *context;
    (void)mhd;
    *context = NULL;
    if (!x)
        return;
    const int status = final_status(x, how);
    if (x->streaming)
        dg_http_stream_end(x);
    else if (x->later_arg && !x->replied) /* the client reset before it was watched */
        dg_http_tell_gone(x);
    dg_exchange_leave(x);
    http->o.finished(http->o.app, x, status);
    dg_exchange_unref(x);
}

/* ---- Start and stop ---- */

static struct dg_net_limits net_limits(const struct dg_http_limits *l)
{
    return (struct dg_net_limits){.max_per_client = l->max_connections_per_address,
        .limit_ms = {[DG_NET_HEADERS] = l->header_timeout_ms,
            [DG_NET_BODY] = l->body_timeout_ms,
            [DG_NET_WRITING] = l->write_timeout_ms,
            [DG_NET_IDLE] = l->idle_timeout_ms},
        .quiet_ms = l->ping_ms};
}

void dg_http_set_limits(struct dg_http *http, const struct dg_http_limits *limits)
{
    const struct dg_net_limits l = net_limits(limits);
    dg_net_set_limits(http->net, &l);
}

static void destroy(struct dg_http *http)
{
    dg_http_daemons_stop(http);
    dg_net_close(http->net);
    dg_http_fixed_close(http);
    free(http);
}

int dg_http_open(const int listen_fds[2], const struct dg_http_options *options,
    struct dg_http **out, struct dg_error *err)
{
    struct dg_http *http = calloc(1, sizeof *http);
    if (!http) {
        dg_net_close_listeners(listen_fds);
        return dg_error_set(err, DG_ENOMEM, "no memory for the HTTP server");
    }
    http->o = *options;
    pthread_mutex_init(&http->fixed_lock, NULL);
    http->bodies.each = options->max_body_bytes;
    http->bodies.together = options->max_bodies_bytes;
    http->uploads.each = options->max_upload_bytes;
    http->uploads.together = options->max_uploads_bytes;
    if (getrandom(&http->id_seed, sizeof http->id_seed, GRND_NONBLOCK) !=
        (ssize_t)sizeof http->id_seed)
        http->id_seed = dg_clock_ns();
    const struct dg_net_options net = {
        .max_connections = options->max_connections,
        .kept_local = options->max_connections / 16 < MAX_KEPT_LOCAL ? options->max_connections / 16
                                                                     : MAX_KEPT_LOCAL,
        .limits = net_limits(&options->limits),
        .arg = http,
        .encrypted = options->tls != NULL,
        .held = options->held,
        .accepted = dg_http_daemons_add,
        .pin = dg_exchange_pin,
        .gone = dg_exchange_gone,
        .late = dg_exchange_late,
        .quiet = dg_exchange_quiet,
    };
    int rc = dg_http_daemons_start(http, listen_fds[1] >= 0, err);
    if (rc == DG_OK)
        rc = dg_net_open(listen_fds, &net, &http->net, err);
    else
        dg_net_close_listeners(listen_fds);
    if (rc != DG_OK) {
        destroy(http);
        return rc;
    }
    *out = http;
    return DG_OK;
}

void dg_http_release(struct dg_http *http)
{
    dg_net_release(http->net);
}

void dg_http_drain(struct dg_http *http)
{
    atomic_store(&http->draining, true);
    dg_net_drain(http->net);
}

bool dg_http_drained(struct dg_http *http)
{
    return dg_net_drained(http->net);
}

size_t dg_http_connections(struct dg_http *http)
{
    return dg_net_count(http->net);
}

void dg_http_close(struct dg_http *http)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    if (!http)
        return;
    dg_http_drain(http);
    uint64_t end = dg_clock_ns() + FLUSH_NS;
    /* The library aborts the process if it is stopped while a connection is suspended, or is given
     * a connection afterwards. A connection that awaits no wake and was aborted long ago can be
     * left to the library. */
    while (atomic_load(&http->awaited) > 0 || !dg_net_drained(http->net) ||
           (dg_net_count(http->net) > 0 && dg_clock_ns() < end + 10 * (uint64_t)FLUSH_NS)) {
        if (dg_clock_ns() > end)
            dg_net_abort(http->net);
        nanosleep(&pause, NULL);
    }
    destroy(http);
}
