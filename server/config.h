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

/* Bodies of the largest size that may be arriving at once (large replies may take as much), and
 * documents of the largest size. */
#define DG_BUDGET_ARRIVING 64
#define DG_BUDGET_DOCUMENTS 4
/* Memory for texts, in bodies of the largest size: texts that are read, planned and answered, until
 * the reply is sent. */
#define DG_BUDGET_BODIES 128
/* Memory of a body after reading, as estimated before, per byte: JSON values, items; for a batch
 * also its answers. */
#define DG_BUDGET_READ 4
#define DG_BUDGET_READ_BATCH 8
/* Memory of an item's answer until the batch's reply is written: bytes per answer, and bytes per
 * byte of its text. */
#define DG_BUDGET_ANSWER 512
#define DG_BUDGET_ANSWER_TEXT 2
/* The share of the memory for texts that planned items of batches may take: 1/4. */
#define DG_BUDGET_FED 4
/* Bytes of lines that are written but not yet taken, for a batch that is answered in lines. */
#define DG_BUDGET_LINES 131072
/* Working memory for one text, short or long (DG_ENCODE_BYTES of the most expensive characters: 18
 * from three bytes). */
#define DG_BUDGET_SHORT_WORK 12000000
#define DG_BUDGET_LONG_WORK 24000000
/* Working memory for documents, one being checked and one being translated: the XML of each
 * (64 MiB), its tags (2 million of 56 bytes), and the second one's translation (128 MiB). */
#define DG_BUDGET_DOCUMENT_WORK 500000000

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
    /* one in this many requests is logged, and every 5xx reply; 0: only 5xx replies */
    dg_live_setting access_log;
    /* path, or "": none */
    char unix_socket[108];
    /* PEM file, or "": plain HTTP */
    char tls_certificate[1024];
    /* PEM file of the certificate's key */
    char tls_key[1024];
    /* file of API keys, or "": everybody may translate */
    char keys[1024];
    /* file that stores documents to translate, or "": none are accepted */
    char documents[1024];
    /* file that stores glossaries and memories of clients, or "": none are kept */
    char collections[1024];
    /* file that stores suggested translations, or "": none are kept */
    char suggestions[1024];
    /* file of translation memories or a directory of such, or "": none; needs collections */
    char memories[1024];
    /* file of glossaries or a directory of such, or "": none */
    char glossaries[1024];
    int64_t documents_keep_ms, documents_bytes;
    /* endpoints that need no key: pages, probes */
    char keys_open[16];
    /* JSON file of settings, or "" */
    char config[1024];
    /* APIs of other servers to offer: "libretranslate,deepl", "all" or "none" */
    char dialects[256];
    /* origins whose pages may read answers: dialects, *, none, or a list */
    char cors_origins[2048];
    /* of language codes, "pb=pt-BR,..." */
    char aliases[1024];
    /* language that pairs without a model go through, or "off" */
    char pivot[32];
    int64_t port;
    int64_t http_threads;
    /* engines per model and device, one thread each; 0: the device decides */
    int64_t workers;
    /* compute threads of one worker; 0 = an equal share among busy workers */
    int64_t threads;
    /* auto, cpu, cuda, cuda:N, several of these, cuda:all */
    char device[256];
    /* on a GPU: fp32, fp16, bf16 */
    char precision[8];
    /* maximum live hypotheses of one worker; 0: the device decides */
    int64_t batch_rows;
    /* maximum of these that advance in one step; 0: as many as make a row cheap */
    int64_t step_rows;
    /* maximum live sentences of one worker; 0: half of batch_rows, at least 64 */
    int64_t batch_sentences;
    /* bytes that open bundles may take; 0: no limit, all are open */
    int64_t model_memory;
    int64_t max_body_bytes;
    /* of requests that bring a document */
    int64_t max_document_bytes;
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
    /* bytes of cached answers; 0: none are cached */
    dg_live_setting cache_bytes;
    /* source tokens that may wait; 0: max_queue_ms is the bound */
    dg_live_setting max_queue_tokens;
    int64_t max_connections;
    /* 0: half of max_connections */
    dg_live_setting max_connections_per_address;
    /* only without keys; 0: no limit */
    dg_live_setting address_requests_per_minute;
    /* nice value of the engines' threads; 0: the server's own */
    int64_t worker_nice;
    /* default and upper bound of a batch's deadline */
    dg_live_setting batch_timeout_ms;
    /* default and upper bound of a request's deadline */
    dg_live_setting request_timeout_ms;
    dg_live_setting header_timeout_ms, body_timeout_ms, write_timeout_ms, idle_timeout_ms;
    dg_live_setting stream_ping_ms;
    /* after SIGTERM, before the listener closes */
    dg_live_setting lame_duck_ms;
    /* after that, for running requests */
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

/* Take over from settings that were read again those that may change while the server runs: the
 * live ones and log_level. Their names and values are appended to `changed`, the names of others
 * that differ to `kept`, separated by commas. One thread at a time; others may read live settings
 * during the call. */
void dg_server_config_take(struct dg_server_config *live, const struct dg_server_config *fresh,
    struct dg_buffer *changed, struct dg_buffer *kept);

/* Maximum bytes of the body of a request that brings a document: the larger one of
 * max_document_bytes and max_body_bytes; 0: no documents are accepted. */
size_t dg_server_config_document_bytes(const struct dg_server_config *c);

/* Source of a setting's value; name as in the JSON file. */
enum dg_field_origin dg_server_config_origin(const struct dg_server_config *c, const char *name);

/* Append the names of DRAGOMAN_* variables of `environment` (as environ) that nothing reads, such
 * as misspelt settings, separated by commas. */
void dg_server_config_unknown(char *const *environment, struct dg_buffer *b);

/* Append to array `list` an object for each setting (dg_fields_describe). */
void dg_server_config_describe(struct dg_json *list);
/* Append the help text. */
void dg_server_config_help(struct dg_buffer *b);
/* Append the options as dg_options_complete writes them. */
void dg_server_config_complete(struct dg_buffer *b);
/* Append "key = value  # origin" lines; the keys are those of the JSON file. */
void dg_server_config_print(const struct dg_server_config *c, struct dg_buffer *b);

#endif
