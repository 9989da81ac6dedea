/* The table of connections and the sockets, as the parts of net.h see them: net.c (the table),
 * accept.c (admission), keeper.c (the thread: hang-ups and time limits), linger.c and
 * refusal.c. One thread, the keeper, runs the functions of accept.c and keeper.c; the rest may be
 * called from any. */
#ifndef DG_SERVER_HTTP_NET_INTERNAL_H
#define DG_SERVER_HTTP_NET_INTERNAL_H

#include "server/http/clients.h"
#include "server/http/net.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define DG_NET_TICK_MS 100
#define DG_NET_MS 1000000ull
#define DG_NET_MAX_LINGERING 64
/* evicted connections whose descriptors are still open */
#define DG_NET_MAX_CLOSING 64
/* descriptors that are kept for connections from this machine: its probes */
#define DG_NET_SPARES 4

/* What an epoll event is about, where that is no connection. */
enum { DG_NET_TAG_LISTEN, DG_NET_TAG_WAKE, DG_NET_TAG_LINGER, DG_NET_TAG_LISTEN_LOCAL };

/* One connection; guarded by the net's lock. */
struct dg_net_slot {
    /* -1: free */
    int fd;
    uint32_t generation;
    uint32_t next_free;
    enum dg_net_phase phase;
    bool gone, timed_out;
    /* a refusal may be written onto it */
    bool plain;
    bool evicted;
    /* when its phase began */
    uint64_t since_ns;
    uint64_t client;
    /* of the watched request, NULL: none, and when its answer is late; 0: never */
    void *user;
    uint64_t due_ns;
};

/* A connection that was handed over, and whose owner has not entered it yet. */
struct dg_net_coming {
    int fd;
    /* of its socket: another one means that the descriptor was closed, and taken again */
    ino_t inode;
    uint64_t client;
};

struct dg_net_lingering {
    int fd;
    uint64_t until_ns;
    size_t bytes;
};

struct dg_net {
    struct dg_net_options o;
    int epoll_fd, wake_fd;
    pthread_t thread;
    bool has_thread;
    atomic_bool stop, drain;
    /* TCP and Unix; -1: none. Keeper's thread only. */
    int listen_fds[DG_NET_LISTENERS];
    /* keeper's thread only: accept again then, after running out of descriptors */
    uint64_t retry_ns;
    /* when that was last said; 0: never */
    uint64_t starved_ns;
    /* keeper's thread only: open, and closed for a connection where there is no other one; -1 */
    int spares[DG_NET_SPARES];

    pthread_mutex_t lock;
    /* Guarded by lock from here on. [n_slots]: max_connections, and those that are being closed. */
    struct dg_net_slot *slots;
    uint32_t n_slots;
    uint32_t first_free;
    /* slots taken, and how many of these are evicted */
    size_t count, closing;
    /* [n_coming] of [n_slots]: they have a place already */
    struct dg_net_coming *coming;
    size_t n_coming;
    /* of those that count and those that come */
    struct dg_clients *clients;
    /* when draining began; 0 before */
    uint64_t drain_ns;
    /* [n_linger] */
    struct dg_net_lingering linger[DG_NET_MAX_LINGERING];
    size_t n_linger;
    struct dg_net_counts counts;
};

/* End the keeper's sleep. */
void dg_net_wake(struct dg_net *net);
/* The slot of an id, or NULL when its connection has left. Lock held. */
struct dg_net_slot *dg_net_find(struct dg_net *net, uint64_t id);

/* Whatever comes as this descriptor does not any more: it is entered, or was never taken. False:
 * nothing does. Lock held. */
bool dg_net_came(struct dg_net *net, int fd, uint64_t *client);

/* May a refusal be written onto a connection from this address? */
bool dg_net_is_plain(const struct dg_net *net, const struct sockaddr *addr);

/* Keep a duplicate of fd, which the keeper reads dry. Lock held. */
void dg_net_linger(struct dg_net *net, int fd);
/* Read what lingering clients still send; close those that are done or out of time. */
void dg_net_tend_lingering(struct dg_net *net, uint64_t now);

/* Give the places of connections back that were closed, or shut in both directions, before they
 * were entered: the HTTP library does so, and says nothing, where it has no memory for one. */
void dg_net_miss(struct dg_net *net);

/* Watch the listening sockets or not: how is epoll_ctl's. -1: that failed, errno says why. */
int dg_net_set_listening(struct dg_net *net, int how);
/* Open the descriptors that are kept, as many as there is room for. */
void dg_net_fill_spares(struct dg_net *net);
/* Accept what a listening socket (-1: none) has. After running out of descriptors it stops watching
 * the sockets; dg_net_retry_accept watches them again a tick later. */
void dg_net_accept(struct dg_net *net, int listen_fd);
void dg_net_retry_accept(struct dg_net *net, uint64_t now);

/* The keeper's thread; arg is the net. */
void *dg_net_keep(void *arg);

#endif
