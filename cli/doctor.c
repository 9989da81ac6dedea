/* dragoman doctor: would a server run well here? What is wrong, and what to do about it. */
#include "cli/doctor.h"

#include "base/json.h"
#include "cli/cli.h"
#include "store/keys.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: dragoman doctor [--models DIR] [options]\n\n"
    "Looks at what a server would find: machine, limits, port, models. Changes nothing. Exit "
    "status\n"
    "0 when a server would run, 1 when something has to be repaired first.\n\n"
    "  --models DIR         a bundle, or a directory of bundles (default: $DRAGOMAN_MODELS, else\n"
    "                       weights/bundles, else ../share/dragoman/bundles from this program,\n"
    "                       else /usr/share/dragoman/bundles)\n"
    "  --host ADDRESS       address of the server ($DRAGOMAN_HOST, else 127.0.0.1)\n"
    "  --port N             its port ($DRAGOMAN_PORT, else 8080)\n"
    "  --connections N      how many it is to hold ($DRAGOMAN_MAX_CONNECTIONS, else 4096)\n"
    "  --keys FILE          its file of API keys ($DRAGOMAN_KEYS), if it has one\n"
    "  --json               the findings as one JSON object\n"
    "  --help               this text\n";

static const char *const level_names[] = {"ok", "warn", "fail"};

void dg_doctor_say(struct dg_doctor *d, enum dg_finding_level level, const char *subject,
    const char *advice, const char *format, ...)
{
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 16;
        d->list = realloc(d->list, d->cap * sizeof *d->list);
        if (!d->list) {
            fprintf(stderr, "dragoman doctor: no memory for a finding\n");
            exit(1);
        }
    }
    struct dg_finding *f = &d->list[d->n++];
    va_list ap;
    f->level = level;
    f->advice = advice;
    snprintf(f->subject, sizeof f->subject, "%s", subject);
    va_start(ap, format);
    vsnprintf(f->message, sizeof f->message, format, ap);
    va_end(ap);
    dg_error_trim_utf8(f->message);
}

static enum dg_finding_level worst(const struct dg_doctor *d)
{
    enum dg_finding_level level = DG_FINDING_OK;
    for (size_t i = 0; i < d->n; i++)
        level = d->list[i].level > level ? d->list[i].level : level;
    return level;
}

static void print_text(const struct dg_doctor *d)
{
    static const char *const summary[] = {
        "Ready to serve.", "Will serve; see the warnings.", "Will not serve: repair what failed."};
    for (size_t i = 0; i < d->n; i++) {
        const struct dg_finding *f = &d->list[i];
        printf("%-4s  %-16s %s\n", level_names[f->level], f->subject, f->message);
        if (f->advice)
            printf("      %-16s -> %s\n", "", f->advice);
    }
    printf("%s\n", summary[worst(d)]);
}

static int print_json(const struct dg_doctor *d)
{
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    struct dg_buffer b;
    for (size_t i = 0; i < d->n; i++) {
        const struct dg_finding *f = &d->list[i];
        struct dg_json *o = dg_json_new_object();
        dg_json_set_string(o, "level", level_names[f->level]);
        dg_json_set_string(o, "subject", f->subject);
        dg_json_set_string(o, "message", f->message);
        if (f->advice)
            dg_json_set_string(o, "advice", f->advice);
        dg_json_append_take(list, o);
    }
    dg_json_set_string(root, "result", level_names[worst(d)]);
    dg_json_set_take(root, "findings", list);
    dg_buffer_init(&b);
    int rc = dg_json_write(root, 0, &b);
    if (rc == DG_OK && !b.failed)
        printf("%s\n", b.data);
    else
        rc = DG_ENOMEM;
    dg_buffer_deinit(&b);
    dg_json_free(root);
    return rc;
}

static const char *from_environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && value[0] ? value : otherwise;
}

/* Options and, for what they leave open, the environment. 0, or an exit status + 1. */
static int read_options(int argc, char **argv, struct dg_doctor *d, bool *json)
{
    static const struct option options[] = {{"models", 1, NULL, 'm'}, {"host", 1, NULL, 'a'},
        {"port", 1, NULL, 'p'}, {"connections", 1, NULL, 'c'}, {"keys", 1, NULL, 'k'},
        {"json", 0, NULL, 'j'}, {"help", 0, NULL, 'h'}, {0}};
    struct dg_error err = {0};
    const char *port = from_environment("DRAGOMAN_PORT", "8080");
    const char *connections = from_environment("DRAGOMAN_MAX_CONNECTIONS", "4096");
    int64_t n = 0;
    d->models = from_environment("DRAGOMAN_MODELS", NULL);
    d->keys = from_environment("DRAGOMAN_KEYS", NULL);
    d->host = from_environment("DRAGOMAN_HOST", "127.0.0.1");
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case 'm': d->models = optarg; break;
        case 'a': d->host = optarg; break;
        case 'p': port = optarg; break;
        case 'c': connections = optarg; break;
        case 'k': d->keys = optarg; break;
        case 'j': *json = true; break;
        case 'h': fputs(usage, stdout); return 1;
        default: return 3;
        }
    }
    if (optind < argc)
        return dg_cli_usage("doctor", "unexpected \"%s\"", argv[optind]) + 1;
    if (dg_cli_int("--port", port, 0, 65535, &n, &err) ||
        dg_cli_int("--connections", connections, 1, 1000000, &d->connections, &err))
        return dg_cli_usage("doctor", "%s", err.message) + 1;
    d->port = (uint16_t)n;
    return 0;
}

static void look_at_keys(struct dg_doctor *d)
{
    struct dg_keys *keys = NULL;
    struct dg_key *list = NULL;
    struct dg_error err = {0};
    size_t n = 0, valid = 0;
    if (!d->keys)
        return;
    int rc = dg_keys_open(d->keys, false, &keys, &err);
    if (rc == DG_OK)
        rc = dg_keys_use(keys, &(struct dg_key_usage){0}, 1, &err); /* for nobody: can it write? */
    if (rc == DG_OK)
        rc = dg_keys_list(keys, &list, &n, &err);
    for (size_t i = 0; i < n; i++)
        valid += list[i].revoked_s == 0;
    if (rc != DG_OK)
        dg_doctor_say(d, DG_FINDING_FAIL, "keys",
            "make the file (dragoman keys add), or let the server's user write it and its folder",
            "%s", err.message);
    else
        dg_doctor_say(d, valid > 0 ? DG_FINDING_OK : DG_FINDING_WARN, "keys",
            valid > 0 ? NULL : "nobody can translate: dragoman keys add", "%zu of %zu keys valid",
            valid, n);
    free(list);
    dg_keys_close(keys);
}

int dg_cli_doctor(int argc, char **argv)
{
    struct dg_doctor d = {0};
    bool json = false;
    int status = read_options(argc, argv, &d, &json);
    if (status)
        return status - 1;
    dg_doctor_machine(&d);
    dg_doctor_port(&d);
    look_at_keys(&d);
    dg_doctor_models(&d);
    if (!json)
        print_text(&d);
    else if (print_json(&d))
        fprintf(stderr, "dragoman doctor: no memory for the answer\n");
    status = worst(&d) == DG_FINDING_FAIL ? 1 : 0;
    free(d.list);
    return status;
}
