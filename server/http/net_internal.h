/* The table of connections and the sockets, as the parts of net.h see them: net.c (the table),
 * accept.c (admission), keeper.c (the thread: hang-ups and time limits), linger.c and refusal.c.
 * Functions of accept.c and keeper.c run on one thread, the keeper; the rest may be called from any
 * thread. */
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
/* descriptors reserved for connections from this machine, such as health probes */
#define DG_NET_SPARES 4

/* Tags of the epoll events that are not about a connection; a listening socket's is its index. */
enum { DG_NET_TAG_WAKE = DG_NET_LISTENERS, DG_NET_TAG_LINGER };

/* One connection; guarded by the net's lock. */
struct dg_net_slot {
    /* -1: free */
    int fd;
    uint32_t generation;
    uint32_t next_free;
    enum dg_net_phase phase;
    bool timed_out;
    /* when its client hung up; 0: it has not */
    uint64_t gone_ns;
    /* does not speak TLS: a refusal may be written to it */
    bool plain;
    bool evicted;
    /* when its phase began */
    uint64_t since_ns;
    uint64_t client;
    /* user of the watched request (NULL: none), and when its answer is late (0: never) */
    void *user;
    uint64_t due_ns;
};

/* A connection that was handed over but not yet entered by its owner. */
struct dg_net_coming {
    int fd;
    /* of its socket; a different one means that the descriptor was closed and reused */
    ino_t inode;
    uint64_t client;
};

struct dg_net_lingering {
    int fd;
    /* when it is closed if nothing comes before; and in any case */
    uint64_t until_ns, end_ns;
    size_t bytes;
};

struct dg_net {
    struct dg_net_options o;
    int epoll_fd, wake_fd;
    pthread_t thread;
    bool has_thread;
    atomic_bool stop, drain, release;
    /* the first listening socket is not watched yet. Keeper's thread only. */
    bool held;
    /* TCP and Unix; -1: none. Keeper's thread only. */
    int listen_fds[DG_NET_LISTENERS];
    /* when to accept again after running out of descriptors; 0: not paused. Keeper's thread only */
    uint64_t retry_ns;
    /* when that shortage was last logged; 0: never */
    uint64_t starved_ns;
    /* Spare open descriptors; one is closed to accept a connection when no other descriptor is
     * left. -1: none. Keeper's thread only. */
    int spares[DG_NET_SPARES];

    pthread_mutex_t lock;
    /* Guarded by lock from here on. [n_slots], capacity max_slots: max_connections +
     * DG_NET_MAX_CLOSING. The keeper scans all n_slots ten times a second, so n_slots is only the
     * most connections so far at one time. */
    struct dg_net_slot *slots;
    uint32_t n_slots, max_slots;
    /* head of the list of free slots through next_free; UINT32_MAX: empty */
    uint32_t first_free;
    /* slots taken, and how many of them are of evicted connections */
    size_t count, closing;
    /* [n_coming], capacity max_slots: connections handed over but not entered; they hold places
     * already */
    struct dg_net_coming *coming;
    size_t n_coming;
    /* connections per address: those in slots, except evicted ones, and those in coming */
    struct dg_clients *clients;
    /* when draining began; 0 before */
    uint64_t drain_ns;
    /* [n_linger] */
    struct dg_net_lingering linger[DG_NET_MAX_LINGERING];
    size_t n_linger;
    struct dg_net_counts counts;
};

/* The slot of an id, or NULL when its connection has left. Lock held. */
struct dg_net_slot *dg_net_find(struct dg_net *net, uint64_t id);
/* Has the client sent bytes that its owner has not read? Lock held. */
bool dg_net_has_unread(const struct dg_net_slot *s);

/* Remove this descriptor's entry from coming, and set *client to its client: it is being entered,
 * or was never taken. False: there is no such entry. Lock held. */
bool dg_net_came(struct dg_net *net, int fd, uint64_t *client);

/* May a refusal be written to a connection from this address? */
bool dg_net_is_plain(const struct dg_net *net, const struct sockaddr *addr);

/* Keep a duplicate of fd for the keeper to read dry, in place of the oldest one if there are too
 * many. Lock held. */
void dg_net_linger(struct dg_net *net, int fd);
/* Read what lingering clients still send; close those that are done or out of time. */
void dg_net_tend_lingering(struct dg_net *net, uint64_t now);

/* Release the places of connections that were closed, or shut down in both directions, before they
 * were entered: the HTTP library closes a connection silently when it has no memory for it. */
void dg_net_miss(struct dg_net *net);

/* Watch the listening sockets or stop watching them; how is the operation of epoll_ctl. -1: it
 * failed, see errno. */
int dg_net_set_listening(struct dg_net *net, int how);
/* Open the spare descriptors, as many as there is room for. */
void dg_net_fill_spares(struct dg_net *net);
/* Accept all pending connections of a listening socket (-1: none). After running out of descriptors
 * it stops watching the sockets; dg_net_retry_accept watches them again a tick later. */
void dg_net_accept(struct dg_net *net, int listen_fd);
void dg_net_retry_accept(struct dg_net *net, uint64_t now);

/* The keeper's thread; arg is the net. */
void *dg_net_keep(void *arg);

#endif
