/* The bundles being served (listing.h), and their models while they are open: each with one engine
 * per worker; requests find theirs by language pair. A served model lives as long as it is
 * referenced, so that a set can be exchanged while requests run. Any thread, except that a
 * replica's engine belongs to its worker. */
#ifndef DG_SERVER_MODELS_MODELS_H
#define DG_SERVER_MODELS_MODELS_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "kernels/device.h"
#include "server/models/languages.h"
#include "translate/translate.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dg_answer_cache;
struct dg_executor;
struct dg_listing;
struct dg_metrics;
struct dg_pace;

/* One worker's engine of a model. A backend belongs to one thread at a time, so each replica has
 * its own. */
struct dg_replica {
    struct dg_backend *be;
    struct dg_engine *engine;
    /* Used by the worker alone, from its first step of the model on; freed with the model. */
    struct dg_pace *pace;
    /* source tokens that its next step encodes; its worker's */
    uint32_t newcomer_tokens;
    /* threads that its backend may use at present, as last set by its worker; 0: all that it was
     * opened with */
    int threads;
    /* the most hypotheses that advance in one step; 0: all */
    uint32_t step_rows;
    /* index of its copy of the parameters, in dg_served's placed */
    uint32_t placed;
    /* For metrics and the queue, as of the last step. cost_per_s: of the queue's bound, per second
     * at full load; 0: not known yet. */
    atomic_uint blocks_used, blocks_total, sentences_live, cost_per_s;
    /* cost of its live sentences in the queue's bound, as of the last step */
    _Atomic uint64_t cost_live;
    /* steps so far; only its worker counts them */
    _Atomic uint64_t steps;
};

/* The parameters on one device. */
struct dg_placed {
    struct dg_backend *be;
    /* NULL: the translator's own */
    struct dg_model *copy;
};

struct dg_served {
    /* the answer cache, borrowed; NULL: there is none */
    struct dg_answer_cache *cache;
    /* [n_placed] the parameters on each device; on the first they are the translator's */
    struct dg_placed *placed;
    uint32_t n_placed;
    struct dg_translator *translator;
    /* [n_replicas], by worker number */
    struct dg_replica *replicas;
    uint32_t n_replicas;
    /* the first device */
    struct dg_device device;
    /* a backend on it, see dg_served_aside; NULL until requested */
    struct dg_backend *aside;
    /* time to open it, including the self-test */
    double load_seconds;
    /* the most memory that it takes, with its engines' caches full */
    size_t bytes;
    /* result of dg_served_label, plus one; 0: not requested yet */
    atomic_uint label;
    /* when a request last finished with it */
    atomic_uint_least64_t used_ns;
    atomic_uint refs;
};

struct dg_models_options {
    /* per device */
    uint32_t workers;
    uint32_t compute_threads;
    /* nice value of these threads; 0: as the server's */
    int nice;
    struct dg_engine_limits limits;
    /* the most hypotheses that advance in one step; 0: dg_models_step_rows */
    uint32_t step_rows;
    /* the answer cache for all models; borrowed, NULL: none */
    struct dg_answer_cache *cache;
    /* bytes that open bundles may take; 0: no limit, all are open */
    size_t memory;
    /* opens bundles when they are first needed; NULL: none */
    struct dg_executor *executor;
    /* Whether the process was told to stop: a load ends between two bundles. NULL: never. */
    bool (*stops)(void);
    /* in the form of languages.h; "": none. Borrowed until close */
    const char *aliases;
    /* the language that pairs without a model may go through, or "off". Borrowed until close */
    const char *pivot;
    /* devices that engines run on, from dg_models_options_devices */
    struct dg_devices devices;
};

/* Rows per step. On a CPU a step reads all weights once. Beyond this number of rows a larger step
 * hardly makes a row cheaper, and short sentences wait longer. The number depends on the type of
 * the weights and not on the width of the model, since bytes and products grow alike. 0: all rows,
 * as on a GPU, where a step of few rows takes as long as one of many. Measured:
 * docs/serving-bench.md. */
static inline uint32_t dg_models_step_rows(bool gpu, bool int8)
{
    return gpu ? 0 : int8 ? 16 : 32;
}

/* Workers on all devices: worker i works on device i modulo their number. */
static inline uint32_t dg_models_workers(const struct dg_models_options *o)
{
    return o->workers * o->devices.n;
}

#define DG_MODELS_MAX 256 /* bundles served at once */

struct dg_models;

int dg_models_open(
    const struct dg_models_options *options, struct dg_models **out, struct dg_error *err);
void dg_models_close(struct dg_models *m); /* NULL is fine; models still referenced live on */

/* Result of a load. */
struct dg_models_loaded {
    size_t opened, kept, removed;
    double seconds;
};

/* Open the bundle at path, or every bundle in the directory path, run a self-test on each replica
 * and then serve them instead of the current ones: a request keeps the model that it found. A
 * bundle that is already served from the same directory with the same version stays. Bundles that
 * do not fit into the memory for models are closed again; when nothing is served yet and there is
 * an executor to open them later, they are not opened in the first place. DG_EFORMAT and others
 * name the bundle; DG_ECANCELED: the server stops. Then everything stays as it was. what may be
 * NULL. */
int dg_models_load(
    struct dg_models *m, const char *path, struct dg_models_loaded *what, struct dg_error *err);

/* The models that translate from one language to another: one, or two. */
struct dg_way {
    struct {
        /* referenced */
        struct dg_listing *listing;
        /* in the bundle's spelling of the codes; borrowed from it */
        const char *pair[2];
    } hops[2];
    size_t n;
    /* both are the same language: the one hop's model does not run */
    bool same;
};

/* Find the nearest pair by languages.h's rule. If there is none, then with may_pivot no translation
 * is needed if both are the same language of some model, and otherwise the pair goes through the
 * pivot. DG_ENOTFOUND with field source or target. */
int dg_models_way(struct dg_models *m, const char *source, const char *target, bool may_pivot,
    struct dg_way *out, struct dg_error *err);
void dg_way_release(struct dg_way *way);

/* Write the command that installs a model for an unserved pair, for the end of a message: "; to
 * install one: dragoman pull firefox/en-fr". "" if a code is not a language's. One of them may be
 * NULL (source also "auto"): not given. */
enum { DG_WAY_COMMAND = 128 };
void dg_way_command(const char *source, const char *target, char out[DG_WAY_COMMAND]);

/* All bundles, each referenced; open[i] is its model, referenced, or NULL. Returns how many. out
 * and open may be NULL; both are to get only the number. */
size_t dg_models_listings(struct dg_models *m, struct dg_listing *out[DG_MODELS_MAX],
    struct dg_served *open[DG_MODELS_MAX]);
enum { DG_SOURCES = 1, DG_TARGETS = 2 };

/* Languages, each once, in the order of the models. */
struct dg_model_languages {
    /* [n], into storage */
    const char *codes[DG_MODELS_MAX];
    char storage[DG_MODELS_MAX][DG_LANGUAGE_MAX];
    size_t n;
};
/* List those that models translate from, or to, or both: DG_SOURCES and DG_TARGETS or'ed. */
void dg_models_languages(struct dg_models *m, unsigned which, struct dg_model_languages *out);
/* Find the one of them that is nearest to a code as a client writes it, so that "EN-US" is the
 * language of texts detected as "en"; false: none is near. */
bool dg_models_nearest(
    struct dg_models *m, const char *asked, unsigned which, char out[DG_LANGUAGE_MAX]);
/* Whether there are models to and from the pivot. True without a pivot. */
bool dg_models_has_pivot(struct dg_models *m);

/* Append its devices as the backends name them, separated by commas. */
void dg_served_devices(const struct dg_served *s, struct dg_buffer *out);
/* Log its name, pairs and version. */
void dg_served_log(const struct dg_served *s);
/* Its label in the metrics (dg_metrics_model), looked up once. m NULL: 0. */
unsigned dg_served_label(struct dg_served *s, struct dg_metrics *m);
void dg_served_ref(struct dg_served *s);
/* Models in memory, whatever references them, and the bytes that they take. Any thread. */
size_t dg_served_alive(void);
size_t dg_served_bytes_alive(void);
void dg_served_unref(struct dg_served *s); /* NULL is fine */

/* A backend on the model's first device for the side thread only, opened at its first use and kept
 * as long as the model; opened again after a failure. */
int dg_served_aside(struct dg_served *s, struct dg_backend **out, struct dg_error *err);

#endif
