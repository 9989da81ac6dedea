/* The library's daemons: one for all connections or, where the listening socket speaks TLS, a
 * second one for the Unix socket, which does not. */
#include "server/http/exchange.h"

#include "base/log.h"
#include "server/http/form.h"
#include "server/http/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each connection's memory in the library: for the request line and headers as they came, FIELD
 * bytes for each header, cookie and parameter of the query, Cookie once more, and then for the
 * reply's headers. What does not fit is refused with 414 or 431 by the library; but without memory
 * for a reply's headers it would only close the connection, so this is refused here. */
#define CONNECTION_MEMORY 24576
#define FIELD 64
#define REPLY_ROOM 2560

/* Each MHD_get_connection_info may overwrite the result of the one before. */
static void begin_connection(struct dg_http *http, struct MHD_Connection *mhd, void **context)
{
    struct dg_http_connection *c = calloc(1, sizeof *c);
    *context = c;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (c && info && info->tls_session && http->o.tls)
        c->pair = dg_tls_begin(http->o.tls, info->tls_session);
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info ? info->connect_fd : -1;
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (c && fd >= 0 && info)
        c->id = dg_net_enter(http->net, fd, info->client_addr, sizeof(struct sockaddr_storage));
    if (!c && fd >= 0) /* out of memory: the library reads end-of-file next and closes it */
        shutdown(fd, SHUT_RDWR);
}

static void on_connection(
    void *cls, struct MHD_Connection *mhd, void **context, enum MHD_ConnectionNotificationCode what)
{
    struct dg_http *http = cls;
    struct dg_http_connection *c = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        begin_connection(http, mhd, context);
    } else if (c) {
        dg_net_leave(http->net, c->id, c->linger);
        dg_tls_end(c->pair);
        free(c);
        *context = NULL;
    }
}

/* Percent-decode in place; %00 stays as it is, so that a path never ends early. */
static size_t unescape(void *cls, struct MHD_Connection *mhd, char *s)
{
    (void)cls;
    (void)mhd;
    char *w = s;
    for (const char *r = s; *r; w++) {
        const int byte = dg_form_escape(r);
        *w = byte > 0 ? (char)byte : *r;
        r += byte > 0 ? 3 : 1;
    }
    *w = '\0';
    return (size_t)(w - s);
}

static void log_library(void *cls, const char *format, va_list ap)
{
    char text[256];
    (void)cls;
    vsnprintf(text, sizeof text, format, ap);
    text[strcspn(text, "\n")] = '\0';
    dg_log(DG_LOG_DEBUG, "http library message=\"%s\"", text);
}

size_t dg_http_daemons_head(struct MHD_Connection *mhd, bool *fits)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const size_t head = info ? info->header_size : 0;
    const char *cookie = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Cookie");
    const int n = MHD_get_connection_values(
        mhd, MHD_HEADER_KIND | MHD_COOKIE_KIND | MHD_GET_ARGUMENT_KIND, NULL, NULL);
    const size_t used = head + (cookie ? strlen(cookie) + 1 : 0) + (n > 0 ? (size_t)n * FIELD : 0);
    *fits = head <= DG_HTTP_HEAD_MAX && used <= CONNECTION_MEMORY - REPLY_ROOM;
    return head;
}

bool dg_http_daemons_add(void *arg, int fd, const struct sockaddr *addr, socklen_t n)
{
    const struct dg_http *http = arg;
    struct MHD_Daemon *daemon =
        http->local && addr->sa_family == AF_UNIX ? http->local : http->daemon;
    return MHD_add_connection(daemon, fd, addr, n) == MHD_YES; /* closes fd when it fails */
}

static struct MHD_Daemon *start(struct dg_http *http, const struct dg_tls *tls, unsigned threads)
{
    /* The library's own limit is above ours, so that it is never the first to refuse: our refusals
     * carry a message. */
    unsigned limit = 2 * http->o.max_connections + 64;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET |
                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
                     (tls ? MHD_USE_TLS : 0);
    struct MHD_OptionItem encryption[4] = {{MHD_OPTION_END, 0, NULL}};
    if (tls) {
        encryption[0] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)dg_tls_certificate_text(tls)};
        encryption[1] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)dg_tls_key_text(tls)};
        encryption[2] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)DG_TLS_PRIORITIES};
    }
    /* To get one thread, leave the pool size out: the library refuses a pool of one. */
    return MHD_start_daemon(flags, 0, NULL, NULL, dg_http_on_request, http,
        MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        dg_http_on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
        MHD_OPTION_URI_LOG_CALLBACK, dg_exchange_new, http, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
        NULL, MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, encryption,
        threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, MHD_OPTION_END);
}

int dg_http_daemons_start(struct dg_http *http, bool has_unix, struct dg_error *err)
{
    struct dg_tls *tls = http->o.tls;
    http->daemon = start(http, tls, http->o.threads);
    if (http->daemon && tls && has_unix)
        http->local = start(http, NULL, 1);
    if (tls)
        dg_tls_forget(tls);
    if (http->daemon && (http->local || !tls || !has_unix))
        return DG_OK;
    dg_http_daemons_stop(http);
    return dg_error_set(
        err, DG_EIO, "the HTTP library did not start with %u threads", http->o.threads);
}

void dg_http_daemons_stop(struct dg_http *http)
{
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    if (http->local)
        MHD_stop_daemon(http->local);
    http->daemon = http->local = NULL;
}
