/* The network side of a serving process: file descriptors for its connections, the sockets that it
 * listens on or was passed, and the HTTP daemons on them. */
#include "server/service_internal.h"

#include "base/log.h"
#include "server/api/dispatch.h"
#include "server/http/listen.h"
#include "server/http/systemd.h"

#include <sys/resource.h>
#include <unistd.h>

#define OTHER_DESCRIPTORS 256
#define LEAST_CONNECTIONS 16

/* Each connection takes a descriptor, a lingering one two for a moment; the rest is for files,
 * models and epolls. */
int dg_service_raise_descriptors(struct dg_server_config *c, struct dg_error *err)
{
    rlim_t need = (rlim_t)c->max_connections + OTHER_DESCRIPTORS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return DG_OK;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= need)
        return DG_OK;
    if (dg_server_config_origin(c, "max_connections") != DG_FROM_DEFAULT ||
        limit.rlim_cur < OTHER_DESCRIPTORS + LEAST_CONNECTIONS)
        return dg_error_field(err, DG_EINVAL, "max_connections",
            "--max-connections %lld needs %llu file descriptors, this process may have %llu "
            "(ulimit -n)",
            (long long)c->max_connections, (unsigned long long)need,
            (unsigned long long)limit.rlim_cur);
    c->max_connections = (int64_t)(limit.rlim_cur - OTHER_DESCRIPTORS);
    dg_log(DG_LOG_WARN, "fewer connections max_connections=%lld descriptors=%llu wanted=%llu",
        (long long)c->max_connections, (unsigned long long)limit.rlim_cur,
        (unsigned long long)need);
    return DG_OK;
}

struct dg_http_limits dg_service_http_limits(const struct dg_server_config *c)
{
    const int64_t each = c->max_connections_per_address;
    return (struct dg_http_limits){
        .max_connections_per_address = (uint32_t)(each > 0 ? each : (c->max_connections + 1) / 2),
        .header_timeout_ms = (uint32_t)c->header_timeout_ms,
        .body_timeout_ms = (uint32_t)c->body_timeout_ms,
        .write_timeout_ms = (uint32_t)c->write_timeout_ms,
        .idle_timeout_ms = (uint32_t)c->idle_timeout_ms,
        .ping_ms = (uint32_t)c->stream_ping_ms};
}

int dg_service_open_http(struct dg_service *s, struct dg_error *err)
{
    const struct dg_server_config *c = &s->app.config;
    int fds[2] = {-1, -1};
    int rc = dg_systemd_listen_fd(&fds[0], err);
    bool passed = fds[0] >= 0;
    if (rc == DG_OK && !passed)
        rc = dg_listen_open(c->host, (uint16_t)c->port, &fds[0], err);
    if (rc == DG_OK && c->unix_socket[0] != '\0')
        rc = dg_listen_open_unix(c->unix_socket, &fds[1], err);
    if (rc != DG_OK) {
        if (fds[0] >= 0)
            close(fds[0]);
        return rc;
    }
    s->unix_bound = fds[1] >= 0;
    s->port = dg_listen_port(fds[0]);
    const size_t document = dg_server_config_document_bytes(c);
    struct dg_http_options o = {
        .threads = (uint32_t)c->http_threads,
        .max_connections = (uint32_t)c->max_connections,
        .max_body_bytes = (size_t)c->max_body_bytes,
        .max_bodies_bytes = DG_BUDGET_ARRIVING * (size_t)c->max_body_bytes,
        .max_replies_bytes = DG_BUDGET_ARRIVING * (size_t)c->max_body_bytes,
        .max_upload_bytes = document,
        .max_uploads_bytes = DG_BUDGET_DOCUMENTS * document,
        .limits = dg_service_http_limits(c),
        .tls = s->app.tls,
        /* The service manager's clients wait for an answer instead of getting 503. */
        .held = passed,
        .app = &s->app,
        .admit = dg_dispatch_admit,
        .handle = dg_dispatch_handle,
        .refuse = dg_dispatch_refuse,
        .mark = dg_dispatch_mark,
        .finished = dg_dispatch_finished,
    };
    rc = dg_http_open(fds, &o, &s->http, err);
    if (rc == DG_OK)
        dg_log(DG_LOG_INFO, "listening address=%s:%u%s", passed ? "passed" : c->host, s->port,
            passed ? " socket=passed" : "");
    return rc;
}

void dg_service_unbind(struct dg_service *s)
{
    if (s->unix_bound)
        unlink(s->app.config.unix_socket);
    s->unix_bound = false;
}

void dg_service_drain(struct dg_service *s)
{
    dg_service_unbind(s);
    dg_http_drain(s->http);
}
