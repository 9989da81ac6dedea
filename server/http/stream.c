/* DESIGN. The library asks for bytes, on an HTTP thread, when the socket has taken the last ones;
 * only then are they filled in, so that a slow reader holds up no other, and at most one block
 * waits for it. When there is nothing to fill in, the connection is suspended, and a poke resumes
 * it; both happen under the exchange's lock. The time limit for writing starts again with each
 * block that the socket has taken. */
#include "server/http/exchange.h"

#include <string.h>
#include <sys/socket.h>

#define BLOCK 8192

/* Suspend a stream that has nothing to send. False: it has something after all. */
static bool pause_stream(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    bool wait = !x->poked && x->state == DG_LATER_RUNNING;
    if (wait) {
        dg_net_phase(x->http->net, x->net_id, DG_NET_HANDLING);
        x->state = DG_LATER_SUSPENDED;
        MHD_suspend_connection(x->mhd);
    }
    pthread_mutex_unlock(&x->lock);
    return wait;
}

/* Fill out with more to send. False: there is nothing now, and the connection is suspended. */
static bool fill(struct dg_http_exchange *x)
{
    do {
        pthread_mutex_lock(&x->lock);
        x->poked = false;
        bool late = x->late, ping = x->ping;
        x->ping = false;
        x->out_last = late || x->state == DG_LATER_WOKEN;
        pthread_mutex_unlock(&x->lock);
        dg_buffer_reset(&x->out);
        x->out_at = 0;
        if (!late)
            x->later->fill(x->later_arg, x, x->out_last, &x->out);
        else if (x->later->late)
            x->later->late(x->later_arg, x, &x->out);
        else
            x->out.failed = true; /* cut off: a regular end would make the reply look complete */
        if (ping && x->reply.ping && x->out.len == 0 && !x->out_last)
            dg_buffer_adds(&x->out, x->reply.ping);
        if (x->out.len > 0 || x->out_last || x->out.failed)
            return true;
    } while (!pause_stream(x));
    return false;
}

/* End the connection with the reply cut off. If this returned an error, the library (0.9.75, epoll)
 * would leave the connection closed but never clean it up, because no other event comes for it;
 * shutting down the socket makes it do so. */
static ssize_t cut_off(const struct dg_http_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t give_bytes(void *cls, uint64_t at, char *to, size_t room)
{
    struct dg_http_exchange *x = cls;
    (void)at;
    if (x->out_at == x->out.len && !x->out_last) {
        if (dg_http_gone(x))
            return cut_off(x);
        if (!fill(x))
            return 0;
    }
    if (x->out.failed)
        return cut_off(x);
    size_t n = x->out.len - x->out_at;
    if (n == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n > room)
        n = room;
    dg_net_phase(x->http->net, x->net_id, DG_NET_WRITING);
    memcpy(to, x->out.data + x->out_at, n);
    x->out_at += n;
    x->sent_bytes += n;
    return (ssize_t)n;
}

struct MHD_Response *dg_http_stream_response(struct dg_http_exchange *x)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, give_bytes, x, NULL);
}

void dg_http_poke_locked(struct dg_http_exchange *x)
{
    x->poked = true;
    if (x->state == DG_LATER_SUSPENDED && x->streaming) {
        x->state = DG_LATER_RUNNING;
        MHD_resume_connection(x->mhd);
    }
}

void dg_http_poke(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    dg_http_poke_locked(x);
    pthread_mutex_unlock(&x->lock);
}

void dg_http_tell_gone(struct dg_http_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    bool tell = x->state != DG_LATER_WOKEN && !x->told_gone;
    x->told_gone = true;
    const struct dg_http_later *later = x->later;
    pthread_mutex_unlock(&x->lock);
    if (tell && later->gone)
        later->gone(x->later_arg);
}

void dg_http_stream_end(struct dg_http_exchange *x)
{
    dg_net_unwatch(x->http->net, x->net_id);
    if (!x->out_last)
        dg_http_tell_gone(x);
}
