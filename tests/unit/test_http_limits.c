/* http.c and net.c without an engine: replies now and later, from other threads, with clients that
 * vanish, limits, and stopping in the middle of it all. tests/api/test_http.py checks the bytes
 * sent in more detail. */
#include "tests/unit/local_http.h"

#include "base/clock.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

#define CLIENTS 8
#define ROUNDS 150

struct call {
    struct server *server;
    struct dg_http_exchange *x;
    struct call *next;
    atomic_bool gone;
    bool until_gone; /* woken only when its client has hung up */
};

struct server {
    struct dg_http *http;
    uint16_t port;
    pthread_t waker;
    pthread_mutex_t lock;
    struct call *waiting; /* guarded by lock */
    bool stop, end;       /* guarded by lock: wake everything at once; no more will come */
    atomic_int later, finished, dropped, told_gone, replies;
};

static void reply_text(struct dg_http_exchange *x, int status, const char *s, size_t n)
{
    struct dg_http_reply r = {.status = status, .content_type = "text/plain"};
    r.body = malloc(n + 1);
    assert_non_null(r.body);
    memcpy(r.body, s, n);
    r.body_len = n;
    dg_http_reply_take(x, &r);
}

static void finish(void *arg, struct dg_http_exchange *x)
{
    struct call *c = arg;
    const struct dg_http_request *q = dg_http_request(x);
    atomic_fetch_add(&c->server->finished, 1);
    reply_text(x, 200, q->body, q->body_len);
}

static void gone(void *arg)
{
    struct call *c = arg;
    atomic_fetch_add(&c->server->told_gone, 1);
    atomic_store(&c->gone, true);
}

static void drop(void *arg)
{
    struct call *c = arg;
    atomic_fetch_add(&c->server->dropped, 1);
    free(c);
}

/* POST /now and /later echo the body, /hang waits for the client to leave; anything else is 404. */
static void handle(void *app, struct dg_http_exchange *x)
{
    static const struct dg_http_later later = {.finish = finish, .gone = gone, .drop = drop};
    struct server *s = app;
    const struct dg_http_request *q = dg_http_request(x);
    if (!strcmp(q->path, "/now")) {
        reply_text(x, 200, q->body, q->body_len);
        return;
    }
    if (strcmp(q->path, "/later") && strcmp(q->path, "/hang")) {
        reply_text(x, 404, "", 0);
        return;
    }
    struct call *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->server = s;
    c->x = x;
    c->until_gone = !strcmp(q->path, "/hang");
    atomic_fetch_add(&s->later, 1);
    dg_http_later(x, &later, c);
    pthread_mutex_lock(&s->lock);
    c->next = s->waiting;
    s->waiting = c;
    pthread_mutex_unlock(&s->lock);
}

/* Wakes waiting calls in bunches; when everything is stopped, also those read from a socket only
 * then. */
static void *wake_all(void *arg)
{
    const struct timespec pause = {.tv_nsec = 200000};
    struct server *s = arg;
    for (bool stop, end = false; !end;) {
        struct call *list = NULL, **at;
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&s->lock);
        stop = s->stop;
        end = s->end;
        for (at = &s->waiting; *at;) {
            struct call *c = *at;
            if (c->until_gone && !atomic_load(&c->gone) && !stop) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            c->next = list;
            list = c;
        }
        pthread_mutex_unlock(&s->lock);
        while (list) {
            struct call *c = list;
            list = c->next;
            dg_http_wake(c->x);
        }
    }
    return NULL;
}

static void refuse(void *app, struct dg_http_exchange *x, int status, const char *code,
    const char *message, struct dg_http_reply *r)
{
    (void)app;
    (void)x;
    (void)message;
    r->status = status;
    r->body = strdup(code);
    r->body_len = strlen(code);
}

static void finished(void *app, struct dg_http_exchange *x, int status)
{
    struct server *s = app;
    (void)x;
    atomic_fetch_add(&s->replies, status == 200);
}

static struct server *start(uint32_t threads)
{
    struct server *s = calloc(1, sizeof *s);
    assert_non_null(s);
    pthread_mutex_init(&s->lock, NULL);
    const struct dg_http_options o = {.threads = threads,
        .max_connections = 64,
        .max_body_bytes = 1000,
        .max_bodies_bytes = 100000,
        .app = s,
        .handle = handle,
        .refuse = refuse,
        .finished = finished};
    s->http = serve(o, &s->port);
    assert_int_equal(pthread_create(&s->waker, NULL, wake_all, s), 0);
    return s;
}

static void tell(struct server *s, bool *what)
{
    pthread_mutex_lock(&s->lock);
    *what = true;
    pthread_mutex_unlock(&s->lock);
}

static void stop(struct server *s)
{
    dg_http_drain(s->http);
    tell(s, &s->stop);
    dg_http_close(s->http);
    tell(s, &s->end);
    pthread_join(s->waker, NULL);
    assert_int_equal(s->dropped, s->later); /* nothing leaked, nothing freed twice */
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void send_post(int fd, const char *path, const char *body)
{
    char text[2048];
    int n = snprintf(text, sizeof text,
        "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n%s", path, strlen(body), body);
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
}

/* Receives one reply: returns its status, with the body in out; 0: the connection ended. */
static int receive(int fd, char *out, size_t cap)
{
    char text[4096];
    size_t n = 0, need = SIZE_MAX;
    int status = 0;
    while (n < need) {
        ssize_t k = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (k <= 0)
            return 0;
        n += (size_t)k;
        text[n] = '\0';
        const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
        if (end && length) {
            need = (size_t)(end + 4 - text) + strtoul(length + 16, NULL, 10);
            assert_int_equal(sscanf(text, "HTTP/1.1 %d", &status), 1);
            snprintf(out, cap, "%s", end + 4);
        }
    }
    return status;
}

struct client {
    pthread_t thread;
    const struct server *server;
    int number, answered;
};

/* Sends echoes over kept-alive connections; every fifth round the client leaves without its
 * answer. */
static void *run_client(void *arg)
{
    struct client *c = arg;
    int fd = connect_to(c->server->port);
    for (int i = 0; i < ROUNDS; i++) {
        char body[64], got[64];
        snprintf(body, sizeof body, "client %d round %d", c->number, i);
        send_post(fd, i % 3 == 0 ? "/now" : i % 5 == 4 ? "/hang" : "/later", body);
        if (i % 5 == 4) {
            close(fd);
            fd = connect_to(c->server->port);
            continue;
        }
        assert_int_equal(receive(fd, got, sizeof got), 200);
        assert_string_equal(got, body);
        c->answered++;
    }
    close(fd);
    return NULL;
}

static void echoes_and_vanishing_clients(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        struct server *s = start(threads);
        struct client clients[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            clients[i] = (struct client){.server = s, .number = i};
            assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
        }
        for (int i = 0; i < CLIENTS; i++) {
            pthread_join(clients[i].thread, NULL);
            assert_int_equal(clients[i].answered, ROUNDS - ROUNDS / 5);
        }
        assert_true(s->told_gone > 0);
        stop(s);
    }
}

static void limits(void **state)
{
    struct server *s = start(2);
    char big[1100], got[128];
    (void)state;
    memset(big, 'x', sizeof big);
    big[1000] = '\0';
    int fd = connect_to(s->port);
    send_post(fd, "/later", big);
    assert_int_equal(receive(fd, got, sizeof got), 200); /* exactly the limit */
    big[1000] = 'x';
    big[1001] = '\0';
    send_post(fd, "/later", big);
    assert_int_equal(receive(fd, got, sizeof got), 413);
    assert_string_equal(got, "too_large");
    assert_int_equal(receive(fd, got, sizeof got), 0); /* and closed */
    close(fd);
    /* One of 65 is too many: the one counted last, which need not be the one that connected last. A
     * second one is refused while the connection from above is still counted. */
    struct pollfd all[65];
    for (size_t i = 0; i < 65; i++)
        all[i] = (struct pollfd){.fd = connect_to(s->port), .events = POLLIN};
    assert_in_range(poll(all, 65, 30000), 1, 2);
    for (size_t i = 0; i < 65; i++)
        if (all[i].revents)
            assert_int_equal(receive(all[i].fd, got, sizeof got), 503);
    for (size_t i = 0; i < 65; i++)
        close(all[i].fd);
    stop(s);
}

/* Hanging requests are answered when the server stops; connections made meanwhile are answered or
 * refused. */
static void stopping_under_load(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct server *s = start(2);
        int fds[20];
        char got[64];
        for (int i = 0; i < 20; i++) {
            fds[i] = connect_to(s->port);
            send_post(fds[i], i % 2 ? "/hang" : "/later", "bye");
        }
        while (atomic_load(&s->later) < 20)
            sched_yield();
        stop(s);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(receive(fds[i], got, sizeof got), 200);
            assert_string_equal(got, "bye");
            assert_int_equal(receive(fds[i], got, sizeof got), 0);
            close(fds[i]);
        }
    }
}

/* Clients that the kernel has connected but the server has not accepted when it stops. */
static void stopping_while_clients_come(void **state)
{
    (void)state;
    for (int round = 0; round < 150; round++) {
        struct server *s = start(1);
        int fds[8];
        for (int i = 0; i < 8; i++)
            fds[i] = connect_to(s->port);
        for (int i = 0; i < 8; i++)
            close(fds[i]);
        stop(s);
    }
}

/* After accepting has ended no connection stays open: every connected client has been answered. */
static void drained_is_empty(void **state)
{
    static const char last[] = "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const struct timespec pause = {.tv_nsec = 200000};
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct server *s = start(1);
        int fds[8];
        char got[64];
        for (int i = 0; i < 8; i++) {
            fds[i] = connect_to(s->port);
            assert_int_equal(send(fds[i], last, sizeof last - 1, MSG_NOSIGNAL), sizeof last - 1);
        }
        dg_http_drain(s->http);
        while (!dg_http_drained(s->http) || dg_http_connections(s->http) > 0)
            nanosleep(&pause, NULL);
        for (int i = 0; i < 8; i++) {
            struct pollfd there = {.fd = fds[i], .events = POLLIN};
            assert_int_equal(poll(&there, 1, 0), 1);
            assert_int_equal(receive(fds[i], got, sizeof got), 200);
            close(fds[i]);
        }
        stop(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(echoes_and_vanishing_clients),
        cmocka_unit_test(limits), cmocka_unit_test(stopping_under_load),
        cmocka_unit_test(stopping_while_clients_come), cmocka_unit_test(drained_is_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
