/* DESIGN. One row per setting (base/fields.h). Flags, environment, JSON file, --help and
 * --print-config all come from it. */
#include "server/config.h"

#include "base/options.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define TEXT(member) DG_FIELD_TEXT, DG_FIELD_AT(struct dg_server_config, member), 0, 0
#define WHOLE(member, min, max) DG_FIELD_INT, DG_FIELD_AT(struct dg_server_config, member), min, max
#define SECONDS(member, min, max)                                                                  \
    DG_FIELD_SECONDS, DG_FIELD_AT(struct dg_server_config, member), min, max

/* The setting may change while the server runs. */
#define LIVE DG_FIELD_OWN

static const char *const precision_words[] = {"fp32", "fp16", "bf16", NULL};
static const char *const batching_words[] = {"continuous", "fifo", "static", NULL};
static const char *const keys_open_words[] = {"pages", "probes", NULL};
static const char *const log_format_words[] = {"logfmt", "json", NULL};
static const char *const log_level_words[] = {"debug", "info", "warn", "error", NULL};

static const struct dg_field settings[] = {
    {"models", TEXT(models), .fallback = "", .argument = "DIR",
        .help = "a bundle, or a directory of bundles"},
    {"host", TEXT(host), .fallback = "127.0.0.1", .argument = "ADDRESS",
        .help = "address to listen on"},
    {"port", WHOLE(port, 0, 65535), .fallback = "8080",
        .help = "port to listen on; 0: any free port"},
    {"http_threads", WHOLE(http_threads, 1, 64), .fallback = "2",
        .help = "threads for reading and writing sockets; the same number process short texts"},
    {"workers", WHOLE(workers, 0, 64), .fallback = "0",
        .help = "engines per model and device, one thread each; 0: one per core, at most 4; one on "
                "a GPU or with --threads"},
    {"threads", WHOLE(threads, 0, 256), .fallback = "0", .old = "compute_threads",
        .help = "compute threads per worker; 0: busy workers share this machine's cores"},
    {"device", TEXT(device), .fallback = "auto", .argument = "NAMES",
        .help = "auto, cpu, cuda, cuda:N, a list (cuda:0,cuda:2) or cuda:all; auto: the first "
                "usable GPU, else the CPU"},
    {"precision", TEXT(precision), .words = precision_words, .fallback = "fp32", .argument = "TYPE",
        .help = "arithmetic on a GPU: fp32, fp16 or bf16"},
    {"batch_rows", WHOLE(batch_rows, 0, 4096), .fallback = "0",
        .help = "maximum live hypotheses of one worker; 0: 128, on a GPU as many as keep it busy, "
                "at most 1024"},
    {"step_rows", WHOLE(step_rows, 0, 4096), .fallback = "0",
        .help =
            "hypotheses per decoding step; 0: 16 with int8 weights, 32 with others, all on a GPU"},
    {"batch_sentences", WHOLE(batch_sentences, 0, 4096), .fallback = "0",
        .help = "maximum live sentences of one worker; 0: half of the rows, at least 64"},
    {"model_memory", WHOLE(model_memory, 0, 4e18), .fallback = "0",
        .help = "memory in bytes for open bundles, as --plan counts it; beyond it the longest "
                "idle bundle is closed; 0: all stay open"},
    {"max_body_bytes", WHOLE(max_body_bytes, 1024, 1073741824), .fallback = "1048576",
        .help = "maximum size of a request body in bytes"},
    {"max_document_bytes", WHOLE(max_document_bytes, 1024, 67108864), .fallback = "10485760",
        .help = "maximum size of a document upload in bytes, if --max-body-bytes is smaller; only "
                "packed files (Office, EPUB) may exceed --max-body-bytes"},
    {"max_characters", WHOLE(max_characters, 1, 100000000), .flags = LIVE, .fallback = "200000",
        .help = "maximum characters per request, over all its texts"},
    {"max_sentences", WHOLE(max_sentences, 1, 1000000), .flags = LIVE, .fallback = "10000",
        .help = "maximum sentences per request, over all its texts"},
    {"max_texts", WHOLE(max_texts, 1, 100000), .flags = LIVE, .fallback = "128",
        .help = "maximum texts per request"},
    {"max_beam", WHOLE(max_beam, 1, 32), .fallback = "32",
        .help = "maximum beam_size of a request"},
    {"max_batch_items", WHOLE(max_batch_items, 1, 1000000), .flags = LIVE, .fallback = "1000",
        .help = "maximum items per batch"},
    {"max_batch_characters", WHOLE(max_batch_characters, 1, 100000000), .flags = LIVE,
        .fallback = "200000", .help = "maximum characters per batch, over all its items"},
    {"batching", TEXT(batching), .words = batching_words, .fallback = "continuous",
        .argument = "NAME", .help = "continuous; fifo and static are for comparison"},
    {"max_queue_seconds", SECONDS(max_queue_ms, 0.001, 86400), .flags = LIVE, .fallback = "2",
        .argument = "SECONDS",
        .help = "maximum backlog in seconds of work at the measured speed; requests beyond it "
                "get 503"},
    {"max_queue_tokens", WHOLE(max_queue_tokens, 0, 1073741824), .flags = LIVE, .fallback = "0",
        .help = "maximum backlog in source tokens instead of seconds; 0: use "
                "--max-queue-seconds"},
    {"cache_bytes", WHOLE(cache_bytes, 0, 4e18), .flags = LIVE, .fallback = "0",
        .help = "size of the cache of answers to repeated sentences; 0: no cache"},
    {"max_connections", WHOLE(max_connections, 1, 1000000), .fallback = "4096",
        .help = "maximum open connections; beyond it the longest idle one is closed, or the "
                "new one gets 503"},
    {"max_connections_per_address", WHOLE(max_connections_per_address, 0, 1000000), .flags = LIVE,
        .fallback = "0",
        .help = "maximum connections from one address (an IPv6 /64) other than 127.0.0.1 and "
                "::1; 0: half of --max-connections"},
    {"address_requests_per_minute", WHOLE(address_requests_per_minute, 0, 1000000), .flags = LIVE,
        .fallback = "0",
        .help = "without --keys: maximum requests per minute from one address other than this "
                "machine's; beyond it: 429; 0: no limit"},
    {"worker_nice", WHOLE(worker_nice, 0, 19), .fallback = "0",
        .help = "nice value of the engine threads, so that I/O and text work run first; 0: the "
                "server's own"},
    {"request_timeout", SECONDS(request_timeout_ms, 0.001, 86400), .flags = LIVE, .fallback = "60",
        .argument = "SECONDS", .help = "default and maximum deadline of a request"},
    {"batch_timeout", SECONDS(batch_timeout_ms, 0.001, 86400), .flags = LIVE, .fallback = "600",
        .argument = "SECONDS", .help = "default and maximum deadline of a batch"},
    {"header_timeout", SECONDS(header_timeout_ms, 0.001, 86400), .flags = LIVE, .fallback = "10",
        .argument = "SECONDS", .help = "maximum time to receive a request's headers"},
    {"body_timeout", SECONDS(body_timeout_ms, 0.001, 86400), .flags = LIVE, .fallback = "30",
        .argument = "SECONDS",
        .help = "maximum time to receive a request's body; document uploads: per --max-body-bytes"},
    {"write_timeout", SECONDS(write_timeout_ms, 0.001, 86400), .flags = LIVE, .fallback = "60",
        .argument = "SECONDS", .help = "maximum time for a client to read a reply"},
    {"idle_timeout", SECONDS(idle_timeout_ms, 0.001, 86400), .flags = LIVE, .fallback = "75",
        .argument = "SECONDS", .help = "close a connection after this time without a request"},
    {"stream_ping", SECONDS(stream_ping_ms, 0, 86400), .flags = LIVE, .fallback = "15",
        .argument = "SECONDS",
        .help = "send a comment on an event stream that was silent for this long; 0: never"},
    {"lame_duck", SECONDS(lame_duck_ms, 0, 3600), .flags = LIVE, .fallback = "0",
        .argument = "SECONDS",
        .help = "after SIGTERM, accept requests for this long while /readyz returns 503"},
    {"stuck_after", SECONDS(stuck_ms, 0.1, 86400), .flags = LIVE, .fallback = "30",
        .argument = "SECONDS",
        .help = "an engine that has work but takes no step for this long fails /livez and "
                "/readyz"},
    {"drain_timeout", SECONDS(drain_timeout_ms, 0, 86400), .flags = LIVE, .fallback = "30",
        .argument = "SECONDS", .help = "after SIGTERM, wait this long for running requests"},
    {"unix_socket", TEXT(unix_socket), .fallback = "", .argument = "PATH",
        .help = "also listen on this Unix socket; its owner and group may use it and reload "
                "models without a key"},
    {"tls_certificate", TEXT(tls_certificate), .fallback = "", .argument = "FILE",
        .help = "certificate and chain for TLS 1.2 and 1.3, PEM; SIGHUP reads it again"},
    {"tls_key", TEXT(tls_key), .fallback = "", .argument = "FILE",
        .help = "the certificate's private key, PEM"},
    {"aliases", TEXT(aliases), .fallback = "", .argument = "LIST",
        .help = "additional language codes: pb=pt-BR,zt=zh-Hant"},
    {"pivot", TEXT(pivot), .fallback = "en", .argument = "LANGUAGE",
        .help = "pivot language for pairs without a model; off: no pivot translation"},
    {"keys", TEXT(keys), .fallback = "", .argument = "FILE",
        .help = "file of API keys (dragoman keys add); without it, anyone may translate"},
    {"documents", TEXT(documents), .fallback = "", .argument = "FILE",
        .help = "translate documents that clients send; this file (SQLite) stores them"},
    {"documents_keep", SECONDS(documents_keep_ms, 60, 2592000), .fallback = "86400",
        .argument = "SECONDS", .help = "how long to keep documents and their translations"},
    {"documents_bytes", WHOLE(documents_bytes, 1048576, 1099511627776), .fallback = "1073741824",
        .help = "maximum total size of stored documents; beyond it: 503"},
    {"glossaries", TEXT(glossaries), .fallback = "", .argument = "PATH",
        .help = "a .tsv, .csv or .tmx file, or a directory of them: glossaries that requests name"},
    {"collections", TEXT(collections), .fallback = "", .argument = "FILE",
        .help = "store glossaries and translation memories of clients in this file (SQLite)"},
    {"memories", TEXT(memories), .fallback = "", .argument = "PATH",
        .help = "a .tsv, .csv or .tmx file, or a directory of them: translation memories, used "
                "instead of the model (needs --collections)"},
    {"suggestions", TEXT(suggestions), .fallback = "", .argument = "FILE",
        .help = "store suggested translations (POST /suggest) in this file (SQLite)"},
    {"dialects", TEXT(dialects), .fallback = "all", .argument = "LIST",
        .help = "APIs of other servers to offer besides /v1: all, none, or a list of "
                "libretranslate, deepl, google, imme, kiss, hcfy, deeplx"},
    {"cors_origins", TEXT(cors_origins), .fallback = "dialects", .argument = "LIST",
        .help = "origins whose pages may read answers (CORS): a list, *, none, or dialects (all "
                "pages, for the APIs of --dialects that allow it)"},
    {"keys_open", TEXT(keys_open), .words = keys_open_words, .fallback = "pages",
        .argument = "WHAT",
        .help = "endpoints that need no key: pages (health, metrics, API description) or "
                "probes (health only)"},
    {"log_level", TEXT(log_level), .flags = LIVE, .words = log_level_words, .fallback = "info",
        .argument = "LEVEL", .help = "debug, info, warn or error"},
    {"log_format", TEXT(log_format), .words = log_format_words, .fallback = "logfmt",
        .argument = "FORMAT", .help = "logfmt or json"},
    {"access_log", WHOLE(access_log, 0, 1000000), .flags = LIVE, .fallback = "1",
        .help = "log one in N requests, and every 5xx reply; 0: only 5xx replies"},
    {"config", TEXT(config), .fallback = "", .argument = "FILE",
        .help = "JSON file with these settings (keys use _ instead of -)"},
};

#define ACTION(value) DG_FIELD_MARK, DG_FIELD_AT(struct dg_server_config, action), value, value

static const struct dg_field actions[] = {
    {"help", ACTION(DG_SHOW_HELP), .help = "print this text and exit"},
    {"version", ACTION(DG_SHOW_VERSION), .help = "print the version and exit"},
    {"routes", ACTION(DG_SHOW_ROUTES), .help = "print the routes (METHOD path) and exit"},
    {"print_config", ACTION(DG_SHOW_CONFIG), .help = "print each setting with its origin and exit"},
    {"check_config", ACTION(DG_CHECK_CONFIG),
        .help = "as --print-config, and also open the models, read the other files and check that "
                "the server can write its own"},
    {"describe", ACTION(DG_SHOW_FIELDS),
        .help = "print type, range and default of each setting and search option as JSON, and "
                "exit"},
    /* For packaging/completion; no help: --help does not show it. */
    {"complete", ACTION(DG_SHOW_OPTIONS), .help = NULL},
    {"plan", ACTION(DG_SHOW_PLAN),
        .help = "print the memory that the settings may need and exit; status 0 if it is "
                "available"},
};

enum { GROUPS = 2 };

/* The table of settings alone: describes them, reads none. */
static const struct dg_fields rows = {settings, DG_FIELD_COUNT(settings), NULL, NULL, NULL};

static_assert(
    sizeof(dg_live_setting) == sizeof(int64_t), "rows write it as one before threads run");
static_assert(DG_FIELD_COUNT(settings) <= DG_CONFIG_OPTIONS, "origin[] has no room for every row");

static void fields_of(struct dg_server_config *c, struct dg_fields groups[GROUPS])
{
    groups[0] = (struct dg_fields){settings, DG_FIELD_COUNT(settings), c, c->origin, NULL};
    groups[1] = (struct dg_fields){actions, DG_FIELD_COUNT(actions), c, NULL, NULL};
}

static int apply_file(const struct dg_fields *t, const char *path, struct dg_error *err)
{
    struct dg_json *root = dg_json_load(path, err);
    if (!root)
        return err ? err->code : DG_EINVAL;
    int rc = dg_json_typeof(root) == DG_JSON_OBJECT
                 ? DG_OK
                 : dg_error_set(err, DG_EINVAL, "holds %s, expected an object",
                       dg_json_type_name(dg_json_typeof(root)));
    if (rc == DG_OK && dg_json_get(root, "config"))
        rc = dg_error_set(err, DG_EINVAL, "a settings file cannot name another one (\"config\")");
    if (rc == DG_OK)
        rc = dg_fields_from_json(t, NULL, root, DG_FROM_FILE, err);
    dg_json_free(root);
    if (rc != DG_OK)
        dg_error_prefix(err, "%s", path);
    return rc;
}

int dg_server_config_read(int argc, char *argv[], char *(*env)(const char *name),
    struct dg_server_config *out, struct dg_error *err)
{
    struct dg_fields groups[GROUPS];
    char file[sizeof out->config];
    int rc = DG_OK;
    memset(out, 0, sizeof *out);
    fields_of(out, groups);
    /* Each source overrides those before it. The file is named by later ones: once it is known, all
     * are applied again. */
    do {
        memcpy(file, out->config, sizeof file);
        dg_fields_default(&groups[0]);
        if (file[0])
            rc = apply_file(&groups[0], file, err);
        if (rc == DG_OK)
            rc = dg_fields_from_environment(&groups[0], env, err);
        if (rc == DG_OK)
            rc = dg_options_read(groups, GROUPS, argc, argv, NULL, err);
    } while (rc == DG_OK && strcmp(file, out->config) != 0);
    return rc;
}

static void name_setting(
    const struct dg_field *f, const struct dg_server_config *value, struct dg_buffer *b)
{
    dg_buffer_addf(b, "%s%s", b->len > 0 ? "," : "", f->name);
    if (!value)
        return;
    dg_buffer_adds(b, "=");
    dg_field_print(f, value, b);
}

void dg_server_config_take(struct dg_server_config *live, const struct dg_server_config *fresh,
    struct dg_buffer *changed, struct dg_buffer *kept)
{
    for (size_t i = 0; i < DG_FIELD_COUNT(settings); i++) {
        const struct dg_field *f = &settings[i];
        void *to = (char *)live + f->offset;
        const void *from = (const char *)fresh + f->offset;
        const bool text = f->kind == DG_FIELD_TEXT;
        /* The service may have lowered a default. */
        if (live->origin[i] == DG_FROM_DEFAULT && fresh->origin[i] == DG_FROM_DEFAULT)
            continue;
        if (text ? strcmp(to, from) == 0 : memcmp(to, from, f->size) == 0)
            continue;
        if (!(f->flags & LIVE)) {
            name_setting(f, NULL, kept);
            continue;
        }
        if (text)
            memcpy(to, from, f->size);
        else
            atomic_store((dg_live_setting *)to, *(const dg_live_setting *)from);
        live->origin[i] = fresh->origin[i];
        name_setting(f, live, changed);
    }
}

size_t dg_server_config_document_bytes(const struct dg_server_config *c)
{
    const int64_t most =
        c->max_document_bytes > c->max_body_bytes ? c->max_document_bytes : c->max_body_bytes;
    return c->documents[0] != '\0' ? (size_t)most : 0;
}

enum dg_field_origin dg_server_config_origin(const struct dg_server_config *c, const char *name)
{
    size_t i = dg_fields_find(&rows, name);
    assert(i < rows.n);
    return (enum dg_field_origin)c->origin[i];
}

void dg_server_config_unknown(char *const *environment, struct dg_buffer *b)
{
    /* Variables that other parts of the program read. */
    static const char *const others[] = {"DRAGOMAN_ISA", "DRAGOMAN_SHORTLIST",
        "DRAGOMAN_CUDA_PLUGIN", "DRAGOMAN_CUDA_STEP", "DRAGOMAN_CUDA_GEMM",
        "DRAGOMAN_CUDA_PATIENCE", "DRAGOMAN_DEBUG", NULL};
    dg_options_unknown_variables(&rows, 1, others, environment, b);
}

void dg_server_config_describe(struct dg_json *list)
{
    dg_fields_describe(&rows, NULL, list);
}

void dg_server_config_complete(struct dg_buffer *b)
{
    struct dg_server_config ignored;
    struct dg_fields groups[GROUPS];
    fields_of(&ignored, groups);
    dg_options_complete(groups, GROUPS, b);
}

void dg_server_config_help(struct dg_buffer *b)
{
    struct dg_server_config ignored;
    struct dg_fields groups[GROUPS];
    fields_of(&ignored, groups);
    dg_options_help("usage: dragoman-server --models DIR [options]\n\n"
                    "Serves translations over HTTP. Each option --some-name is also an environment "
                    "variable\n"
                    "DRAGOMAN_SOME_NAME and a key some_name of a JSON file (--config). Options "
                    "override the\n"
                    "environment, and the environment overrides the file.\n",
        groups, GROUPS, NULL, b);
}

static void print_setting(const struct dg_server_config *c, size_t i, struct dg_buffer *b)
{
    const struct dg_field *f = &settings[i];
    const char *quote = f->kind == DG_FIELD_TEXT ? "\"" : "";
    const size_t begin = b->len;
    char variable[64];
    dg_buffer_addf(b, "%s = %s", f->name, quote);
    dg_field_print(f, c, b);
    dg_buffer_adds(b, quote);
    dg_buffer_addf(b, "%*s # ", b->len - begin < 36 ? (int)(36 - (b->len - begin)) : 0, "");
    switch ((enum dg_field_origin)c->origin[i]) {
    case DG_FROM_DEFAULT: dg_buffer_adds(b, "default\n"); break;
    case DG_FROM_FILE: dg_buffer_addf(b, "file %s\n", c->config); break;
    case DG_FROM_ENVIRONMENT:
        dg_buffer_addf(b, "environment %s\n", dg_field_variable(f, variable));
        break;
    case DG_FROM_OPTION: dg_buffer_addf(b, "flag %s\n", dg_field_option(f, variable)); break;
    }
}

void dg_server_config_print(const struct dg_server_config *c, struct dg_buffer *b)
{
    for (size_t i = 0; i < DG_FIELD_COUNT(settings); i++)
        print_setting(c, i, b);
}
