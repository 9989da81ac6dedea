/* What the handlers share: settings, models, queue, state. One per process, made by main. Const but
 * for the atomics, live settings among them: any thread. */
#ifndef DG_SERVER_APP_H
#define DG_SERVER_APP_H

#include "base/budget.h"
#include "server/config.h"
#include "server/schedule/core_share.h"

#include <stdatomic.h>

struct dg_auth;
struct dg_cors;
struct dg_metrics;
struct dg_models;
struct dg_queue;
struct dg_answer_cache;
struct dg_collections;
struct dg_suggestions;
struct dg_executor;
struct dg_feeder;
struct dg_glossaries;
struct dg_planner;
struct dg_rates;
struct dg_reload;
struct dg_status;
struct dg_tls;
struct dg_uploader;

enum dg_app_state { DG_APP_STARTING, DG_APP_READY, DG_APP_DRAINING };

struct dg_app {
    const char *revision; /* that was built; static storage */
    struct dg_server_config config;
    struct dg_models *models;
    struct dg_queue *queue;
    struct dg_executor *executor; /* for side work: deadlines, second hops, batches, reloads */
    struct dg_executor *low;      /* one thread at low priority, for attention weights */
    struct dg_metrics *metrics;
    struct dg_answer_cache *cache; /* of answers; of no bytes while --cache-bytes is 0 */
    struct dg_feeder *feeder;      /* of batches and second hops */
    struct dg_planner *planner;    /* threads for the work on texts */
    struct dg_auth *auth;          /* NULL: no keys are asked for */
    struct dg_rates *rates;        /* of addresses; NULL: there are keys */
    struct dg_tls *tls;            /* NULL: plain HTTP */
    struct dg_cors *cors;          /* which pages of other origins may read answers */
    struct dg_reload *reload;
    struct dg_status *status;           /* the last minutes' samples */
    struct dg_uploader *uploader;       /* of documents; NULL: none are taken */
    struct dg_glossaries *glossaries;   /* of the server's files; perhaps none */
    struct dg_suggestions *suggestions; /* NULL: none are kept */
    struct dg_collections *collections; /* glossaries and memories of clients; NULL: none */
    struct dg_core_share share;         /* of the cores, among the workers */
    struct dg_budget budget;            /* of memory, among the requests */
    _Atomic enum dg_app_state state;
    atomic_bool stuck;              /* the engine has work and has taken no step for a time */
    atomic_uint_least64_t answered; /* requests; for the access log */
    atomic_uint in_flight;         /* requests whose handler has begun and whose reply is not out */
    atomic_uint works;             /* requests for attention weights that are not over */
    _Atomic double last_success_s; /* since the epoch; 0 before the first */
};

#endif
