/* A server that streams its replies, and clients that read them: for test_http_stream.c. */
#ifndef DG_TESTS_STREAM_SERVER_H
#define DG_TESTS_STREAM_SERVER_H

#include "tests/unit/local_http.h"

#include "base/clock.h"

#include <pthread.h>

#define LINES 200
#define CLIENTS 6
#define BIG (64u << 20)
#define LARGE (16u << 20) /* more than the kernel keeps for a client that does not read */

struct server {
    struct dg_http *http;
    uint16_t port;
    atomic_int opened, dropped, told_gone, cut, whole;
    atomic_size_t filled;
};

/* One stream: a thread makes lines; /big fills without end. */
struct call {
    struct server *server;
    struct dg_http_exchange *x;
    pthread_t thread;
    bool has_thread;
    atomic_int made;
    atomic_bool gone;
    int given;
    bool big, quiet;
    /* due: the end is due at once; lifted: the deadline is lifted afterwards */
    bool due, lifted;
    /* due at once; writes "late", and sets a deadline again after it is gone */
    bool belated;
};

static inline void nap(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static inline void finish(void *arg, struct dg_http_exchange *x)
{
    const struct call *c = arg;
    struct dg_http_reply r = {.status = 200, .content_type = "text/plain"};
    if (c->quiet)
        r.ping = "ping\n";
    dg_http_reply_take(x, &r);
}

static inline void fill(void *arg, struct dg_http_exchange *x, bool last, struct dg_buffer *out)
{
    struct call *c = arg;
    (void)x;
    (void)last;
    if (c->big) {
        static const char block[4096] = "x";
        dg_buffer_add(out, block, sizeof block);
        atomic_fetch_add(&c->server->filled, sizeof block);
        return;
    }
    int made = atomic_load(&c->made);
    while (c->given < made)
        dg_buffer_addf(out, "line %d\n", c->given++);
}

static inline void say_late(void *arg, struct dg_http_exchange *x, struct dg_buffer *out)
{
    (void)arg;
    (void)x;
    dg_buffer_adds(out, "late\n");
}

static inline void gone(void *arg)
{
    struct call *c = arg;
    atomic_fetch_add(&c->server->told_gone, 1);
    atomic_store(&c->gone, true);
}

static inline void drop(void *arg)
{
    struct call *c = arg;
    if (c->has_thread)
        pthread_detach(c->thread);
    atomic_fetch_add(&c->server->dropped, 1);
    free(c);
}

static inline void *produce(void *arg)
{
    struct call *c = arg;
    struct dg_http_exchange *x = c->x;
    if (c->quiet)
        nap(1000);
    if (c->belated) {
        while (!atomic_load(&c->gone))
            nap(1);
        nap(500);
        dg_http_due(x, 1);
    }
    if (c->lifted) {
        nap(50); /* by then the server has suspended the exchange, but has not cut it off */
        dg_http_due(x, 0);
        nap(1500);
    }
    while (c->due && !c->lifted && !atomic_load(&c->gone))
        nap(1);
    for (int i = 0; i < LINES && !atomic_load(&c->gone); i++) {
        if (i % 7 == 0)
            nap(1);
        atomic_fetch_add(&c->made, 1);
        dg_http_poke(x);
    }
    while (c->big && !atomic_load(&c->gone) && atomic_load(&c->server->filled) < BIG)
        nap(1);
    dg_http_wake(x); /* c may be freed from here on */
    return NULL;
}

static inline void reply_large(struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.status = 200, .body = calloc(LARGE, 1), .body_len = LARGE};
    assert_non_null(r.body);
    dg_http_reply_take(x, &r);
}

/* /large replies with LARGE bytes. /refuse replies immediately. The deadline of /late, /belated and
 * /lifted passes immediately. /quiet waits for a second. */
static inline void handle(void *app, struct dg_http_exchange *x)
{
    static const struct dg_http_later later = {
        .finish = finish, .gone = gone, .drop = drop, .fill = fill};
    static const struct dg_http_later told_late = {
        .finish = finish, .gone = gone, .drop = drop, .fill = fill, .late = say_late};
    struct server *s = app;
    const struct dg_http_request *q = dg_http_request(x);
    if (strcmp(q->path, "/large") == 0) {
        reply_large(x);
        return;
    }
    struct call *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->server = s;
    c->x = x;
    c->quiet = strcmp(q->path, "/quiet") == 0;
    c->big = strcmp(q->path, "/big") == 0;
    c->lifted = strcmp(q->path, "/lifted") == 0;
    c->belated = strcmp(q->path, "/belated") == 0;
    c->due = c->lifted || strcmp(q->path, "/late") == 0;
    atomic_fetch_add(&s->opened, 1);
    dg_http_later(x, c->belated ? &told_late : &later, c);
    if (c->due || c->belated)
        dg_http_due(x, dg_clock_ns());
    if (strcmp(q->path, "/refuse") == 0) {
        struct dg_http_reply r = {.status = 503};
        dg_http_reply_take(x, &r);
        return;
    }
    c->has_thread = true;
    assert_int_equal(pthread_create(&c->thread, NULL, produce, c), 0);
}

static inline void finished(void *app, struct dg_http_exchange *x, int status)
{
    struct server *s = app;
    (void)x;
    atomic_fetch_add(status == 200 ? &s->whole : &s->cut, 1);
}

static inline struct server *start(uint32_t write_timeout_ms)
{
    struct server *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const struct dg_http_options o = {.threads = 2,
        .max_connections = 64,
        .max_body_bytes = 1000,
        .max_bodies_bytes = 100000,
        .max_replies_bytes = 2 * LARGE + LARGE / 2,
        .limits = {.write_timeout_ms = write_timeout_ms, .ping_ms = 200},
        .app = s,
        .handle = handle,
        .refuse = refuse_without_body,
        .finished = finished};
    s->http = serve(o, &s->port);
    return s;
}

static inline void stop(struct server *s)
{
    dg_http_close(s->http);
    assert_int_equal(s->dropped, s->opened); /* nothing leaked, nothing freed twice */
    free(s);
}

static inline void ask(int fd, const char *path, const char *version)
{
    char text[256];
    int n = snprintf(text, sizeof text, "POST %s HTTP/%s\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        path, version);
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
}

static inline int dial(const struct server *s, const char *path, const char *version)
{
    const int fd = connect_to(s->port);
    assert_true(fd >= 0);
    ask(fd, path, version);
    return fd;
}

/* Reads the body of a chunked reply; "" if the reply was cut off. */
static inline size_t read_chunks(int fd, char *out, size_t cap)
{
    char *text = malloc(cap);
    size_t n = 0, len = 0;
    assert_non_null(text);
    while (n < cap - 1 && !(n >= 5 && memcmp(text + n - 5, "0\r\n\r\n", 5) == 0)) {
        ssize_t k = recv(fd, text + n, cap - 1 - n, 0);
        if (k <= 0)
            break;
        n += (size_t)k;
    }
    text[n] = '\0';
    char *at = strstr(text, "\r\n\r\n");
    assert_non_null(strstr(text, "Transfer-Encoding: chunked"));
    for (at = at ? at + 4 : NULL; at;) {
        size_t size = strtoul(at, &at, 16);
        if (size == 0)
            break;
        memcpy(out + len, at + 2, size);
        len += size;
        at += 2 + size + 2;
    }
    out[len] = '\0';
    free(text);
    return len;
}

static inline void check_lines(const char *text)
{
    for (int i = 0; i < LINES; i++) {
        char line[32];
        size_t n = (size_t)snprintf(line, sizeof line, "line %d\n", i);
        assert_memory_equal(text, line, n);
        text += n;
    }
    assert_string_equal(text, "");
}

#endif
