#include "server/http/clients.h"
#include "server/http/exchange.h"

#include <sys/socket.h>

bool dg_http_unix(const struct dg_http_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr && info->client_addr->sa_family == AF_UNIX;
}

bool dg_http_encrypted(const struct dg_http_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info && info->tls_session;
}

uint64_t dg_http_client(const struct dg_http_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    uint64_t client = info && info->client_addr
                          ? dg_client_of(info->client_addr, sizeof(struct sockaddr_storage))
                          : 0;
    return dg_client_is_local(client) ? 0 : client;
}
