/* An HTTP server on a free port of this machine, and connections to it: for the tests of
 * server/http/. */
#ifndef DG_TESTS_UNIT_LOCAL_HTTP_H
#define DG_TESTS_UNIT_LOCAL_HTTP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/http/http.h"
#include "server/http/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline void refuse_without_body(void *app, struct dg_http_exchange *x, int status,
    const char *code, const char *message, struct dg_http_reply *r)
{
    (void)app;
    (void)x;
    (void)code;
    (void)message;
    r->status = status;
}

/* Serves with these options; a time limit that is 0 becomes a minute. */
static inline struct dg_http *serve(struct dg_http_options o, uint16_t *port)
{
    uint32_t *const limits[] = {&o.limits.header_timeout_ms, &o.limits.body_timeout_ms,
        &o.limits.write_timeout_ms, &o.limits.idle_timeout_ms};
    struct dg_http *http = NULL;
    struct dg_error err = {0};
    int fd;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        *limits[i] = *limits[i] > 0 ? *limits[i] : 60000;
    assert_int_equal(dg_listen_open("127.0.0.1", 0, &fd, &err), DG_OK);
    *port = dg_listen_port(fd);
    if (dg_http_open((const int[2]){fd, -1}, &o, &http, &err))
        fail_msg("%s", err.message);
    return http;
}

/* Connects to a port of this machine; -1: nobody listens. */
static inline int connect_to(uint16_t port)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    if (connect(fd, (const struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    close(fd);
    return -1;
}

#endif
