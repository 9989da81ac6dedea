#include "server/access/site.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* RFC 6761, 6762 and 8375, and ICANN's name for private networks: registries give none of them. */
static const char *const reserved[] = {
    ".localhost", ".local", ".internal", ".test", ".example", ".invalid", ".home.arpa"};

bool dg_site_is_other(const struct dg_http_exchange *x)
{
    const char *site = dg_http_header(x, "Sec-Fetch-Site"), *origin = dg_http_header(x, "Origin");
    return site && strcmp(site, "cross-site") == 0 && origin &&
           (strcmp(origin, "null") == 0 || strncmp(origin, "http://", 7) == 0 ||
               strncmp(origin, "https://", 8) == 0);
}

size_t dg_site_name_len(const char *host, unsigned *port)
{
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
    const size_t n = end ? (size_t)(end + 1 - host) : strcspn(host, ":");
    *port = host[n] == ':' ? (unsigned)strtoul(host + n + 1, NULL, 10) : 80;
    return n;
}

static bool ends_in(const char *name, size_t n, const char *end)
{
    const size_t m = strlen(end);
    return n > m && strncasecmp(name + n - m, end, m) == 0;
}

bool dg_site_is_own(const char *name, size_t n, const char *this_machine)
{
    char address[INET_ADDRSTRLEN];
    struct in_addr v4;
    if (n > 0 && name[n - 1] == '.') /* the same name, in full */
        n--;
    if (n == 0 || name[0] == '[' || !memchr(name, '.', n))
        return true;
    if (n < sizeof address) {
        memcpy(address, name, n);
        address[n] = '\0';
        if (inet_pton(AF_INET, address, &v4) == 1)
            return true;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (ends_in(name, n, reserved[i]))
            return true;
    return strlen(this_machine) == n && strncasecmp(name, this_machine, n) == 0;
}

bool dg_site_is_rebound(const struct dg_http_exchange *x)
{
    char this_machine[256] = "";
    const char *host = dg_http_header(x, "Host");
    unsigned port;
    if (!host || dg_http_encrypted(x))
        return false;
    const size_t n = dg_site_name_len(host, &port);
    if (port == 0 || port != dg_http_loopback_port(x))
        return false;
    if (gethostname(this_machine, sizeof this_machine - 1) != 0)
        this_machine[0] = '\0';
    return !dg_site_is_own(host, n, this_machine);
}
