/* The keeper's table of connections with an owner that misbehaves: it closes a connection that it
 * was handed and never enters it, as the HTTP library does when out of memory. */
#include "server/http/net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct owner {
    struct dg_net *net;
    int listen_fd;
    struct sockaddr_in address;
    atomic_int handed_over; /* connections */
    atomic_bool enters;
    /* it shuts down connections that it does not enter, and keeps their descriptors */
    atomic_bool shuts;
    atomic_int kept[16];
    /* descriptors, and the id of the last one, of those that it enters */
    atomic_int entered[16];
    _Atomic uint64_t id;
};

/* Always accepts the connection. */
static bool take(void *arg, int fd, const struct sockaddr *addr, socklen_t n)
{
    struct owner *o = arg;
    if (atomic_load(&o->enters)) {
        atomic_store(&o->entered[atomic_load(&o->handed_over)], fd);
        atomic_store(&o->id, dg_net_enter(o->net, fd, addr, n));
    } else if (atomic_load(&o->shuts))
        atomic_store(
            &o->kept[atomic_load(&o->handed_over)], shutdown(fd, SHUT_RDWR) == 0 ? fd : -1);
    else
        close(fd);
    atomic_fetch_add(&o->handed_over, 1);
    return true;
}

static void begin_held(struct owner *o, uint32_t most, bool held)
{
    socklen_t n = sizeof o->address;
    struct dg_error err = {0};
    o->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    o->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(o->listen_fd, (struct sockaddr *)&o->address, n), 0);
    assert_int_equal(listen(o->listen_fd, 16), 0);
    assert_int_equal(getsockname(o->listen_fd, (struct sockaddr *)&o->address, &n), 0);
    const struct dg_net_options options = {
        .max_connections = most, .arg = o, .accepted = take, .held = held};
    const int fds[DG_NET_LISTENERS] = {o->listen_fd, -1};
    assert_int_equal(dg_net_open(fds, &options, &o->net, &err), DG_OK);
}

static void begin(struct owner *o, uint32_t most)
{
    begin_held(o, most, false);
}

static int connect_only(const struct owner *o)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&o->address, sizeof o->address), 0);
    return fd;
}

/* Connects a client; returns its descriptor once the connection was handed over. */
static int connect_once(struct owner *o)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const int before = atomic_load(&o->handed_over);
    const int fd = connect_only(o);
    for (int i = 0; i < 20000 && atomic_load(&o->handed_over) == before; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&o->handed_over), before + 1);
    return fd;
}

/* True if the table gets down to n connections within seconds. */
static bool comes_to(struct owner *o, size_t n)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 20000 && dg_net_count(o->net) != n; i++)
        nanosleep(&pause, NULL);
    return dg_net_count(o->net) == n;
}

static void test_a_connection_that_is_never_entered_gives_its_place_back(void **state)
{
    struct owner o = {0};
    (void)state;
    begin(&o, 4);
    for (int i = 0; i < 12; i++) { /* three times as many as places */
        close(connect_once(&o));
        if (i % 3 ==
            2) /* two of three are closed between two ticks, so their descriptors are reused */
            assert_true(comes_to(&o, 0));
    }
    assert_true(comes_to(&o, 0));
    dg_net_close(o.net);
}

/* A connection that is shut down but not closed does not keep its place, either. */
static void test_a_connection_that_is_shut_gives_its_place_back(void **state)
{
    struct owner o = {.shuts = true};
    (void)state;
    begin(&o, 2);
    for (int i = 0; i < 4; i++) {
        const int fd = connect_once(&o);
        assert_true(comes_to(&o, 0));
        close(fd);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(close(atomic_load(&o.kept[i])), 0);
    dg_net_close(o.net);
}

/* An entered connection stays, even if one with the same descriptor was missed before. */
static void test_one_that_is_entered_stays(void **state)
{
    struct owner o = {0};
    (void)state;
    begin(&o, 4);
    close(connect_once(&o));
    atomic_store(&o.enters, true);
    const int fd = connect_once(&o);
    assert_true(comes_to(&o, 1));
    const struct timespec looks = {.tv_nsec = 300000000}; /* three ticks */
    nanosleep(&looks, NULL);
    assert_int_equal(dg_net_count(o.net), 1);
    close(fd);
    dg_net_close(o.net);
}

/* True if the server shuts the connection down within the time; a client that has shut down its own
 * side still reads that. */
static bool is_shut(int fd, int ms)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    char byte;
    return poll(&look, 1, ms) == 1 && recv(fd, &byte, 1, 0) == 0;
}

/* A client that hung up within a request sends nothing more. Once its bytes are read, its
 * connection is shut down, although its owner does not see the end. */
static void test_one_that_hung_up_within_a_request_is_shut(void **state)
{
    struct owner o = {.enters = true};
    char byte;
    (void)state;
    begin(&o, 4);
    const int fd = connect_once(&o), other = connect_once(&o);
    const int own = atomic_load(&o.entered[0]);
    assert_int_equal(send(fd, "P", 1, 0), 1);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_false(is_shut(fd, 1500)); /* a byte is not read yet */
    assert_int_equal(recv(own, &byte, 1, 0), 1);
    assert_true(is_shut(fd, 20000));
    assert_false(is_shut(other, 0));
    close(fd);
    close(other);
    dg_net_close(o.net);
}

/* It is not shut down while its request is worked on. */
static void test_one_that_hung_up_is_still_answered(void **state)
{
    struct owner o = {.enters = true};
    (void)state;
    begin(&o, 4);
    const int fd = connect_once(&o);
    dg_net_phase(o.net, atomic_load(&o.id), DG_NET_HANDLING);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_false(is_shut(fd, 1500));
    close(fd);
    dg_net_close(o.net);
}

/* Connections of a held socket wait until it is released. */
static void test_held_connections_wait(void **state)
{
    const struct timespec looks = {.tv_nsec = 300000000}; /* three ticks */
    struct owner o = {.enters = true};
    (void)state;
    begin_held(&o, 4, true);
    const int fds[] = {connect_only(&o), connect_only(&o)};
    nanosleep(&looks, NULL);
    assert_int_equal(dg_net_count(o.net), 0);
    dg_net_release(o.net);
    assert_true(comes_to(&o, 2));
    for (int i = 0; i < 2; i++)
        close(fds[i]);
    dg_net_close(o.net);
}

/* Draining leaves the connections of a held socket to another process that has the socket. */
static void test_held_connections_stay_for_the_next(void **state)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct owner o = {.enters = true};
    (void)state;
    begin_held(&o, 4, true);
    const int other = fcntl(o.listen_fd, F_DUPFD_CLOEXEC, 0), fd = connect_only(&o);
    dg_net_drain(o.net);
    for (int i = 0; i < 20000 && !dg_net_drained(o.net); i++)
        nanosleep(&pause, NULL);
    assert_true(dg_net_drained(o.net));
    assert_int_equal(atomic_load(&o.handed_over), 0);
    dg_net_close(o.net);
    const int taken = accept(other, NULL, NULL);
    assert_true(taken >= 0);
    close(taken);
    close(other);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_connection_that_is_never_entered_gives_its_place_back),
        cmocka_unit_test(test_a_connection_that_is_shut_gives_its_place_back),
        cmocka_unit_test(test_one_that_is_entered_stays),
        cmocka_unit_test(test_one_that_hung_up_within_a_request_is_shut),
        cmocka_unit_test(test_one_that_hung_up_is_still_answered),
        cmocka_unit_test(test_held_connections_wait),
        cmocka_unit_test(test_held_connections_stay_for_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
