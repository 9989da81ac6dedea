/* Requests that are refused before their bodies, and the memory that bodies share.
 * tests/api/test_early_refusals.py checks what a whole server refuses. */
#include "tests/unit/local_http.h"

#define LARGEST 100000 /* bytes of a body; all together: four times as many */

static atomic_int handled;

static void reply(struct dg_http_exchange *x, int status)
{
    struct dg_http_reply r = {.status = status};
    dg_http_reply_take(x, &r);
}

/* Paths that begin with /no are refused, with /half unproven, with /file uploads. */
static void admit(void *app, struct dg_http_exchange *x)
{
    const char *path = dg_http_request(x)->path;
    (void)app;
    if (strncmp(path, "/no", 3) == 0)
        reply(x, 403);
    if (strncmp(path, "/half", 5) == 0)
        dg_http_unproven(x);
    if (strncmp(path, "/file", 5) == 0)
        dg_http_upload(x);
}

static void handle(void *app, struct dg_http_exchange *x)
{
    (void)app;
    atomic_fetch_add(&handled, 1);
    reply(x, 200);
}

static void finished(void *app, struct dg_http_exchange *x, int status)
{
    (void)app;
    (void)x;
    (void)status;
}

static struct dg_http *start(uint16_t *port)
{
    const struct dg_http_options o = {.threads = 2,
        .max_connections = 64,
        .max_body_bytes = LARGEST,
        .max_bodies_bytes = 4 * LARGEST,
        .max_upload_bytes = 2 * LARGEST,
        .max_uploads_bytes = 8 * LARGEST,
        .admit = admit,
        .handle = handle,
        .refuse = refuse_without_body,
        .finished = finished};
    atomic_store(&handled, 0);
    return serve(o, port);
}

static int dial(uint16_t port)
{
    const struct timeval patience = {.tv_sec = 30};
    const int fd = connect_to(port);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* Sends the head of a request with a body of n bytes, and `now` bytes of that. */
static void ask(int fd, const char *method, const char *path, size_t n, size_t now)
{
    char *text = malloc(now + 256);
    assert_non_null(text);
    const int head = snprintf(
        text, 256, "%s %s HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", method, path, n);
    memset(text + head, 'x', now);
    const size_t all = (size_t)head + now;
    assert_int_equal(send(fd, text, all, MSG_NOSIGNAL), all);
    free(text);
}

/* Receives a reply without a body: returns its status; 0: the connection ended. */
static int receive(int fd)
{
    char text[2048] = "";
    int status = 0;
    for (size_t n = 0; !strstr(text, "\r\n\r\n");) {
        const ssize_t k = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (k <= 0)
            return 0;
        n += (size_t)k;
        text[n] = '\0';
    }
    assert_int_equal(sscanf(text, "HTTP/1.1 %d", &status), 1);
    return status;
}

/* Asks on a connection of its own. */
static int status_of(uint16_t port, const char *method, const char *path, size_t n, size_t now)
{
    int fd = dial(port);
    ask(fd, method, path, n, now);
    const int status = receive(fd);
    close(fd);
    return status;
}

static void refused_without_its_body(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE", "GET"};
    uint16_t port;
    struct dg_http *http = start(&port);
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        assert_int_equal(status_of(port, methods[i], "/no", 99000, 0), 403);
        assert_int_equal(status_of(port, methods[i], "/no", 10 * LARGEST, 0), 403);
        assert_int_equal(status_of(port, methods[i], "/yes", LARGEST + 1, 0), 413);
        assert_int_equal(status_of(port, methods[i], "/file", 2 * LARGEST + 1, 0), 413);
        assert_int_equal(status_of(port, methods[i], "/file", 2 * LARGEST, 2 * LARGEST), 200);
    }
    assert_int_equal(handled, 5);
    dg_http_close(http);
}

/* A small body is dropped, and the connection is good for another request. */
static void connections_go_on(void **state)
{
    uint16_t port;
    struct dg_http *http = start(&port);
    (void)state;
    int fd = dial(port);
    ask(fd, "POST", "/no", 0, 0);
    assert_int_equal(receive(fd), 403);
    ask(fd, "POST", "/no", 60000, 60000);
    assert_int_equal(receive(fd), 403);
    ask(fd, "PATCH", "/no", 10, 10);
    assert_int_equal(receive(fd), 403);
    assert_int_equal(handled, 0);
    ask(fd, "POST", "/yes", 10, 10);
    assert_int_equal(receive(fd), 200);
    close(fd);
    dg_http_close(http);
}

/* Unproven bodies take at most half of the memory while they arrive; a body that has arrived, or
 * whose client has left, frees its share. */
static void unproven_bodies(void **state)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint16_t port;
    struct dg_http *http = start(&port);
    (void)state;
    for (int round = 0; round < 2; round++) {
        int fds[2];
        for (int i = 0; i < 2; i++) {
            fds[i] = dial(port);
            ask(fds[i], "POST", "/half", LARGEST, LARGEST - 1);
        }
        while (status_of(port, "POST", "/half", 10, 10) != 503) /* until all of it has arrived */
            nanosleep(&pause, NULL);
        assert_int_equal(status_of(port, "POST", "/yes", LARGEST, LARGEST), 200);
        assert_int_equal(status_of(port, "POST", "/file", LARGEST, LARGEST), 200);
        for (int i = 0; i < 2; i++) {
            if (round == 0) { /* else the client leaves */
                assert_int_equal(send(fds[i], "x", 1, MSG_NOSIGNAL), 1);
                assert_int_equal(receive(fds[i]), 200);
            }
            close(fds[i]);
        }
        while (status_of(port, "POST", "/half", LARGEST, LARGEST) != 200)
            nanosleep(&pause, NULL);
    }
    dg_http_close(http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused_without_its_body),
        cmocka_unit_test(connections_go_on), cmocka_unit_test(unproven_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
