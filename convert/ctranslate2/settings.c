#include "convert/ctranslate2/settings.h"

#include <inttypes.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

enum { FIRST_WITH_CONFIG = 6 };

/* Variables that are texts, and their defaults. config.json has the same names. */
static const struct {
    const char *name, *otherwise;
} texts[] = {{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};

enum flag { SOURCE_BOS, SOURCE_EOS, TARGET_BOS, USER_START, FLAGS };

static const struct {
    const char *name;
    bool otherwise;
} flags[FLAGS] = {[SOURCE_BOS] = {"with_source_bos", false},
    [SOURCE_EOS] = {"with_source_eos", false},
    [TARGET_BOS] = {"with_target_bos", true},
    [USER_START] = {"user_decoder_start_tokens", false}};

static int read_text(
    const struct dg_ct2 *m, size_t i, struct dg_json *settings, struct dg_error *err)
{
    const char *name = texts[i].name;
    const struct dg_ct2_variable *v = dg_ct2_find(m, name);
    if (v && v->type != DG_CT2_S8)
        return WRONG(name, "variable %s is not text, expected int8 elements", name);
    struct dg_json *text = v ? dg_json_new_string((const char *)v->data, v->count)
                             : dg_json_new_string(texts[i].otherwise, strlen(texts[i].otherwise));
    return dg_json_set_take(settings, name, text)
               ? WRONG(name, "variable %s is not UTF-8, or there is no memory for it", name)
               : 0;
}

static int read_flag(const struct dg_ct2 *m, enum flag i, bool *out, struct dg_error *err)
{
    const char *name = flags[i].name;
    const struct dg_ct2_variable *v = dg_ct2_find(m, name);
    float value = flags[i].otherwise;
    if (v && v->count != 1)
        return WRONG(name, "variable %s has %" PRIu64 " elements, expected one", name, v->count);
    if (v)
        dg_ct2_read(v, &value);
    *out = value != 0;
    return 0;
}

static int read_variables(const struct dg_ct2 *m, struct dg_json *settings, struct dg_error *err)
{
    bool is[FLAGS] = {false};
    int rc = 0;
    for (size_t i = 0; i < COUNT(texts) && !rc; i++)
        rc = read_text(m, i, settings, err);
    for (enum flag i = 0; i < FLAGS && !rc; i++)
        rc = read_flag(m, i, &is[i], err);
    if (rc)
        return rc;
    const struct dg_json *start = dg_json_get(settings, is[TARGET_BOS] ? "bos_token" : "eos_token");
    int bad = dg_json_set_bool(settings, "add_source_bos", is[SOURCE_BOS]);
    bad |= dg_json_set_bool(settings, "add_source_eos", is[SOURCE_EOS]);
    bad |= dg_json_set_take(
        settings, "decoder_start_token", is[USER_START] ? dg_json_new_null() : dg_json_copy(start));
    return bad ? dg_error_set(err, DG_ENOMEM, "no memory for a model's settings") : 0;
}

int dg_ct2_settings_read(
    const char *dir, const struct dg_ct2 *m, struct dg_json **out, struct dg_error *err)
{
    const bool older = dg_ct2_version(m) < FIRST_WITH_CONFIG;
    struct dg_json *settings = NULL;
    int rc = dg_input_json(dir, "config.json", !older, &settings, err);
    if (!rc && !settings && !(settings = dg_json_new_object()))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a model's settings");
    if (!rc && older)
        rc = read_variables(m, settings, err);
    if (rc)
        dg_json_free(settings);
    else
        *out = settings;
    return rc;
}

bool dg_ct2_is_setting(const char *name)
{
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strcmp(texts[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < COUNT(flags); i++)
        if (strcmp(flags[i].name, name) == 0)
            return true;
    return false;
}
