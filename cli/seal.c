/* dragoman seal: a bundle's manifest with other settings, checked, under its new version. */
#include "base/command.h"
#include "cli/cli.h"
#include "model/config.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <string.h>

static const struct dg_field rows[] = {
    {"set", DG_FIELD_LIST, 0, sizeof(struct dg_field_list), 0, 32, .argument = "KEY=VALUE",
        .help = "name, description, licence, capitals (as_words or as_written), answers (text or "
                "trees), alignment_layer, "
                "alignment_head, decoding.beam_size, decoding.length_penalty, "
                "decoding.extra_length, decoding.max_source_tokens, decoding.low_confidence or "
                "decoding.never; without a value it is left out again; may be repeated"},
};

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
        {"", "alignment_layer", NULL, false}, {"", "alignment_head", NULL, false},
        {"decoding", "beam_size", "beam", false}, {"decoding", "length_penalty", "alpha", false},
        {"decoding", "extra_length", NULL, false}, {"decoding", "low_confidence", NULL, false},
        {"decoding", "max_source_tokens", NULL, false}, {"decoding", "never", NULL, false}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (!strcmp(list[i].section, section) &&
            (!strcmp(list[i].key, key) || (list[i].old && !strcmp(list[i].old, key))))
            return &list[i];
    return NULL;
}

/* Text that is not the number it should be is refused with the manifest. */
static struct dg_json *value_of(const struct setting *s, const char *text)
{
    struct dg_error ignored = {0};
    struct dg_json *v = s->text ? NULL : dg_json_parse(text, strlen(text), &ignored);
    return v ? v : dg_json_new_string(text, strlen(text));
}

/* The object with that key changed, which the caller owns. */
static struct dg_json *changed(const struct dg_json *o, const struct setting *s, const char *value)
{
    struct dg_json *copy = o ? dg_json_copy(o) : dg_json_new_object();
    if (s->old)
        dg_json_remove(copy, s->old);
    if (!value[0])
        dg_json_remove(copy, s->key);
    else
        dg_json_set_take(copy, s->key, value_of(s, value));
    return copy;
}

static int set(struct dg_json **manifest, const char *setting, struct dg_error *err)
{
    char name[64];
    size_t n = strcspn(setting, "=");
    if (!setting[n] || n >= sizeof name)
        return dg_error_set(err, DG_EINVAL, "--set takes KEY=VALUE, not \"%.60s\"", setting);
    memcpy(name, setting, n);
    name[n] = '\0';
    char *dot = strchr(name, '.');
    if (dot)
        *dot = '\0';
    const char *value = setting + n + 1;
    const struct setting *s = find(dot ? name : "", dot ? dot + 1 : name);
    if (!s)
        return dg_error_set(
            err, DG_EINVAL, "--set knows no %.*s; see dragoman seal --help", (int)n, setting);
    struct dg_json *after = dot ? dg_json_copy(*manifest) : changed(*manifest, s, value);
    if (dot)
        dg_json_set_take(after, s->section, changed(dg_json_get(*manifest, s->section), s, value));
    dg_json_free(*manifest);
    *manifest = after;
    return 0;
}

static int seal(const char *dir, const char *const *settings, size_t n, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    struct dg_config config;
    int rc = dg_bundle_open(dir, &b, err);
    if (rc)
        return rc;
    struct dg_json *manifest = dg_json_copy(dg_bundle_manifest(b));
    for (size_t i = 0; i < n && !rc; i++)
        rc = set(&manifest, settings[i], err);
    if (!rc)
        rc = dg_config_read(manifest, &config, err);
    if (!rc)
        rc = dg_bundle_seal(dir, manifest, err);
    if (!rc)
        printf("%s\n", dg_json_string(dg_json_get(manifest, "version"), NULL));
    dg_json_free(manifest);
    dg_bundle_close(b);
    return rc;
}

int dg_cli_seal(int argc, char **argv)
{
    struct dg_field_list settings = {.n = 0};
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &settings, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman seal",
        .usage = "usage: dragoman seal BUNDLE [--set KEY=VALUE]...\n",
        .after = "Checks the manifest and writes the version it has then. Without --set: after it "
                 "was edited by hand.\n",
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
