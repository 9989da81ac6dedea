/* A whole server in the target's own process, for targets that send it requests or call its
 * readers. */
#ifndef DG_TESTS_FUZZ_SERVE_H
#define DG_TESTS_FUZZ_SERVE_H

#include "base/log.h"
#include "server/service.h"
#include "tests/fuzz/small_model.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* Serves the small model on any port of this machine. options[n]: additional arguments. */
static inline void fuzz_serve(struct dg_service *service, char *const *options, size_t n)
{
    char *args[64] = {"dragoman-server", "--models", fuzz_small_model(), "--port", "0", "--host",
        "127.0.0.1", "--device", "cpu", "--threads", "1"};
    size_t n_args = 11;
    struct dg_error err = {0};
    require(n_args + n < sizeof args / sizeof *args);
    memcpy(args + n_args, options, n * sizeof *args);
    n_args += n;
    int rc = dg_server_config_read((int)n_args, args, getenv, &service->app.config, &err);
    dg_log_set_level(DG_LOG_ERROR);
    service->app.revision = "fuzz";
    if (rc == DG_OK)
        rc = dg_service_open(service, &err);
    if (rc != DG_OK)
        fprintf(stderr, "no server: %s\n", err.message);
    require(rc == DG_OK);
}

/* True if there is data to read within ms. Like poll(), but repeated when libFuzzer's alarm
 * interrupts it. */
static inline int fuzz_poll(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int polled;
    do
        polled = poll(&p, 1, ms);
    while (polled < 0 && errno == EINTR);
    return polled;
}

#endif
