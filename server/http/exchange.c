/* DESIGN. An exchange is made when the request line is read and has two owners: the library (until
 * "completed") and, while an answer is awaited, the code that will wake it. Suspending and waking
 * are serialized by the exchange's lock, so a wake may come before, while or after the connection
 * is suspended. */
#include "server/http/exchange.h"

#include "base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GRACE_NS 1000000000ull /* grace after a deadline, for an answer that says more than 504 */

void *dg_exchange_new(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    const char *query = strchr(uri, '?');
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct dg_http_exchange *x = info && info->socket_context ? calloc(1, sizeof *x) : NULL;
    if (x && query)
        x->query = strdup(query + 1); /* the library modifies its own copy of the line */
    if (!x || (query && !x->query)) {
        free(x);
        return NULL;
    }
    x->http = cls;
    x->pool = &x->http->bodies;
    x->mhd = mhd;
    x->request.method = x->request.path = x->request.body = x->request.id = "";
    x->request.type = x->request.trace = "";
    x->request.query = x->query ? x->query : "";
    x->connection = info->socket_context;
    x->net_id = x->connection->id;
    atomic_init(&x->refs, 1);
    pthread_mutex_init(&x->lock, NULL);
    dg_net_phase(x->http->net, x->net_id, DG_NET_HEADERS);
    return x;
}

void dg_exchange_unref(struct dg_http_exchange *x)
{
    if (atomic_fetch_sub(&x->refs, 1) != 1)
        return;
    if (x->later)
        x->later->drop(x->later_arg);
    dg_http_pool_release(x);
    atomic_fetch_sub(&x->http->replies_bytes, x->reply_bytes);
    dg_buffer_deinit(&x->body);
    free(x->query);
    dg_buffer_deinit(&x->out);
    free(x->reply.body);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

const struct dg_http_request *dg_http_request(const struct dg_http_exchange *x)
{
    return &x->request;
}

const char *dg_http_header(const struct dg_http_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

bool dg_http_is_type(const char *content_type, const char *type)
{
    const size_t n = strlen(type);
    return content_type && strncasecmp(content_type, type, n) == 0 &&
           strchr("; \t", content_type[n]); /* NUL, too */
}

bool dg_http_gone(const struct dg_http_exchange *x)
{
    return dg_net_gone(x->http->net, x->net_id);
}

size_t dg_http_sent(const struct dg_http_exchange *x)
{
    return x->sent_bytes;
}

void dg_http_set_outcome(struct dg_http_exchange *x, int status)
{
    x->outcome = status;
}

int dg_http_outcome(const struct dg_http_exchange *x)
{
    return x->outcome;
}

void dg_http_counts(const struct dg_http_exchange *x, struct dg_net_counts *out)
{
    dg_net_counts(x->http->net, out);
}

void dg_http_set_tag(struct dg_http_exchange *x, const void *tag)
{
    x->tag = tag;
}

const void *dg_http_tag(const struct dg_http_exchange *x)
{
    return x->tag;
}

void dg_http_set_headers(struct dg_http_exchange *x, const char *const (*headers)[2])
{
    x->headers = headers;
}

void dg_http_set_id_header(struct dg_http_exchange *x, const char *name)
{
    x->id_header = name;
}

void dg_http_later(struct dg_http_exchange *x, const struct dg_http_later *later, void *arg)
{
    assert(!x->later);
    x->later = later;
    x->later_arg = arg;
    x->state = DG_LATER_RUNNING; /* no other thread knows x yet */
    atomic_fetch_add(&x->refs, 1);
    atomic_fetch_add(&x->http->awaited, 1);
}

void dg_http_due(struct dg_http_exchange *x, uint64_t deadline_ns)
{
    pthread_mutex_lock(&x->lock);
    x->due_ns = deadline_ns > 0 ? deadline_ns + GRACE_NS : 0;
    if (x->state == DG_LATER_SUSPENDED || x->streaming)
        dg_net_due(x->http->net, x->net_id, x->due_ns);
    pthread_mutex_unlock(&x->lock);
}

void dg_exchange_leave(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    dg_net_phase(x->http->net, x->net_id, DG_NET_IDLE);
    x->net_id = 0; /* the connection serves the next request, or is freed */
    pthread_mutex_unlock(&x->lock);
}

void dg_http_drop_body(struct dg_http_exchange *x)
{
    x->request.body = "";
    dg_buffer_deinit(&x->body);
    dg_http_pool_release(x);
}

/* Resume the connection on its HTTP thread. Lock held. */
static void resume(struct dg_http_exchange *x)
{
    if (!x->streaming)
        dg_net_unwatch(x->http->net, x->net_id);
    MHD_resume_connection(x->mhd);
}

void dg_http_turn(struct dg_http_exchange *x, const struct dg_http_later *later)
{
    pthread_mutex_lock(&x->lock);
    if (x->state == DG_LATER_RUNNING || x->state == DG_LATER_SUSPENDED) { /* not late, not woken */
        x->later = later;
        x->turned = true;
        if (x->state == DG_LATER_SUSPENDED)
            resume(x);
        x->state = DG_LATER_RUNNING;
    }
    pthread_mutex_unlock(&x->lock);
}

/* Drop the reference of the code that was to wake x. */
static void drop_later(struct dg_http_exchange *x)
{
    struct dg_http *http = x->http;
    dg_exchange_unref(x);
    atomic_fetch_sub(&http->awaited, 1); /* last: dg_http_close waits for it */
}

void dg_http_wake(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    assert(x->state != DG_LATER_NONE && x->state != DG_LATER_WOKEN);
    bool suspended = x->state == DG_LATER_SUSPENDED; /* DG_LATER_LATE: replied without it */
    x->state = DG_LATER_WOKEN;
    x->poked = true;
    if (suspended)
        resume(x);
    pthread_mutex_unlock(&x->lock);
    drop_later(x);
}

void dg_exchange_pin(void *user)
{
    struct dg_http_exchange *x = user;
    atomic_fetch_add(&x->refs, 1);
}

void dg_exchange_gone(void *user)
{
    struct dg_http_exchange *x = user;
    dg_http_tell_gone(x);
    dg_exchange_unref(x);
}

/* The wake is late: the connection goes on without it, and the code at work is told that the client
 * has gone. */
void dg_exchange_late(void *user)
{
    struct dg_http_exchange *x = user;
    pthread_mutex_lock(&x->lock);
    bool late = x->state == DG_LATER_RUNNING || x->state == DG_LATER_SUSPENDED;
    if (late) {
        bool suspended = x->state == DG_LATER_SUSPENDED;
        x->state = DG_LATER_LATE;
        x->late = true;
        if (suspended)
            MHD_resume_connection(x->mhd);
    }
    pthread_mutex_unlock(&x->lock);
    if (late)
        dg_http_tell_gone(x);
    dg_exchange_unref(x);
}

/* Make a stream that was quiet for a while send reply.ping, so that no proxy takes it for dead. */
void dg_exchange_quiet(void *user)
{
    struct dg_http_exchange *x = user;
    pthread_mutex_lock(&x->lock);
    if (x->streaming) {
        x->ping = true;
        dg_http_poke_locked(x);
    }
    pthread_mutex_unlock(&x->lock);
    dg_exchange_unref(x);
}

bool dg_exchange_is_late(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    bool late = x->late;
    pthread_mutex_unlock(&x->lock);
    return late;
}

/* Ask to be told when the client hangs up; true: it already has. Lock held. */
static bool watch(struct dg_http_exchange *x)
{
    return !dg_net_watch(x->http->net, x->net_id, x, x->due_ns);
}

bool dg_exchange_suspend(struct dg_http_exchange *x)
{
    bool gone = false;
    pthread_mutex_lock(&x->lock);
    bool wait = x->state == DG_LATER_RUNNING && !x->turned;
    if (wait) {
        x->state = DG_LATER_SUSPENDED;
        MHD_suspend_connection(x->mhd);
        gone = watch(x);
        if (gone)
            dg_exchange_pin(x); /* for dg_exchange_gone below; the wake may come meanwhile */
    }
    pthread_mutex_unlock(&x->lock);
    if (gone)
        dg_exchange_gone(x);
    return wait;
}

enum MHD_Result dg_exchange_reply(struct dg_http_exchange *x)
{
    if (!x->replied) {
        dg_log(DG_LOG_ERROR, "handler gave no reply path=%s", x->request.path);
        return MHD_NO;
    }
    return dg_exchange_send(x);
}

static bool is_stream(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    bool yes = x->later->fill && !x->turned;
    pthread_mutex_unlock(&x->lock);
    return yes;
}

static void begin_stream(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    const struct dg_http_later *later = x->later;
    x->streaming = true;
    bool gone = watch(x);
    pthread_mutex_unlock(&x->lock);
    later->finish(x->later_arg, x);
    if (gone)
        dg_http_tell_gone(x);
}

/* The handler has returned. Do not suspend for a later reply yet: without a response the library
 * calls again at once, and by then it has noted that the request has nothing more to read. If the
 * connection were suspended before that, the library would read first when resumed, and would close
 * without a reply if the client had shut down its sending side. */
enum MHD_Result dg_exchange_settle(struct dg_http_exchange *x)
{
    if (x->later_arg && x->replied) {
        drop_later(x); /* nobody will wake it */
        return dg_exchange_send(x);
    }
    if (x->later_arg && !is_stream(x))
        return MHD_YES;
    if (x->later_arg)
        begin_stream(x);
    return dg_exchange_reply(x);
}

bool dg_exchange_stream(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    bool begins = x->turned && !x->late;
    x->turned = false;
    pthread_mutex_unlock(&x->lock);
    if (begins)
        begin_stream(x);
    return begins;
}

void dg_exchange_refuse(
    struct dg_http_exchange *x, int status, const char *code, const char *message)
{
    struct dg_http_reply r = {0};
    x->http->o.refuse(x->http->o.app, x, status, code, message, &r);
    r.close = true;
    x->connection->linger = true;
    dg_http_reply_take(x, &r);
}

void dg_exchange_reply_late(struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    x->http->o.refuse(x->http->o.app, x, 504, "timeout", "the request's deadline passed", &r);
    dg_http_reply_take(x, &r);
}
