/* Connections counted by client, against a plain array with the same counts. */
#include "server/http/clients.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t four(const char *text)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, text, &a.sin_addr), 1);
    return dg_client_of((const struct sockaddr *)&a, sizeof a);
}

static uint64_t six(const char *text)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    assert_int_equal(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
    return dg_client_of((const struct sockaddr *)&a, sizeof a);
}

static void who_is_who(void **state)
{
    const struct sockaddr unix_socket = {.sa_family = AF_UNIX};
    (void)state;
    assert_true(four("192.0.2.1") != four("192.0.2.2"));
    assert_true(four("192.0.2.1") == six("::ffff:192.0.2.1"));
    assert_true(six("2001:db8:0:1::1") == six("2001:db8:0:1:ffff::2"));
    assert_true(six("2001:db8:0:1::1") != six("2001:db8:0:2::1"));
    assert_true(dg_client_is_local(four("127.0.0.1")) && dg_client_is_local(six("::1")));
    assert_true(dg_client_is_local(six("::ffff:127.0.0.1")));
    assert_true(dg_client_is_local(dg_client_of(&unix_socket, sizeof unix_socket)));
    assert_false(dg_client_is_local(four("127.0.0.2")));
    assert_false(dg_client_is_local(four("192.0.2.1")) || dg_client_is_local(six("2001:db8::1")));
}

/* Sixty clients in a table of 64, so that they collide, connect and leave at random. */
static void counts(void **state)
{
    enum { CLIENTS = 60, STEPS = 200000 };
    struct dg_clients *c = dg_clients_open(64);
    size_t plain[CLIENTS] = {0}, failed = 0;
    (void)state;
    assert_non_null(c);
    srand(7);
    for (int i = 0; i < STEPS; i++) {
        int who = rand() % CLIENTS;
        uint64_t client = 0x0a000000u + 256 * (uint64_t)who;
        if (rand() % 2) {
            failed += !dg_clients_add(c, client);
            plain[who]++;
        } else {
            dg_clients_remove(c, client); /* no connection: nothing happens */
            plain[who] -= plain[who] > 0;
        }
        int other = rand() % CLIENTS;
        assert_int_equal(dg_clients_count(c, 0x0a000000u + 256 * (uint64_t)other), plain[other]);
    }
    assert_int_equal(failed, 0);
    dg_clients_close(c);
}

static void full(void **state)
{
    struct dg_clients *c = dg_clients_open(3);
    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        assert_true(dg_clients_add(c, i));
    assert_false(dg_clients_add(c, 3));
    assert_true(dg_clients_add(c, 2));
    dg_clients_remove(c, 0);
    assert_true(dg_clients_add(c, 3));
    dg_clients_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_who), cmocka_unit_test(counts), cmocka_unit_test(full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
