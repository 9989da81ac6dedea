/* dragoman list, dragoman remove: the models that are installed. */
#include "base/command.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/json_line.h"
#include "translate/installed.h"
#include "convert/pull/install.h"
#include "model/params.h"
#include "weights/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_PAIRS = 6 };

struct options {
    const char *models;
    bool json;
};

#define AT(member) DG_FIELD_AT(struct options, member)

/* `remove` takes the first one alone. */
static const struct dg_field rows[] = {
    {"models", DG_FIELD_STRING, AT(models), .argument = "DIR",
        .help = "directory of models (default: the one that models are found in without "
                "--model)"},
    {"json", DG_FIELD_BOOL, AT(json), .help = "print one JSON object per model and line"},
};

static const char *text(const struct dg_json *o, const char *key)
{
    return dg_json_string(dg_json_get(o, key), NULL);
}

static void print_json(const char *name, const struct dg_bundle *b, const struct dg_config *c)
{
    const struct dg_json *m = dg_bundle_manifest(b);
    struct dg_json *o = dg_json_new_object(), *pairs = dg_json_get(m, "pairs");
    dg_json_set_string(o, "name", name);
    dg_json_set_string(o, "version", dg_bundle_version(b));
    dg_json_set_take(o, "pairs", dg_json_copy(pairs));
    dg_json_set_int(o, "parameters", (int64_t)dg_params_elements(c));
    dg_json_set_int(o, "bytes", (int64_t)dg_weights_bytes(dg_bundle_weights(b)));
    if (text(m, "licence"))
        dg_json_set_string(o, "licence", text(m, "licence"));
    if (dg_json_get(m, "origin"))
        dg_json_set_take(o, "origin", dg_json_copy(dg_json_get(m, "origin")));
    dg_json_line_write(o, false, NULL);
}

static void print_line(const char *name, const struct dg_bundle *b)
{
    const struct dg_json *m = dg_bundle_manifest(b);
    const char *source, *target, *from = text(dg_json_get(m, "origin"), "source");
    char origin[400];
    dg_error_plain(from ? from : "not from pull", origin, sizeof origin);
    const size_t n = dg_bundle_pairs(b);
    printf("%-28s %7.1f MB ", name, (double)dg_weights_bytes(dg_bundle_weights(b)) / 1e6);
    for (size_t i = 0; i < n && i < SHOWN_PAIRS; i++) {
        dg_bundle_pair(b, i, &source, &target);
        printf(" %s-%s", source, target);
    }
    if (n > SHOWN_PAIRS)
        printf(" and %zu more", n - SHOWN_PAIRS);
    printf("; %s; licence: %s\n", origin, text(m, "licence") ? text(m, "licence") : "not stated");
}

/* A bundle that cannot be read is reported; the others are still listed. */
static int show(const struct options *o, const char *name, const char *dir)
{
    struct dg_bundle *b = NULL;
    struct dg_config c;
    struct dg_error err = {0};
    int rc = dg_bundle_open(dir, &b, &err);
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(b), &c, &err);
    if (rc) {
        dg_error_prefix(&err, "%.200s", dir);
        dg_cli_fail("list", &err);
    } else if (o->json)
        print_json(name, b, &c);
    else
        print_line(name, b);
    dg_bundle_close(b);
    return rc ? 1 : 0;
}

int dg_cli_list(int argc, char **argv)
{
    struct options o = {NULL, false};
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &o, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman list",
        .usage = "usage: dragoman list [options]\n\n"
                 "Lists installed models.\n",
        .groups = groups,
        .n_groups = 1};
    char where[4096], dir[4400];
    struct dirent **entries = NULL;
    int n = 0, status = dg_command_read(&command, argc, argv, &n);
    if (status >= 0)
        return status;
    o.models = o.models ? o.models : dg_installed_models(where, sizeof where);
    if (dg_installed_is_bundle(o.models)) {
        const char *slash = strrchr(o.models, '/');
        return show(&o, slash && slash[1] ? slash + 1 : o.models, o.models);
    }
    const int found = scandir(o.models, &entries, NULL, alphasort);
    if (found < 0) {
        struct dg_error err = {0};
        dg_error_set(&err, DG_EIO, "%.300s: %s", o.models, strerror(errno));
        return dg_cli_fail("list", &err);
    }
    status = 0;
    for (int i = 0; i < found; i++) {
        snprintf(dir, sizeof dir, "%.4100s/%s", o.models, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && dg_installed_is_bundle(dir))
            status |= show(&o, entries[i]->d_name, dir);
        free(entries[i]);
    }
    free(entries);
    return status;
}

int dg_cli_remove(int argc, char **argv)
{
    struct options o = {NULL, false};
    struct dg_error err = {0};
    const struct dg_fields groups[] = {{rows, 1, &o, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman remove",
        .usage = "usage: dragoman remove NAME... [options]\n\n"
                 "Removes models that `dragoman pull` installed.\n",
        .groups = groups,
        .n_groups = 1,
        .min_words = 1,
        .max_words = -1,
        .words = "at least one model's name"};
    char where[4096];
    int n = 0, status = dg_command_read(&command, argc, argv, &n), rc = 0;
    if (status >= 0)
        return status;
    o.models = o.models ? o.models : dg_installed_models(where, sizeof where);
    for (int i = 1; i <= n && !rc; i++) {
        rc = dg_install_remove(o.models, argv[i], &err);
        if (!rc)
            printf("removed %s/%s\n", o.models, argv[i]);
    }
    return rc ? dg_cli_fail("remove", &err) : 0;
}
