#include "bench/load/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void watch(struct dg_load_client *c, uint32_t i, uint32_t events, int op)
{
    struct epoll_event e = {.events = events, .data.u32 = i};
    epoll_ctl(c->epoll, op, c->conns[i].fd, &e);
}

static void close_conn(struct dg_load_client *c, struct dg_load_conn *k, bool reset)
{
    struct linger linger = {.l_onoff = 1};
    if (k->state == DG_LOAD_CONN_SENDING || k->state == DG_LOAD_CONN_WAITING)
        c->n_busy--;
    if (reset)
        setsockopt(k->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(k->fd);
    k->state = DG_LOAD_CONN_CLOSED;
    k->generation++;
    c->closed[c->n_closed++] = (uint32_t)(k - c->conns);
    c->n_open--;
}

static void set_free(struct dg_load_client *c, struct dg_load_conn *k)
{
    c->n_busy--;
    k->state = DG_LOAD_CONN_FREE;
    k->generation++;
    if (c->n_idle == c->cap_idle) {
        size_t cap = c->cap_idle ? 2 * c->cap_idle : 256;
        struct dg_load_free_conn *idle = realloc(c->idle, cap * sizeof *idle);
        if (!idle) {
            c->failed = true;
            return;
        }
        c->idle = idle;
        c->cap_idle = cap;
    }
    c->idle[c->n_idle++] = (struct dg_load_free_conn){(uint32_t)(k - c->conns), k->generation};
}

void dg_load_record_over(struct dg_load_client *c, size_t i, enum dg_load_outcome outcome)
{
    struct dg_load_record *r = &c->records[i];
    r->outcome = (uint8_t)outcome;
    r->done_ns = dg_load_now(c);
    c->n_over++;
}

static void lose(struct dg_load_client *c, struct dg_load_conn *k)
{
    if (k->state != DG_LOAD_CONN_FREE)
        dg_load_record_over(c, k->record, k->sent == 0 ? DG_LOAD_UNSENT : DG_LOAD_LOST);
    close_conn(c, k, false);
}

void dg_load_conn_send(struct dg_load_client *c, struct dg_load_conn *k)
{
    struct dg_load_record *r = &c->records[k->record];
    const char *request = c->items->list[r->item].request;
    while (k->sent < k->len) {
        ssize_t n = send(k->fd, request + k->sent, k->len - k->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
            watch(c, (uint32_t)(k - c->conns), EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            return;
        }
        if (n < 0) {
            /* The server may have sent a refusal already: read it before the connection counts as
             * lost. */
            if (k->sent == 0)
                lose(c, k);
            return;
        }
        k->sent += (size_t)n;
    }
    r->sent_ns = dg_load_now(c);
    if (c->out->last_send_ns < r->sent_ns)
        c->out->last_send_ns = r->sent_ns;
    k->state = DG_LOAD_CONN_WAITING;
    watch(c, (uint32_t)(k - c->conns), EPOLLIN, EPOLL_CTL_MOD);
}

/* A complete reply has arrived. */
static void answered(struct dg_load_client *c, struct dg_load_conn *k)
{
    struct dg_load_record *r = &c->records[k->record];
    const char *body = k->reply.in.data + k->reply.body_at;
    enum dg_load_outcome outcome = DG_LOAD_REFUSED;
    uint64_t done = dg_load_now(c);
    r->status = (uint16_t)k->reply.status;
    memcpy(r->timing, k->reply.timing, sizeof r->timing);
    if (k->reply.status == 200)
        outcome = dg_load_item_check(&c->items->list[r->item], body, k->reply.body_len)
                      ? DG_LOAD_OK
                      : DG_LOAD_WRONG;
    if (k->reply.status == 200 && c->o->answered)
        c->o->answered(c->o->arg, r, body, k->reply.body_len);
    dg_load_record_over(c, k->record, outcome);
    r->done_ns = done; /* without our own time for checking it */
    if (k->reply.close || k->state == DG_LOAD_CONN_SENDING || r->vanish == DG_LOAD_HALF_CLOSE)
        close_conn(c, k, false);
    else
        set_free(c, k);
}

/* Drops what arrives on a half-closed connection; closes it when the server has. */
static void discard(struct dg_load_client *c, struct dg_load_conn *k)
{
    ssize_t n;
    while ((n = recv(k->fd, c->bytes, DG_LOAD_READ_BYTES, 0)) > 0)
        continue;
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_conn(c, k, false);
}

void dg_load_conn_read(struct dg_load_client *c, struct dg_load_conn *k)
{
    bool ended = false;
    ssize_t n;
    if (k->state == DG_LOAD_CONN_HALF_CLOSED) {
        discard(c, k);
        return;
    }
    while ((n = recv(k->fd, c->bytes, DG_LOAD_READ_BYTES, 0)) > 0 && k->state != DG_LOAD_CONN_FREE)
        dg_buffer_add(&k->reply.in, c->bytes, (size_t)n);
    ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (k->state == DG_LOAD_CONN_FREE) { /* closed, or bytes without a request */
        close_conn(c, k, false);
        return;
    }
    int got = dg_load_reply_feed(&k->reply, ended);
    k->reply.close |= ended;
    if (got > 0)
        answered(c, k);
    else if (got < 0)
        lose(c, k);
}

/* A half-close counts as vanished, too: the server drops the work and may answer 408. Before the
 * whole request is sent, it is a close. */
void dg_load_conn_vanish(struct dg_load_client *c, struct dg_load_conn *k)
{
    uint8_t how = c->records[k->record].vanish;
    dg_load_record_over(c, k->record, DG_LOAD_VANISHED);
    if (how != DG_LOAD_HALF_CLOSE || k->state != DG_LOAD_CONN_WAITING) {
        close_conn(c, k, how == DG_LOAD_RESETS);
        return;
    }
    shutdown(k->fd, SHUT_WR);
    k->state = DG_LOAD_CONN_HALF_CLOSED;
    c->n_busy--;
}

struct dg_load_conn *dg_load_conn_open(struct dg_load_client *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons(c->o->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
        close(fd);
        return NULL;
    }
    uint32_t i = c->n_closed > 0 ? c->closed[--c->n_closed] : c->n_conns++;
    struct dg_load_conn *k = &c->conns[i];
    k->fd = fd;
    c->out->opened++;
    if (++c->n_open > c->out->connections)
        c->out->connections = c->n_open;
    watch(c, i, EPOLLIN | EPOLLOUT, EPOLL_CTL_ADD);
    return k;
}

struct dg_load_conn *dg_load_conn_idle(struct dg_load_client *c)
{
    while (c->n_idle > 0) {
        struct dg_load_free_conn f = c->idle[--c->n_idle];
        struct dg_load_conn *k = &c->conns[f.conn];
        if (k->generation == f.generation && k->state == DG_LOAD_CONN_FREE)
            return k;
    }
    return NULL;
}
