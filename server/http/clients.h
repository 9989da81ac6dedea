/* How many connections each client address has. An IPv6 client is its /64, which is what one
 * customer gets; an IPv4 address mapped into IPv6 is the IPv4 address. Not thread-safe: the caller
 * holds its own lock. */
#ifndef DG_SERVER_HTTP_CLIENTS_H
#define DG_SERVER_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct dg_clients;

/* Room for `most` connections; NULL: no memory. */
struct dg_clients *dg_clients_open(size_t most);
void dg_clients_close(struct dg_clients *c); /* NULL is fine */

/* The client number of an address; 0 if it has none (a Unix socket). */
uint64_t dg_client_of(const struct sockaddr *a, socklen_t n);
/* Is it this machine itself: 127.0.0.1, ::1 or a Unix socket? The rest of 127.0.0.0/8 is not, so
 * that a test can have many clients. */
bool dg_client_is_local(uint64_t client);

size_t dg_clients_count(const struct dg_clients *c, uint64_t client);
/* False: the table is full. */
bool dg_clients_add(struct dg_clients *c, uint64_t client);
void dg_clients_remove(struct dg_clients *c, uint64_t client);

#endif
