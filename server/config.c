#include "server/config.h"

#include "base/json.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, WHOLE, SECONDS };

/* One setting. The flag is "--name", the environment variable DRAGOMAN_NAME, the file's key name
 * with underscores. */
struct option_row {
    const char *name, *argument, *help;
    const char *fallback; /* default, written as on the command line */
    enum kind kind;
    size_t offset, size; /* of the field; size for TEXT */
    int64_t min, max;    /* WHOLE: the value; SECONDS: milliseconds */
    const char *choices; /* TEXT: "a|b|c" or NULL */
};

#define FIELD(f) offsetof(struct dg_server_config, f), sizeof(((struct dg_server_config *)0)->f)

static const struct option_row table[] = {
    {"models", "DIR", "a bundle, or a directory of bundles", "", TEXT, FIELD(models), 0, 0, NULL},
    {"host", "ADDRESS", "address to listen on", "127.0.0.1", TEXT, FIELD(host), 0, 0, NULL},
    {"port", "N", "port to listen on; 0 takes a free one", "8080", WHOLE, FIELD(port), 0, 65535,
        NULL},
    {"threads", "N", "HTTP threads", "2", WHOLE, FIELD(threads), 1, 64, NULL},
    {"workers", "N",
        "engines of each model on each device, one thread each; 0: one for each core, at most 4, "
        "and one on a GPU",
        "0", WHOLE, FIELD(workers), 0, 64, NULL},
    {"compute-threads", "N",
        "cores one worker uses; 0 shares this machine's among those that are busy", "0", WHOLE,
        FIELD(compute_threads), 0, 256, NULL},
    {"device", "NAMES",
        "auto, cpu, cuda, cuda:N, several (cuda:0,cuda:2) or cuda:all; auto takes a GPU where "
        "there is one",
        "auto", TEXT, FIELD(device), 0, 0, NULL},
    {"precision", "TYPE", "of a GPU's arithmetic: fp32, fp16 or bf16", "fp32", TEXT,
        FIELD(precision), 0, 0, "fp32|fp16|bf16"},
    {"batch-rows", "N", "hypotheses that advance together in one worker", "128", WHOLE,
        FIELD(batch_rows), 1, 4096, NULL},
    {"batch-sentences", "N", "sentences that advance together in one worker", "64", WHOLE,
        FIELD(batch_sentences), 1, 4096, NULL},
    {"max-body-bytes", "N", "largest request body", "1048576", WHOLE, FIELD(max_body_bytes), 1024,
        1 << 30, NULL},
    {"max-characters", "N", "most characters of one request, all its texts together", "10000",
        WHOLE, FIELD(max_characters), 1, 100000000, NULL},
    {"max-sentences", "N", "most sentences of one request, all its texts together", "2000", WHOLE,
        FIELD(max_sentences), 1, 1000000, NULL},
    {"max-texts", "N", "most texts in one request", "64", WHOLE, FIELD(max_texts), 1, 100000, NULL},
    {"max-beam", "N", "largest beam_size a request may ask for", "32", WHOLE, FIELD(max_beam), 1,
        32, NULL},
    {"max-batch-items", "N", "most items in one batch", "1000", WHOLE, FIELD(max_batch_items), 1,
        1000000, NULL},
    {"max-batch-characters", "N", "most characters of one batch, all its items together", "200000",
        WHOLE, FIELD(max_batch_characters), 1, 100000000, NULL},
    {"batching", "NAME", "continuous; for comparison fifo or static", "continuous", TEXT,
        FIELD(batching), 0, 0, "continuous|fifo|static"},
    {"max-queue-seconds", "SECONDS", "work that may wait, by the speed of late; above: 503", "2",
        SECONDS, FIELD(max_queue_ms), 1, 86400000, NULL},
    {"max-queue-tokens", "N", "instead: source pieces that may wait; 0: seconds count", "0", WHOLE,
        FIELD(max_queue_tokens), 0, 1 << 30, NULL},
    {"cache-bytes", "N", "room for answers to sentences that come again; 0: none are kept", "0",
        WHOLE, FIELD(cache_bytes), 0, INT64_MAX / 2, NULL},
    {"max-connections", "N", "open connections; above: 503", "4096", WHOLE, FIELD(max_connections),
        1, 1000000, NULL},
    {"request-timeout", "SECONDS",
        "deadline of a request that asks for none, and the latest one may ask for", "60", SECONDS,
        FIELD(request_timeout_ms), 1, 86400000, NULL},
    {"batch-timeout", "SECONDS", "the same for a batch", "600", SECONDS, FIELD(batch_timeout_ms), 1,
        86400000, NULL},
    {"header-timeout", "SECONDS", "a request's headers must be complete by then", "10", SECONDS,
        FIELD(header_timeout_ms), 1, 86400000, NULL},
    {"body-timeout", "SECONDS", "a request's body must be complete by then", "30", SECONDS,
        FIELD(body_timeout_ms), 1, 86400000, NULL},
    {"write-timeout", "SECONDS", "a reply must be read by then", "60", SECONDS,
        FIELD(write_timeout_ms), 1, 86400000, NULL},
    {"idle-timeout", "SECONDS", "a connection without a request is closed after this", "60",
        SECONDS, FIELD(idle_timeout_ms), 1, 86400000, NULL},
    {"drain-timeout", "SECONDS", "after SIGTERM, requests that run may take this long", "30",
        SECONDS, FIELD(drain_timeout_ms), 0, 86400000, NULL},
    {"aliases", "LIST", "names of languages: pb=pt-BR,zt=zh-Hant", "", TEXT, FIELD(aliases), 0, 0,
        NULL},
    {"pivot", "LANGUAGE", "pairs without a model go through this language; off: they do not", "en",
        TEXT, FIELD(pivot), 0, 0, NULL},
    {"keys", "FILE", "API keys (dragoman keys add); without, everybody may translate", "", TEXT,
        FIELD(keys), 0, 0, NULL},
    {"keys-open", "WHAT",
        "what needs no key: pages (health, metrics, description) or probes (health alone)", "pages",
        TEXT, FIELD(keys_open), 0, 0, "pages|probes"},
    {"log-level", "LEVEL", "debug, info, warn or error", "info", TEXT, FIELD(log_level), 0, 0,
        "debug|info|warn|error"},
    {"config", "FILE", "JSON file with these settings (keys with _ for -)", "", TEXT, FIELD(config),
        0, 0, NULL},
};

enum { ROWS = sizeof table / sizeof *table };

static const struct {
    const char *name, *help;
    enum dg_server_action action;
} actions[] = {
    {"help", "print this text and exit", DG_SHOW_HELP},
    {"version", "print the version and exit", DG_SHOW_VERSION},
    {"routes", "print the routes (METHOD path) and exit", DG_SHOW_ROUTES},
    {"print-config", "print the settings, with where each comes from, and exit", DG_SHOW_CONFIG},
    {"check-config", "as --print-config, and open the models too", DG_CHECK_CONFIG},
    {"plan", "print how much memory the settings may take, and exit: 0 if there is as much",
        DG_SHOW_PLAN},
};

enum { ACTIONS = sizeof actions / sizeof *actions };

static void *field_of(struct dg_server_config *c, const struct option_row *row)
{
    return (char *)c + row->offset;
}

static void env_name(const char *name, char out[64])
{
    size_t n = (size_t)snprintf(out, 64, "DRAGOMAN_%s", name);
    for (size_t i = 0; i < n; i++)
        out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

static void key_name(const char *name, char out[64])
{
    snprintf(out, 64, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == '-')
            *p = '_';
}

/* Is `text` one of "a|b|c"? */
static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strcspn(p, "|") == n && memcmp(p, text, n) == 0)
            return true;
    return false;
}

static int set_text(struct dg_server_config *c, const struct option_row *row, const char *text,
    const char *where, struct dg_error *err)
{
    if (strlen(text) >= row->size)
        return dg_error_field(
            err, DG_EINVAL, where, "%s is longer than %zu bytes", where, row->size - 1);
    if (row->choices && !is_choice(row->choices, text))
        return dg_error_field(
            err, DG_EINVAL, where, "%s is \"%s\", expected %s", where, text, row->help);
    memcpy(field_of(c, row), text, strlen(text) + 1);
    return DG_OK;
}

static int set_whole(struct dg_server_config *c, const struct option_row *row, const char *text,
    const char *where, struct dg_error *err)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    bool number = isdigit((unsigned char)text[text[0] == '-']) && *end == '\0' && errno == 0;
    if (!number || v < row->min || v > row->max)
        return dg_error_field(err, DG_EINVAL, where,
            "%s is \"%s\", expected a whole number from %lld to %lld", where, text,
            (long long)row->min, (long long)row->max);
    *(int64_t *)field_of(c, row) = v;
    return DG_OK;
}

static int set_seconds(struct dg_server_config *c, const struct option_row *row, const char *text,
    const char *where, struct dg_error *err)
{
    char *end;
    double v = strtod(text, &end);
    double ms = v * 1000 + 0.5;
    bool number = (isdigit((unsigned char)text[0]) || text[0] == '.') && *end == '\0';
    if (!number || !(ms >= (double)row->min && ms <= (double)row->max + 1))
        return dg_error_field(err, DG_EINVAL, where, "%s is \"%s\", expected seconds from %g to %g",
            where, text, (double)row->min / 1000, (double)row->max / 1000);
    *(int64_t *)field_of(c, row) = (int64_t)ms;
    return DG_OK;
}

/* `where` is the flag, variable or file key, for the message. */
static int set(struct dg_server_config *c, size_t i, const char *text, enum dg_origin origin,
    const char *where, struct dg_error *err)
{
    const struct option_row *row = &table[i];
    int rc = row->kind == TEXT    ? set_text(c, row, text, where, err)
             : row->kind == WHOLE ? set_whole(c, row, text, where, err)
                                  : set_seconds(c, row, text, where, err);
    if (rc == DG_OK)
        c->origin[i] = origin;
    return rc;
}

/* The flags' values by row, not yet applied: the file they may name comes first. */
static int read_flags(int argc, char *const argv[], const char *values[ROWS],
    enum dg_server_action *action, struct dg_error *err)
{
    struct option options[ROWS + ACTIONS + 1] = {{0}};
    for (int i = 0; i < ROWS; i++)
        options[i] = (struct option){table[i].name, required_argument, NULL, 1000 + i};
    for (int i = 0; i < ACTIONS; i++)
        options[ROWS + i] = (struct option){actions[i].name, no_argument, NULL, 2000 + i};
    optind = 0; /* start afresh */
    opterr = 0;
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int k = getopt_long(argc, argv, ":", options, NULL);
        if (k == -1)
            break;
        if (k == ':')
            return dg_error_field(
                err, DG_EINVAL, argv[at], "%s needs a value (see --help)", argv[at]);
        if (k == '?')
            return dg_error_field(
                err, DG_EINVAL, argv[at], "there is no option %s (see --help)", argv[at]);
        if (k >= 2000)
            *action = actions[k - 2000].action;
        else
            values[k - 1000] = optarg;
    }
    if (optind < argc)
        return dg_error_field(
            err, DG_EINVAL, argv[optind], "\"%s\" is not an option (see --help)", argv[optind]);
    return DG_OK;
}

static int apply_file(struct dg_server_config *c, const char *path, struct dg_error *err)
{
    const char *keys[ROWS + 1] = {0};
    char names[ROWS][64];
    for (int i = 0; i < ROWS; i++) {
        key_name(table[i].name, names[i]);
        keys[i] = names[i];
    }
    struct dg_json *root = dg_json_load(path, err);
    if (!root)
        return err ? err->code : DG_EINVAL;
    int rc = dg_json_typeof(root) == DG_JSON_OBJECT
                 ? DG_OK
                 : dg_error_set(err, DG_EINVAL, "%s holds %s, expected an object", path,
                       dg_json_type_name(dg_json_typeof(root)));
    if (rc == DG_OK)
        rc = dg_json_only(root, NULL, keys, err);
    for (size_t i = 0; i < ROWS && rc == DG_OK; i++) {
        const struct dg_json *v = dg_json_get(root, names[i]);
        enum dg_json_type type = dg_json_typeof(v);
        char text[64];
        if (!v)
            continue;
        if (type == DG_JSON_STRING && table[i].kind == TEXT) {
            rc = set(c, i, dg_json_string(v, NULL), DG_ORIGIN_FILE, names[i], err);
        } else if ((type == DG_JSON_INT && table[i].kind != TEXT) ||
                   (type == DG_JSON_REAL && table[i].kind == SECONDS)) {
            snprintf(text, sizeof text, "%.17g", dg_json_number(v));
            rc = set(c, i, text, DG_ORIGIN_FILE, names[i], err);
        } else {
            rc = dg_error_field(err, DG_EINVAL, names[i], "%s is %s, expected a %s", names[i],
                dg_json_type_name(type), table[i].kind == TEXT ? "string" : "number");
        }
    }
    dg_json_free(root);
    if (rc != DG_OK)
        dg_error_prefix(err, "%s", path);
    return rc;
}

int dg_server_config_read(int argc, char *const argv[], char *(*env)(const char *name),
    struct dg_server_config *out, struct dg_error *err)
{
    static_assert((int)ROWS <= DG_CONFIG_OPTIONS, "origin[] has no room for every row");
    const char *flags[ROWS] = {0}, *variables[ROWS] = {0};
    char where[72];
    memset(out, 0, sizeof *out);
    int rc = read_flags(argc, argv, flags, &out->action, err);
    const char *file = NULL;
    for (size_t i = 0; i < ROWS && rc == DG_OK; i++) {
        env_name(table[i].name, where);
        variables[i] = env(where);
        if (strcmp(table[i].name, "config") == 0)
            file = flags[i] ? flags[i] : variables[i];
        rc = set(out, i, table[i].fallback, DG_ORIGIN_DEFAULT, table[i].name, err);
    }
    if (rc == DG_OK && file && file[0] != '\0')
        rc = apply_file(out, file, err);
    for (size_t i = 0; i < ROWS && rc == DG_OK; i++) {
        env_name(table[i].name, where);
        if (variables[i])
            rc = set(out, i, variables[i], DG_ORIGIN_ENV, where, err);
        snprintf(where, sizeof where, "--%s", table[i].name);
        if (rc == DG_OK && flags[i])
            rc = set(out, i, flags[i], DG_ORIGIN_FLAG, where, err);
    }
    return rc;
}

enum dg_origin dg_server_config_origin(const struct dg_server_config *c, const char *name)
{
    size_t i = 0;
    while (i < ROWS && strcmp(table[i].name, name) != 0)
        i++;
    assert(i < ROWS);
    return i < ROWS ? c->origin[i] : DG_ORIGIN_DEFAULT;
}

void dg_server_config_help(struct dg_buffer *b)
{
    char flag[64];
    dg_buffer_adds(b,
        "usage: dragoman-server --models DIR [options]\n\n"
        "Serves translations over HTTP. Each option --some-name may also be given as the\n"
        "environment variable DRAGOMAN_SOME_NAME or as some_name in a JSON file (--config);\n"
        "flags beat the environment, the environment beats the file.\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(flag, sizeof flag, "--%s %s", table[i].name, table[i].argument);
        dg_buffer_addf(b, "  %-26s %s", flag, table[i].help);
        if (table[i].fallback[0] != '\0')
            dg_buffer_addf(b, " [%s]", table[i].fallback);
        dg_buffer_adds(b, "\n");
    }
    for (size_t i = 0; i < ACTIONS; i++)
        dg_buffer_addf(b, "  --%-24s %s\n", actions[i].name, actions[i].help);
}

void dg_server_config_print(const struct dg_server_config *c, struct dg_buffer *b)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct option_row *row = &table[i];
        const void *field = (const char *)c + row->offset;
        char key[64], env[64], line[1200];
        key_name(row->name, key);
        env_name(row->name, env);
        if (row->kind == TEXT)
            snprintf(line, sizeof line, "%s = \"%s\"", key, (const char *)field);
        else if (row->kind == WHOLE)
            snprintf(line, sizeof line, "%s = %lld", key, (long long)*(const int64_t *)field);
        else
            snprintf(line, sizeof line, "%s = %g", key, (double)*(const int64_t *)field / 1000);
        dg_buffer_addf(b, "%-36s # ", line);
        switch (c->origin[i]) {
        case DG_ORIGIN_DEFAULT: dg_buffer_adds(b, "default\n"); break;
        case DG_ORIGIN_FILE: dg_buffer_addf(b, "file %s\n", c->config); break;
        case DG_ORIGIN_ENV: dg_buffer_addf(b, "environment %s\n", env); break;
        case DG_ORIGIN_FLAG: dg_buffer_addf(b, "flag --%s\n", row->name); break;
        }
    }
}
