#include "server/http/clients.h"
#include "server/http/exchange.h"

#include <netinet/in.h>
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

static bool is_loopback(const struct sockaddr_storage *a)
{
    if (a->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)a)->sin6_addr;
    return a->ss_family == AF_INET6 &&
           (IN6_IS_ADDR_LOOPBACK(six) ||
               (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == IN_LOOPBACKNET));
}

unsigned dg_http_loopback_port(const struct dg_http_exchange *x)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info || getsockname(info->connect_fd, (struct sockaddr *)&a, &n) != 0 || !is_loopback(&a))
        return 0;
    return ntohs(((const struct sockaddr_in *)&a)->sin_port); /* sin6_port is at the same place */
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
