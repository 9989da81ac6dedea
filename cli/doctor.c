/* dragoman doctor: would a server run well here? What is wrong, and what to do about it. */
#include "cli/doctor.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/command.h"
#include "base/options.h"
#include "cli/cli.h"
#include "cli/json_line.h"
#include "store/keys.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const level_names[] = {"ok", "warn", "fail"};

void dg_doctor_say(struct dg_doctor *d, enum dg_finding_level level, const char *subject,
    const char *advice, const char *format, ...)
{
    d->list = dg_alloc_grow(d->list, d->n + 1, &d->cap, sizeof *d->list, "findings");
    struct dg_finding *f = &d->list[d->n++];
    va_list ap;
    f->level = level;
    f->advice = advice;
    snprintf(f->subject, sizeof f->subject, "%s", subject);
    va_start(ap, format);
    vsnprintf(f->message, sizeof f->message, format, ap);
    va_end(ap);
    dg_error_plain(f->message, f->message, sizeof f->message);
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
        "Ready to serve.", "Will serve; see the warnings.", "Will not serve: fix the failures."};
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
    return dg_json_line_write(root, false, NULL);
}

#define AT(member) DG_FIELD_AT(struct dg_doctor, member)

/* Settings of the server under their own names; read from the environment, too. */
static const struct dg_field rows[] = {
    {"models", DG_FIELD_STRING, AT(models), .argument = "DIR",
        .help = "a bundle, or a directory of bundles (default: $DRAGOMAN_MODELS, else "
                "weights/bundles, else ../share/dragoman/bundles from this program, else "
                "/usr/share/dragoman/bundles)"},
    {"host", DG_FIELD_STRING, AT(host), .fallback = "127.0.0.1", .argument = "ADDRESS",
        .help = "address of the server (default: $DRAGOMAN_HOST)"},
    {"port", DG_FIELD_INT, AT(port), 0, 65535, .fallback = "8080",
        .help = "its port (default: $DRAGOMAN_PORT)"},
    {"max_connections", DG_FIELD_INT, AT(connections), 1, 1000000, .fallback = "4096",
        .old = "connections",
        .help = "its maximum of open connections (default: $DRAGOMAN_MAX_CONNECTIONS)"},
    {"keys", DG_FIELD_STRING, AT(keys), .argument = "FILE",
        .help = "its file of API keys, if it has one (default: $DRAGOMAN_KEYS)"},
};

static const struct dg_field json_row[] = {
    {"json", DG_FIELD_BOOL, 0, sizeof(bool), .help = "print the findings as one JSON object"}};

/* Read the environment, then the options, which override it. Returns -1, or an exit status. */
static int read_options(int argc, char **argv, struct dg_doctor *d, bool *json)
{
    struct dg_error err = {0};
    unsigned char given[DG_FIELD_COUNT(rows)];
    const struct dg_fields groups[] = {
        {rows, DG_FIELD_COUNT(rows), d, given, NULL}, {json_row, 1, json, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman doctor",
        .usage = "usage: dragoman doctor [--models DIR] [options]\n\n"
                 "Checks the machine, limits, port, API keys and models that a server would use. "
                 "Changes nothing.\n"
                 "The exit status is 0 if a server can run, and 1 if something must be repaired "
                 "first. All settings\n"
                 "of a server are checked by dragoman-server --check-config.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups)};
    dg_fields_default(groups);
    if (dg_fields_from_environment(groups, getenv, &err))
        return dg_command_refuse("dragoman doctor", "%s", err.message);
    const int status = dg_command_read(&command, argc, argv, NULL);
    d->connections_given = given[dg_fields_find(groups, "max_connections")] != DG_FROM_DEFAULT;
    return status;
}

/* Names the server's settings in the environment that no other finding is about. */
static void look_at_settings(struct dg_doctor *d)
{
    static const char *const looked_at[] = {"DRAGOMAN_ISA", "DRAGOMAN_DEVICE", "DRAGOMAN_PRECISION",
        "DRAGOMAN_CUDA_PLUGIN", "DRAGOMAN_SHORTLIST", "DRAGOMAN_DEBUG", NULL};
    const struct dg_fields t = {rows, DG_FIELD_COUNT(rows), NULL, NULL, NULL};
    struct dg_buffer names;
    dg_buffer_init(&names);
    dg_options_unknown_variables(&t, 1, looked_at, environ, &names);
    if (names.data && !names.failed)
        dg_doctor_say(d, DG_FINDING_OK, "settings",
            "check them with dragoman-server --check-config", "not checked here: %s", names.data);
    dg_buffer_deinit(&names);
}

static void look_at_keys(struct dg_doctor *d)
{
    struct dg_keys *keys = NULL;
    struct dg_key *list = NULL;
    struct dg_error err = {0};
    size_t n = 0, valid = 0;
    bool older = false;
    if (!d->keys)
        return;
    int rc = dg_keys_check(d->keys, &older, &err);
    if (rc == DG_OK && older) {
        dg_doctor_say(d, DG_FINDING_OK, "keys", NULL,
            "a file of an earlier version; the server upgrades it when it starts");
        return;
    }
    if (rc == DG_OK)
        rc = dg_keys_open(d->keys, false, &keys, &err);
    if (rc == DG_OK)
        rc = dg_keys_use(keys, &(struct dg_key_usage){0}, 1, &err); /* no usage: tests writing */
    if (rc == DG_OK)
        rc = dg_keys_list(keys, &list, &n, &err);
    for (size_t i = 0; i < n; i++)
        valid += list[i].revoked_s == 0 &&
                 (list[i].expires_s == 0 || (double)list[i].expires_s > dg_clock_wall_s());
    if (rc != DG_OK)
        dg_doctor_say(d, DG_FINDING_FAIL, "keys",
            rc == DG_EFORMAT
                ? "put back a copy of it (mv), or make another (dragoman keys add)"
                : "make the file (dragoman keys add), or let the server's user write it and its folder",
            "%s", err.message);
    else
        dg_doctor_say(d, valid > 0 ? DG_FINDING_OK : DG_FINDING_WARN, "keys",
            valid > 0 ? NULL : "no one can translate: add a key with dragoman keys add",
            "%zu of %zu keys valid", valid, n);
    free(list);
    dg_keys_close(keys);
}

int dg_cli_doctor(int argc, char **argv)
{
    struct dg_doctor d = {0};
    bool json = false;
    int status = read_options(argc, argv, &d, &json);
    if (status >= 0)
        return status;
    dg_doctor_machine(&d);
    dg_doctor_port(&d);
    look_at_settings(&d);
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
