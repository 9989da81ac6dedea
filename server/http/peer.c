#include "server/http/exchange.h"

#include <sys/socket.h>

bool dg_http_unix(const struct dg_http_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr && info->client_addr->sa_family == AF_UNIX;
}
