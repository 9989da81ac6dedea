#include "server/http/internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>

bool dg_http_local(const struct dg_http_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    if (a && a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    if (!a || a->sa_family != AF_INET6)
        return false;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)a)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}
