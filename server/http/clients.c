/* A hash table with linear probing. An entry whose count falls to 0 is removed and later ones move
 * up, so that no tombstones collect. */
#include "server/http/clients.h"

#include <netinet/in.h>
#include <stdlib.h>

#define LOOPBACK_4 0x7f000001u
/* A client is 64 bits: an IPv4 address is below 2^32, an IPv6 network, whose first three bits are
 * 001 if it is routed, above. */
#define LOOPBACK_6 UINT64_MAX

struct entry {
    uint64_t client;
    /* 0: free */
    size_t n;
};

struct dg_clients {
    size_t mask;
    size_t used, most;
    /* [mask + 1] */
    struct entry entries[];
};

struct dg_clients *dg_clients_open(size_t most)
{
    size_t size = 16;
    while (size < 2 * most)
        size *= 2;
    struct dg_clients *c = calloc(1, sizeof *c + size * sizeof c->entries[0]);
    if (!c)
        return NULL;
    c->mask = size - 1;
    c->most = most;
    return c;
}

void dg_clients_close(struct dg_clients *c)
{
    free(c);
}

uint64_t dg_client_of(const struct sockaddr *a, socklen_t n)
{
    if (a && a->sa_family == AF_INET && n >= sizeof(struct sockaddr_in))
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr);
    if (!a || a->sa_family != AF_INET6 || n < sizeof(struct sockaddr_in6))
        return 0;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)a)->sin6_addr;
    if (IN6_IS_ADDR_LOOPBACK(six))
        return LOOPBACK_6;
    uint64_t client = 0;
    bool mapped = IN6_IS_ADDR_V4MAPPED(six);
    for (int i = 0; i < (mapped ? 4 : 8); i++)
        client = client << 8 | six->s6_addr[(mapped ? 12 : 0) + i];
    return client;
}

bool dg_client_is_local(uint64_t client)
{
    return client == 0 || client == LOOPBACK_4 || client == LOOPBACK_6;
}

static size_t home_of(const struct dg_clients *c, uint64_t client)
{
    uint64_t z = client * 0x9E3779B97F4A7C15ull;
    return (size_t)(z ^ z >> 32) & c->mask;
}

/* Where the client is, or where it would go. There is always a free entry. */
static size_t place_of(const struct dg_clients *c, uint64_t client)
{
    size_t i = home_of(c, client);
    while (c->entries[i].n > 0 && c->entries[i].client != client)
        i = (i + 1) & c->mask;
    return i;
}

size_t dg_clients_count(const struct dg_clients *c, uint64_t client)
{
    return c->entries[place_of(c, client)].n;
}

bool dg_clients_add(struct dg_clients *c, uint64_t client)
{
    struct entry *e = &c->entries[place_of(c, client)];
    if (e->n == 0 && c->used == c->most)
        return false;
    c->used += e->n == 0;
    e->client = client;
    e->n++;
    return true;
}

void dg_clients_remove(struct dg_clients *c, uint64_t client)
{
    size_t hole = place_of(c, client);
    if (c->entries[hole].n == 0 || --c->entries[hole].n > 0)
        return;
    c->used--;
    /* An entry moves into the hole unless its home is after the hole: a search for it then never
     * passes the hole. */
    for (size_t i = (hole + 1) & c->mask; c->entries[i].n > 0; i = (i + 1) & c->mask) {
        size_t home = home_of(c, c->entries[i].client);
        if (((i - home) & c->mask) < ((i - hole) & c->mask))
            continue;
        c->entries[hole] = c->entries[i];
        c->entries[i].n = 0;
        hole = i;
    }
}
