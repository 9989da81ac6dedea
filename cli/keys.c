/* dragoman keys: make, list, change and revoke the API keys of a server, and say what each has
 * used. A server that runs sees changes within a second or two. */
#include "base/clock.h"
#include "base/json.h"
#include "base/command.h"
#include "cli/cli.h"
#include "cli/json_line.h"
#include "store/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_S 86400

struct options {
    const char *path, *id;
    struct dg_key key;
    int64_t days;
    bool json;
    /* enum dg_key_field bits of the options that were given */
    unsigned fields;
};

static void print_take(struct dg_json *root)
{
    if (!root || dg_json_line_write(root, false, NULL) != DG_OK)
        fprintf(stderr, "dragoman keys: no memory for the answer\n");
}

/* "2026-11-21" */
static const char *date(int64_t seconds, char out[16])
{
    struct tm tm;
    time_t t = (time_t)seconds;
    strftime(out, 16, "%Y-%m-%d", gmtime_r(&t, &tm));
    return out;
}

static struct dg_json *describe(const struct dg_key *key)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "id", key->id);
    dg_json_set_string(o, "name", key->name);
    dg_json_set_string(o, "scope", dg_keys_scopes_name(key->scopes));
    dg_json_set_int(o, "requests_per_minute", key->requests_per_minute);
    dg_json_set_int(o, "characters_per_day", key->characters_per_day);
    dg_json_set_int(o, "created", key->created_s);
    if (key->expires_s != 0)
        dg_json_set_int(o, "expires", key->expires_s);
    if (key->revoked_s != 0)
        dg_json_set_int(o, "revoked", key->revoked_s);
    return o;
}

static int add(struct dg_keys *k, const struct options *o, struct dg_error *err)
{
    struct dg_key made;
    char secret[DG_KEY_SECRET];
    int rc = dg_keys_add(k, &o->key, (int64_t)dg_clock_wall_s(), &made, secret, err);
    if (rc != DG_OK)
        return rc;
    if (o->json) {
        struct dg_json *root = describe(&made);
        dg_json_set_string(root, "key", secret);
        print_take(root);
    } else {
        /* Only the key goes to standard output, for scripts. */
        fprintf(stderr, "key %s for \"%s\", scope %s. It is printed only this once:\n", made.id,
            made.name, dg_keys_scopes_name(made.scopes));
        printf("%s\n", secret);
    }
    explicit_bzero(secret, sizeof secret);
    return DG_OK;
}

static void limit(int64_t n, char out[24])
{
    if (n > 0)
        snprintf(out, 24, "%lld", (long long)n);
    else
        snprintf(out, 24, "-");
}

static int list(struct dg_keys *k, const struct options *o, struct dg_error *err)
{
    struct dg_key *keys;
    size_t n;
    int rc = dg_keys_list(k, &keys, &n, err);
    if (rc != DG_OK)
        return rc;
    struct dg_json *root = o->json ? dg_json_new_array() : NULL;
    if (!o->json)
        printf("%-8s  %-15s  %12s  %14s  %-10s  %-10s  %-10s  %s\n", "id", "scope", "requests/min",
            "characters/day", "created", "expires", "revoked", "name");
    for (size_t i = 0; i < n; i++) {
        char created[16], expires[16], revoked[16], rate[24], quota[24];
        limit(keys[i].requests_per_minute, rate);
        limit(keys[i].characters_per_day, quota);
        if (o->json)
            dg_json_append_take(root, describe(&keys[i]));
        else
            printf("%-8s  %-15s  %12s  %14s  %-10s  %-10s  %-10s  %s\n", keys[i].id,
                dg_keys_scopes_name(keys[i].scopes), rate, quota, date(keys[i].created_s, created),
                keys[i].expires_s != 0 ? date(keys[i].expires_s, expires) : "-",
                keys[i].revoked_s != 0 ? date(keys[i].revoked_s, revoked) : "-", keys[i].name);
    }
    if (o->json)
        print_take(root);
    free(keys);
    return DG_OK;
}

static int revoke(struct dg_keys *k, const struct options *o, struct dg_error *err)
{
    return dg_keys_revoke(k, o->id, (int64_t)dg_clock_wall_s(), err);
}

static int set(struct dg_keys *k, const struct options *o, struct dg_error *err)
{
    return dg_keys_set(k, o->id, &o->key, o->fields, err);
}

static int show_usage(struct dg_keys *k, const struct options *o, struct dg_error *err)
{
    struct dg_key_usage *days;
    size_t n;
    int64_t today = (int64_t)dg_clock_wall_s() / DAY_S;
    int rc = dg_keys_usage(k, today - o->days + 1, &days, &n, err);
    if (rc != DG_OK)
        return rc;
    struct dg_json *root = o->json ? dg_json_new_array() : NULL;
    if (!o->json)
        printf("%-8s  %-10s  %10s  %12s\n", "id", "day", "requests", "characters");
    for (size_t i = 0; i < n; i++) {
        char day[16];
        if (o->id && strcmp(o->id, days[i].id) != 0)
            continue;
        date(days[i].day * DAY_S, day);
        if (!o->json) {
            printf("%-8s  %-10s  %10lld  %12lld\n", days[i].id, day, (long long)days[i].requests,
                (long long)days[i].characters);
            continue;
        }
        struct dg_json *one = dg_json_new_object();
        dg_json_set_string(one, "id", days[i].id);
        dg_json_set_string(one, "day", day);
        dg_json_set_int(one, "requests", days[i].requests);
        dg_json_set_int(one, "characters", days[i].characters);
        dg_json_append_take(root, one);
    }
    if (o->json)
        print_take(root);
    free(days);
    return DG_OK;
}

static const struct verb {
    const char *name;
    int (*run)(struct dg_keys *k, const struct options *o, struct dg_error *err);
    bool takes_id, needs_id, creates, changes;
} verbs[] = {{.name = "add", add, .creates = true}, {.name = "list", list},
    {.name = "set", set, .takes_id = true, .needs_id = true, .changes = true},
    {.name = "revoke", revoke, .takes_id = true, .needs_id = true},
    {.name = "usage", show_usage, .takes_id = true}};

/* A name is shown in terminals and lists: no control characters. */
static int take_name(const char *option, const char *text, void *out, struct dg_error *err)
{
    struct dg_key *key = &((struct options *)out)->key;
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return dg_error_set(err, DG_EINVAL, "%s has a control character", option);
    if (n == 0 || n >= sizeof key->name)
        return dg_error_set(
            err, DG_EINVAL, "%s takes 1 to %zu bytes, not %zu", option, sizeof key->name - 1, n);
    memcpy(key->name, text, n + 1);
    return DG_OK;
}

static int take_scope(const char *option, const char *text, void *out, struct dg_error *err)
{
    (void)option;
    return dg_keys_scopes_read(text, &((struct options *)out)->key.scopes, err);
}

static int take_expiry(const char *option, const char *text, void *out, struct dg_error *err)
{
    int rc = dg_keys_expiry_read(
        text, (int64_t)dg_clock_wall_s(), &((struct options *)out)->key.expires_s, err);
    if (rc != DG_OK)
        dg_error_prefix(err, "%s", option);
    return rc;
}

#define AT(member) DG_FIELD_AT(struct options, member)

static const struct dg_field rows[] = {
    {"keys", DG_FIELD_STRING, AT(path), .argument = "FILE",
        .help = "file of keys (default: $DRAGOMAN_KEYS); add creates it"},
    {"name", DG_FIELD_CUSTOM, .take = take_name, .argument = "NAME",
        .help = "name of the key's owner, for lists"},
    {"scope", DG_FIELD_CUSTOM, .take = take_scope, .fallback = "translate", .argument = "SCOPES",
        .help = "translate, admin (reload models) or translate,admin"},
    {"requests_per_minute", DG_FIELD_INT, AT(key.requests_per_minute), 0, 1e9, .fallback = "0",
        .help = "maximum requests per minute; a minute's worth may come at once; 0: no limit"},
    {"characters_per_day", DG_FIELD_INT, AT(key.characters_per_day), 0, 1e15, .fallback = "0",
        .help = "maximum characters per day (UTC); 0: no limit"},
    {"expires", DG_FIELD_CUSTOM, .take = take_expiry, .fallback = "never", .argument = "WHEN",
        .help = "expiry: the last day (2027-01-31, UTC), a time (2027-01-31T12:00:00Z), a span "
                "from now (30d, 12h), or never"},
    {"days", DG_FIELD_INT, AT(days), 1, 36500, .fallback = "30",
        .help = "usage: of the last N days, including today"},
    {"json", DG_FIELD_BOOL, AT(json), .help = "print JSON"},
};

/* Fields that `set` changes: those whose options were given. */
static unsigned fields_given(const unsigned char *given)
{
    static const struct {
        const char *name;
        enum dg_key_field field;
    } names[] = {{"name", DG_KEY_NAME}, {"scope", DG_KEY_SCOPES},
        {"requests_per_minute", DG_KEY_RATE}, {"characters_per_day", DG_KEY_CHARACTERS},
        {"expires", DG_KEY_EXPIRY}};
    unsigned fields = 0;
    for (size_t i = 0; i < DG_FIELD_COUNT(rows); i++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (given[i] == DG_FROM_OPTION && strcmp(rows[i].name, names[n].name) == 0)
                fields |= names[n].field;
    return fields;
}

/* Read the words: an action and perhaps a key. Returns -1 to continue, or the exit status. */
static int read_words(char **words, int n, struct options *o, const struct verb **verb)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(words[0], verbs[i].name) == 0)
            *verb = &verbs[i];
    if (!*verb)
        return dg_command_refuse("dragoman keys",
            "unknown command \"%s\": expected add, list, set, revoke or usage", words[0]);
    if (n > 1 && !(*verb)->takes_id)
        return dg_command_refuse("dragoman keys", "unexpected \"%s\"", words[1]);
    o->id = n > 1 ? words[1] : NULL;
    if ((*verb)->needs_id && !o->id)
        return dg_command_refuse(
            "dragoman keys", "%s needs a key's ID (see dragoman keys list)", (*verb)->name);
    if ((*verb)->creates && o->key.name[0] == '\0')
        return dg_command_refuse("dragoman keys", "add needs --name, the key's owner");
    if ((*verb)->changes && o->fields == 0)
        return dg_command_refuse("dragoman keys",
            "set changes nothing without --name, --scope, --requests-per-minute, "
            "--characters-per-day or --expires");
    if (!o->path || o->path[0] == '\0')
        return dg_command_refuse("dragoman keys", "--keys FILE is needed, or $DRAGOMAN_KEYS");
    return -1;
}

int dg_cli_keys(int argc, char **argv)
{
    struct options o = {.path = getenv("DRAGOMAN_KEYS")};
    unsigned char given[DG_FIELD_COUNT(rows)] = {0};
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &o, given, NULL}};
    const struct dg_command command = {.name = "dragoman keys",
        .usage = "usage: dragoman keys add --name NAME [options]\n"
                 "       dragoman keys list [options]\n"
                 "       dragoman keys set ID [options]\n"
                 "       dragoman keys revoke ID [options]\n"
                 "       dragoman keys usage [ID] [options]\n\n"
                 "Manages the API keys of a server started with --keys FILE. A key is printed "
                 "once, when it is\n"
                 "created; the file stores its hash. A running server sees changes within two "
                 "seconds.\n",
        .groups = groups,
        .n_groups = 1,
        .min_words = 1,
        .max_words = 2,
        .words = "add, list, set, revoke or usage"};
    int n = 0;
    dg_fields_default(groups);
    const struct verb *verb = NULL;
    struct dg_keys *k = NULL;
    struct dg_error err = {0};
    int status = dg_command_read(&command, argc, argv, &n);
    o.fields = fields_given(given);
    if (status < 0)
        status = read_words(argv + 1, n, &o, &verb);
    if (status >= 0)
        return status;
    int rc = dg_keys_open(o.path, verb->creates, &k, &err);
    if (rc == DG_OK)
        rc = verb->run(k, &o, &err);
    dg_keys_close(k);
    if (rc != DG_OK) {
        err.field[0] = '\0';
        return dg_cli_fail("keys", &err);
    }
    return 0;
}
