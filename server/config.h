/* The server's settings: one table (config.c) drives flags, environment, file and help text. Later
 * sources override earlier ones: default < JSON file < DRAGOMAN_* environment < flag. Each value
 * records its source. Plain data; any thread. */
#ifndef DG_SERVER_CONFIG_H
#define DG_SERVER_CONFIG_H

#include "base/fields.h"

#include <stdbool.h>
#include <stdint.h>

/* Actions of the command line instead of serving. */
enum dg_server_action {
    DG_SERVE,
    DG_SHOW_HELP,
    DG_SHOW_VERSION,
    DG_SHOW_ROUTES,
    DG_SHOW_CONFIG,
    DG_CHECK_CONFIG,
    DG_SHOW_PLAN,
    DG_SHOW_OPTIONS,
    DG_SHOW_FIELDS
};

#define DG_CONFIG_OPTIONS 64 /* room for the table's rows */

/* Memory for texts, in bodies of the largest size: read, planned and answered texts, until the
 * reply is handed over. */
#define DG_BUDGET_BODIES 128
/* Memory of a body after reading, as it is guessed before: JSON values, items; of a batch its
 * answers, too. */
#define DG_BUDGET_READ 4
#define DG_BUDGET_READ_BATCH 8
/* Memory of an item's answer until the batch's reply is written: bytes, and bytes for each of its
 * text. */
#define DG_BUDGET_ANSWER 512
#define DG_BUDGET_ANSWER_TEXT 2
/* The part of the memory for texts that planned items of batches may take: 1/4. */
#define DG_BUDGET_FED 4
/* Lines that are written and not yet taken, of a batch that is answered in lines. */
#define DG_BUDGET_LINES 131072
/* What the work on one text takes for itself, of a short one and of a long one (DG_ENCODE_BYTES of
 * the dearest characters, 18 of three bytes each). */
#define DG_BUDGET_SHORT_WORK 12000000
#define DG_BUDGET_LONG_WORK 24000000

/* A number that SIGHUP may change while other threads read it. */
typedef _Atomic int64_t dg_live_setting;

struct dg_server_config {
    /* a bundle, or a directory of bundles */
    char models[1024];
    char host[256];
    /* debug, info, warn, error */
    char log_level[16];
    /* logfmt, json */
    char log_format[8];
    /* one in this many requests is logged; 0: those answered 5xx alone */
    dg_live_setting access_log;
    /* path, or "": none */
    char unix_socket[108];
    /* PEM file, or "": plain HTTP */
    char tls_certificate[1024];
    /* of it */
    char tls_key[1024];
    /* file of API keys, or "": everybody may translate */
    char keys[1024];
    /* file of documents that are translated, or "": none are taken */
    char documents[1024];
    /* file of what clients keep here, or "": they keep nothing */
    char collections[1024];
    /* file of better translations, or "": none are kept */
    char suggestions[1024];
    /* the same of translation memories; with collections alone */
    char memories[1024];
    /* a file of pairs or a directory of such, or "": none */
    char glossaries[1024];
    int64_t documents_keep_ms, documents_bytes;
    /* endpoints without a key: pages, probes */
    char keys_open[16];
    /* the file these came from, or "" */
    char config[1024];
    /* that are spoken: "libretranslate,deepl", "all" or "none" */
    char dialects[256];
    /* which pages may read answers: dialects, *, none, or a list */
    char cors_origins[2048];
    /* of languages, "pb=pt-BR,..." */
    char aliases[1024];
    /* language that pairs without a model go through, or "off" */
    char pivot[32];
    int64_t port;
    int64_t http_threads;
    /* engines of each model, one thread each */
    int64_t workers;
    /* compute threads of one worker; 0 = an equal share among busy workers */
    int64_t threads;
    /* auto, cpu, cuda, cuda:N, several of these, cuda:all */
    char device[256];
    /* of a GPU: fp32, fp16, bf16 */
    char precision[8];
    /* hypotheses that advance together in one worker; 0: the device says */
    int64_t batch_rows;
    /* of these, those that advance in one step where more could; 0: as many as make one cheap */
    int64_t step_rows;
    /* sentences that do; 0: half of batch_rows, at least 64 */
    int64_t batch_sentences;
    /* that open bundles may take; 0: all are open */
    int64_t model_memory;
    int64_t max_body_bytes;
    /* of one request, all its texts */
    dg_live_setting max_characters;
    /* of one request or batch item, once its texts are split */
    dg_live_setting max_sentences;
    /* length of a text array */
    dg_live_setting max_texts;
    int64_t max_beam;
    /* of one batch */
    dg_live_setting max_batch_items, max_batch_characters;
    char batching[16];
    dg_live_setting max_queue_ms;
    /* of kept answers; 0: none are kept */
    dg_live_setting cache_bytes;
    /* source tokens that may wait; 0: max_queue_ms counts */
    dg_live_setting max_queue_tokens;
    int64_t max_connections;
    /* 0: half of max_connections */
    dg_live_setting max_connections_per_address;
    /* without keys; 0: no limit */
    dg_live_setting address_requests_per_minute;
    /* added to the nice value of the engines' threads */
    int64_t worker_nice;
    /* the same for a batch */
    dg_live_setting batch_timeout_ms;
    /* default and upper bound of a request's deadline */
    dg_live_setting request_timeout_ms;
    dg_live_setting header_timeout_ms, body_timeout_ms, write_timeout_ms, idle_timeout_ms;
    dg_live_setting stream_ping_ms;
    /* after SIGTERM, before the listener closes */
    dg_live_setting lame_duck_ms;
    /* after that */
    dg_live_setting drain_timeout_ms;
    /* unhealthy after this time with work but no step */
    dg_live_setting stuck_ms;
    /* enum dg_field_origin of each row */
    unsigned char origin[DG_CONFIG_OPTIONS];
    enum dg_server_action action;
};

/* Read the command line, the environment (through `env`, as getenv) and the file they name.
 * DG_EINVAL names the flag, variable or key, its value and the allowed values. */
int dg_server_config_read(int argc, char *argv[], char *(*env)(const char *name),
    struct dg_server_config *out, struct dg_error *err);

/* Read them again, as dg_server_config_read does, and take over those that may change while the
 * server runs: the live ones and log_level. Their names and values are appended to `changed`, the
 * names of others that differ to `kept`, commas between. Nothing changes on failure. One thread at
 * a time; others may read live settings during the call. */
int dg_server_config_read_again(int argc, char *argv[], char *(*env)(const char *name),
    struct dg_server_config *live, struct dg_buffer *changed, struct dg_buffer *kept,
    struct dg_error *err);

/* Source of a setting's value; the name is that of the JSON file. */
enum dg_field_origin dg_server_config_origin(const struct dg_server_config *c, const char *name);

/* Append the names of DRAGOMAN_* variables of `environment` (as environ) that nothing reads, with
 * commas between: settings that are misspelt. */
void dg_server_config_unknown(char *const *environment, struct dg_buffer *b);

/* Append to array `list` an object for each setting (dg_fields_describe). */
void dg_server_config_describe(struct dg_json *list);
/* Append the help text. */
void dg_server_config_help(struct dg_buffer *b);
/* The options as dg_options_complete writes them. */
void dg_server_config_complete(struct dg_buffer *b);
/* Append "key = value  # origin" lines; the keys are those of the JSON file. */
void dg_server_config_print(const struct dg_server_config *c, struct dg_buffer *b);

#endif
