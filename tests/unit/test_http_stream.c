/* Streamed replies: producers that poke from other threads, readers that are slow or vanish,
 * stopping in the middle. Large replies that nobody reads. */
#include "tests/unit/stream_server.h"

static void *run_client(void *arg)
{
    const struct server *s = arg;
    static const size_t cap = 100000;
    char *text = malloc(cap);
    assert_non_null(text);
    for (int i = 0; i < 10; i++) {
        int fd = dial(s, "/lines", "1.1");
        if (i % 3 == 2) {
            recv(fd, text, 64, 0); /* and leave */
        } else {
            read_chunks(fd, text, cap);
            check_lines(text);
        }
        close(fd);
    }
    free(text);
    return NULL;
}

static void lines_and_vanishing_clients(void **state)
{
    struct server *s = start(60000);
    pthread_t clients[CLIENTS];
    (void)state;
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, run_client, s), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    while (atomic_load(&s->dropped) < CLIENTS * 10)
        nap(1);
    assert_true(s->whole >= CLIENTS * 7);
    stop(s);
}

/* A client resets the connection while its stream has nothing to send, and no other client comes:
 * its state is freed nevertheless. */
static void reset_while_waiting(void **state)
{
    const struct linger now = {.l_onoff = 1};
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct server *s = start(60000);
        char text[64];
        int fd = dial(s, "/lines", "1.1");
        recv(fd, text, sizeof text, 0);
        nap(i % 4);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(fd);
        uint64_t end = dg_clock_ns() + 10000000000ull;
        while (dg_http_connections(s->http) > 0 && dg_clock_ns() < end)
            nap(1);
        assert_int_equal(dg_http_connections(s->http), 0);
        stop(s);
    }
}

/* A producer that needs a second: its client gets pings meanwhile, then the lines, with no ping
 * among them. A stream without a ping text sends none. */
static void quiet_streams_ping(void **state)
{
    struct server *s = start(60000);
    char text[100000];
    uint64_t pings = 0;
    (void)state;
    const uint64_t begin = dg_clock_ns();
    int fd = dial(s, "/quiet", "1.1");
    read_chunks(fd, text, sizeof text);
    const uint64_t ms = (dg_clock_ns() - begin) / 1000000;
    const char *at = text;
    for (; strncmp(at, "ping\n", 5) == 0; at += 5)
        pings++;
    assert_in_range(pings, 1, ms / 200); /* at least 200 ms apart; fewer on a busy machine */
    check_lines(at);
    close(fd);
    stop(s);
}

/* A stream whose end is due and does not come is cut off after a second; one whose deadline is
 * lifted meanwhile is waited for. */
static void late_streams(void **state)
{
    struct server *s = start(60000);
    char text[100000];
    (void)state;
    int lifted = dial(s, "/lifted", "1.1"), late = dial(s, "/late", "1.1");
    read_chunks(late, text, sizeof text);
    assert_string_equal(text, "");
    close(late);
    read_chunks(lifted, text, sizeof text);
    check_lines(text);
    close(lifted);
    assert_int_equal(s->told_gone, 1); /* told to hurry up */
    stop(s);
}

/* A stream that was ended as late may still be at work. A deadline that it sets then must not
 * affect the next request on its connection, nor a closed connection. */
static void late_streams_leave_their_connection(void **state)
{
    struct server *s = start(60000);
    char text[100000];
    (void)state;
    int kept = dial(s, "/belated", "1.1"), closed = dial(s, "/belated", "1.1");
    read_chunks(closed, text, sizeof text);
    close(closed);
    read_chunks(kept, text, sizeof text);
    assert_string_equal(text, "late\n");
    ask(kept, "/quiet", "1.1");
    read_chunks(kept, text, sizeof text);
    const char *at = text;
    while (strncmp(at, "ping\n", 5) == 0)
        at += 5;
    check_lines(at);
    close(kept);
    stop(s);
}

static void old_clients_read_to_the_end(void **state)
{
    struct server *s = start(60000);
    char text[100000];
    size_t n = 0;
    ssize_t k;
    (void)state;
    int fd = dial(s, "/lines", "1.0");
    while ((k = recv(fd, text + n, sizeof text - 1 - n, 0)) > 0)
        n += (size_t)k;
    text[n] = '\0';
    check_lines(strstr(text, "\r\n\r\n") + 4);
    close(fd);
    stop(s);
}

static void refused_after_all(void **state)
{
    struct server *s = start(60000);
    char text[512];
    (void)state;
    int fd = dial(s, "/refuse", "1.1");
    ssize_t k = recv(fd, text, sizeof text - 1, 0);
    assert_true(k > 12);
    assert_memory_equal(text, "HTTP/1.1 503", 12);
    close(fd);
    stop(s);
}

/* Nothing is filled ahead of a reader who does not read, and in the end the reader is dropped. */
static void slow_readers(void **state)
{
    struct server *s = start(400);
    (void)state;
    int fd = dial(s, "/big", "1.1");
    size_t early, now = 0;
    do { /* until it stays at what the sockets hold; a slow machine takes a while to fill them */
        early = now;
        nap(100);
        now = atomic_load(&s->filled);
    } while (now == 0 || now != early);
    assert_true(early < BIG / 2);
    uint64_t end = dg_clock_ns() + 20000000000ull;
    while (atomic_load(&s->dropped) == 0 && dg_clock_ns() < end)
        nap(5);
    assert_int_equal(s->dropped, 1);
    assert_int_equal(s->told_gone, 1);
    assert_int_equal(s->cut, 1);
    close(fd);
    stop(s);
}

/* A client who reads slowly but steadily gets everything, although it takes longer than the time
 * limit, which is per block. */
static void steady_readers(void **state)
{
    struct server *s = start(1500);
    static char block[1 << 20];
    size_t n = 0;
    ssize_t k;
    (void)state;
    int fd = dial(s, "/big", "1.1");
    uint64_t begin = dg_clock_ns();
    while (n < BIG && (k = recv(fd, block, sizeof block, 0)) > 0) {
        n += (size_t)k;
        if (dg_clock_ns() - begin < 3000000000ull)
            nap(20);
    }
    assert_true(n >= BIG);
    close(fd);
    while (atomic_load(&s->dropped) == 0)
        nap(1);
    assert_int_equal(s->whole + s->cut, 1);
    stop(s);
}

static void stopping_in_the_middle(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct server *s = start(60000);
        int fds[10];
        for (int i = 0; i < 10; i++)
            fds[i] = dial(s, i % 2 ? "/big" : "/lines", "1.1");
        while (atomic_load(&s->opened) < 10)
            nap(1);
        stop(s);
        for (int i = 0; i < 10; i++)
            close(fds[i]);
    }
}

/* Asks for a large reply, and reads its status alone. */
static int ask_large(const struct server *s, int *fd)
{
    char head[13] = "";
    int status = 0;
    *fd = dial(s, "/large", "1.1");
    assert_int_equal(recv(*fd, head, 12, MSG_WAITALL), 12);
    assert_int_equal(sscanf(head, "HTTP/1.1 %d", &status), 1);
    return status;
}

/* A reply stays in memory until its client has read it. Beyond the limit, the server refuses large
 * replies. */
static void large_replies(void **state)
{
    struct server *s = start(60000);
    int fds[4], status = 503;
    (void)state;
    assert_int_equal(ask_large(s, &fds[0]), 200);
    assert_int_equal(ask_large(s, &fds[1]), 200);
    assert_int_equal(ask_large(s, &fds[2]), 503);
    close(fds[0]);
    for (int i = 0; i < 1000 && status == 503; i++) {
        nap(10);
        status = ask_large(s, &fds[3]);
        close(fds[3]);
    }
    assert_int_equal(status, 200);
    close(fds[1]);
    close(fds[2]);
    stop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_and_vanishing_clients),
        cmocka_unit_test(reset_while_waiting), cmocka_unit_test(quiet_streams_ping),
        cmocka_unit_test(late_streams), cmocka_unit_test(late_streams_leave_their_connection),
        cmocka_unit_test(old_clients_read_to_the_end), cmocka_unit_test(refused_after_all),
        cmocka_unit_test(slow_readers), cmocka_unit_test(steady_readers),
        cmocka_unit_test(large_replies), cmocka_unit_test(stopping_in_the_middle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
