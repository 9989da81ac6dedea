/* dragoman seal: changes settings in a bundle's manifest, checks it, and updates its version. */
#include "base/command.h"
#include "cli/cli.h"
#include "model/config.h"
#include "translate/installed.h"
#include "translate/translator/pair_search.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct dg_field rows[] = {
    {"set", DG_FIELD_LIST, 0, sizeof(struct dg_field_list), 0, 32, .argument = "KEY=VALUE",
        .help = "name, description, licence, capitals (as_words or as_written), answers (text "
                "or trees), alignment_layer, alignment_head, decoding.beam_size, "
                "decoding.length_penalty, decoding.extra_length, decoding.max_source_tokens, "
                "decoding.low_confidence, decoding.never, rare, "
                "pair_decoding.en-de.length_penalty or pair_decoding.en-de.length_penalty_cap "
                "(of any pair); without a value, the setting is removed; may be repeated"},
};

enum { DG_SETTING_NAME = 128 };

struct setting {
    const char *section, *key;
    /* A former name, or NULL. */
    const char *old;
    bool text;
};

static const struct setting *find(const char *section, const char *key)
{
    static const struct setting list[] = {{"", "name", NULL, true}, {"", "description", NULL, true},
        {"", "licence", NULL, true}, {"", "capitals", NULL, true}, {"", "answers", NULL, true},
        {"", "rare", NULL, true}, {"pair_decoding", "length_penalty", NULL, false},
        {"pair_decoding", "length_penalty_cap", NULL, false}, {"", "alignment_layer", NULL, false},
        {"", "alignment_head", NULL, false}, {"decoding", "beam_size", "beam", false},
        {"decoding", "length_penalty", "alpha", false}, {"decoding", "extra_length", NULL, false},
        {"decoding", "low_confidence", NULL, false}, {"decoding", "max_source_tokens", NULL, false},
        {"decoding", "never", NULL, false}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (!strcmp(list[i].section, section) &&
            (!strcmp(list[i].key, key) || (list[i].old && !strcmp(list[i].old, key))))
            return &list[i];
    return NULL;
}

/* Parse a setting's value. Text that is not the number it should be becomes a string, and the check
 * of the manifest refuses it. NULL: out of memory. */
static struct dg_json *value_of(const struct setting *s, const char *text)
{
    struct dg_error ignored = {0};
    struct dg_json *v = s->text ? NULL : dg_json_parse(text, strlen(text), &ignored);
    return v || ignored.code == DG_ENOMEM ? v : dg_json_new_string(text, strlen(text));
}

/* Set `key` to o, or remove it if o has no members. Takes o. */
static void put_object(struct dg_json *in, const char *key, struct dg_json *o)
{
    if (dg_json_length(o) > 0) {
        dg_json_set_take(in, key, o);
        return;
    }
    dg_json_remove(in, key);
    dg_json_free(o);
}

/* A copy of the object with the setting's key changed, owned by the caller. Takes value; NULL
 * removes the key. */
static struct dg_json *changed(
    const struct dg_json *o, const struct setting *s, struct dg_json *value)
{
    struct dg_json *copy = o ? dg_json_copy(o) : dg_json_new_object();
    if (s->old)
        dg_json_remove(copy, s->old);
    if (value)
        dg_json_set_take(copy, s->key, value);
    else
        dg_json_remove(copy, s->key);
    return copy;
}

/* The parts of section.key=value, or for pair_decoding of section.pair.key=value. */
struct where {
    char name[DG_SETTING_NAME];
    const char *section, *pair, *key;
};

static int split(const char *setting, size_t n, struct where *w, struct dg_error *err)
{
    if (!setting[n] || n >= sizeof w->name)
        return dg_error_set(err, DG_EINVAL, "--set takes KEY=VALUE, not \"%.60s\"", setting);
    memcpy(w->name, setting, n);
    w->name[n] = '\0';
    char *first = strchr(w->name, '.'), *last = strrchr(w->name, '.');
    w->section = first ? w->name : "";
    w->key = last ? last + 1 : w->name;
    w->pair = first && first != last ? first + 1 : NULL;
    if (first)
        *first = *last = '\0';
    return 0;
}

static int set(struct dg_json **manifest, const char *setting, struct dg_error *err)
{
    struct where w;
    const size_t n = strcspn(setting, "=");
    int rc = split(setting, n, &w, err);
    if (rc)
        return rc;
    const struct setting *s = find(w.section, w.key);
    if (!s || (w.pair != NULL) != !strcmp(s->section, "pair_decoding"))
        return dg_error_set(
            err, DG_EINVAL, "--set knows no %.*s; see dragoman seal --help", (int)n, setting);
    struct dg_json *value = setting[n + 1] ? value_of(s, setting + n + 1) : NULL;
    if (setting[n + 1] && !value)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s", setting);
    const struct dg_json *section = dg_json_get(*manifest, w.section);
    struct dg_json *after;
    if (w.pair) {
        struct dg_json *pairs = section ? dg_json_copy(section) : dg_json_new_object();
        put_object(pairs, w.pair, changed(dg_json_get(section, w.pair), s, value));
        after = dg_json_copy(*manifest);
        put_object(after, w.section, pairs);
    } else if (w.section[0]) {
        after = dg_json_copy(*manifest);
        dg_json_set_take(after, w.section, changed(section, s, value));
    } else {
        after = changed(*manifest, s, value);
    }
    dg_json_free(*manifest);
    *manifest = after;
    return 0;
}

static int seal(const char *name, const char *const *settings, size_t n, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    struct dg_config config;
    struct dg_pair_search *ignored = NULL;
    char dir[4400];
    int rc = dg_installed_named(name, dir, sizeof dir, err);
    if (!rc)
        rc = dg_bundle_open(dir, &b, err);
    if (rc)
        return rc;
    dg_json_begin();
    struct dg_json *manifest = dg_json_copy(dg_bundle_manifest(b));
    for (size_t i = 0; i < n && !rc; i++)
        rc = set(&manifest, settings[i], err);
    if (!rc && (!manifest || dg_json_lost())) /* a part may be missing */
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    if (!rc)
        rc = dg_config_read(manifest, &config, err);
    if (!rc)
        rc = dg_pair_search_read(b, manifest, &ignored, err);
    if (!rc)
        rc = dg_bundle_seal(dir, manifest, err);
    if (!rc)
        printf("%s\n", dg_json_string(dg_json_get(manifest, "version"), NULL));
    free(ignored);
    dg_json_free(manifest);
    dg_bundle_close(b);
    return rc;
}

int dg_cli_seal(int argc, char **argv)
{
    struct dg_field_list settings = {.n = 0};
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &settings, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman seal",
        .usage =
            "usage: dragoman seal BUNDLE [--set KEY=VALUE]...\n\n"
            "Changes settings in a bundle's manifest and updates its version, also after an edit "
            "by hand.\n"
            "BUNDLE is a bundle's directory, or the name of an installed one.\n",
        .groups = groups,
        .n_groups = 1,
        .min_words = 1,
        .max_words = 1,
        .words = "one bundle"};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    struct dg_error err = {0};
    int rc = seal(argv[1], settings.items, settings.n, &err);
    return rc ? dg_cli_fail("seal", &err) : 0;
}
