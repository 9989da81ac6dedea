/* Shared state of the handlers: settings, models, queue. One per process, made by main. Const
 * except for the atomics, which include live settings: any thread. */
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

/* What a reload reads again besides the models, which count for themselves (models/reload.h). */
enum dg_app_part {
    DG_PART_SETTINGS,
    DG_PART_CERTIFICATE,
    DG_PART_GLOSSARIES,
    DG_PART_MEMORIES,
    DG_APP_PARTS
};

struct dg_app {
    /* revision of this build; static storage */
    const char *revision;
    struct dg_server_config config;
    struct dg_models *models;
    struct dg_queue *queue;
    /* for side work: deadlines, second hops, batches, reloads */
    struct dg_executor *executor;
    /* one thread at low priority, for attention weights */
    struct dg_executor *low;
    /* one thread for what may wait for a file: suggestions */
    struct dg_executor *files;
    struct dg_metrics *metrics;
    /* cache of answers; keeps none while --cache-bytes is 0 */
    struct dg_answer_cache *cache;
    /* submits items of batches and second hops */
    struct dg_feeder *feeder;
    /* threads for the work on texts */
    struct dg_planner *planner;
    /* API keys; NULL: no keys are needed */
    struct dg_auth *auth;
    /* request rates of addresses; NULL: there are keys */
    struct dg_rates *rates;
    /* NULL: plain HTTP */
    struct dg_tls *tls;
    /* which origins' pages may read answers */
    struct dg_cors *cors;
    struct dg_reload *reload;
    /* samples of the last minutes */
    struct dg_status *status;
    /* translates documents; NULL: none are accepted */
    struct dg_uploader *uploader;
    /* from the server's files; may be empty */
    struct dg_glossaries *glossaries;
    /* better translations that clients send; NULL: none are kept */
    struct dg_suggestions *suggestions;
    /* glossaries and memories of clients; NULL: none */
    struct dg_collections *collections;
    /* shares the cores among the workers */
    struct dg_core_share share;
    /* shares the memory among the requests */
    struct dg_budget budget;
    _Atomic enum dg_app_state state;
    /* the engine has work and has taken no step for some time */
    atomic_bool stuck;
    /* the last reload of this part failed, and its old state is in use */
    atomic_bool not_reloaded[DG_APP_PARTS];
    /* requests counted to sample the access log */
    atomic_uint_least64_t answered;
    /* requests whose handler has started and whose reply is not out */
    atomic_uint in_flight;
    /* requests for attention weights, and suggestions, that are not over */
    atomic_uint works;
    /* when a model last answered a request or a text of a document, in seconds since the epoch; 0:
     * never */
    _Atomic double last_success_s;
};

#endif
