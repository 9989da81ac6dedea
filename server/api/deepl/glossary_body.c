#include "server/api/deepl/glossary_body.h"

#include "server/api/deepl/deepl.h"
#include "server/api/entries.h"
#include "server/api/parameters.h"
#include "server/models/models.h"

#include <stdio.h>
#include <string.h>

#define FORM "application/x-www-form-urlencoded"

static const char *const fields[] = {
    "name", "source_lang", "target_lang", "entries", "entries_format", NULL};

/* True if the pair has its own model, so that a glossary can be used. */
static bool has_model(struct dg_models *m, const char *source, const char *target)
{
    struct dg_way way;
    if (dg_models_way(m, source, target, false, &way, NULL) != DG_OK)
        return false;
    const bool direct = way.n == 1 && !way.same;
    dg_way_release(&way);
    return direct;
}

static bool has_dictionary(
    const struct dg_deepl_glossary_body *b, const char *source, const char *target)
{
    for (size_t i = 0; i < b->n_existing; i++)
        if (!strcmp(b->existing[i].source_lang, source) &&
            !strcmp(b->existing[i].target_lang, target))
            return true;
    return false;
}

/* Replaces this server's codes by the requested ones where the glossary has such a dictionary: it
 * may have "de-AT" beside "de". */
static void keep_codes(const struct dg_deepl_glossary_body *b, const char *const asked[2],
    char languages[2][DG_LANGUAGE_MAX])
{
    char own[2][DG_LANGUAGE_MAX];
    for (size_t i = 0; i < 2; i++)
        if (dg_memory_language(asked[i], own[i], NULL) != DG_OK)
            memcpy(own[i], languages[i], sizeof own[i]);
    /* both requested codes, one of them, none */
    for (int served = 0; served < 4; served++) {
        const char *source = served & 1 ? languages[0] : own[0];
        const char *target = served & 2 ? languages[1] : own[1];
        if (!has_dictionary(b, source, target))
            continue;
        memmove(languages[0], source, strlen(source) + 1);
        memmove(languages[1], target, strlen(target) + 1);
        return;
    }
}

/* Reads a dictionary's languages. */
static int read_languages(struct dg_models *m, const struct dg_json *o,
    const struct dg_deepl_glossary_body *b, char languages[2][DG_LANGUAGE_MAX],
    struct dg_error *err)
{
    static const char *const keys[] = {"source_lang", "target_lang"};
    const char *asked[2];
    for (size_t i = 0; i < 2; i++) {
        asked[i] = dg_parameter_string(o, keys[i]);
        if (!asked[i] || !dg_models_nearest(m, asked[i], i ? DG_TARGETS : DG_SOURCES, languages[i]))
            return dg_deepl_not_supported(keys[i], err);
    }
    keep_codes(b, asked, languages);
    if (!has_model(m, languages[0], languages[1]))
        return dg_error_field(err, DG_EINVAL, "target_lang",
            "Unsupported glossary source and target language pair: value for 'target_lang' not "
            "supported.");
    return DG_OK;
}

static int read_dictionary(const struct dg_side *s, const struct dg_json *o,
    struct dg_deepl_glossary_body *b, struct dg_error *err)
{
    char languages[2][DG_LANGUAGE_MAX];
    struct dg_error why = {0};
    int rc = read_languages(s->app->models, o, b, languages, err);
    if (rc != DG_OK)
        return rc;
    const struct dg_entries e = {.source = languages[0],
        .target = languages[1],
        .format = dg_parameter_string(o, "entries_format"),
        .entries = dg_parameter(o, "entries"),
        .where = "entries"};
    if (e.format && strcmp(e.format, "tsv") != 0 && strcmp(e.format, "csv") != 0)
        return dg_deepl_not_supported("entries_format", err);
    if (!dg_json_string(e.entries, NULL))
        return dg_error_field(err, DG_EINVAL, "entries", "Parameter 'entries' not specified");
    rc = dg_entries_read(&e, &b->pairs, &why);
    return rc == DG_OK ? rc
                       : dg_error_field(err, rc, "entries",
                             "Invalid glossary entries provided: %.400s", why.message);
}

static int read_dictionaries(
    const struct dg_side *s, struct dg_deepl_glossary_body *b, bool must, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(b->json, "dictionaries");
    const size_t n = dg_json_length(list);
    int rc = DG_OK;
    if (dg_json_typeof(list) != DG_JSON_NULL && dg_json_typeof(list) != DG_JSON_ARRAY)
        return dg_deepl_not_supported("dictionaries", err);
    if (n == 0 && must)
        return dg_error_field(
            err, DG_EINVAL, "dictionaries", "Parameter 'dictionaries' not specified");
    if (n > DG_MEMORY_DICTIONARIES)
        return dg_error_field(err, DG_ELIMIT, "dictionaries",
            "there are %zu dictionaries, the limit is %d", n, DG_MEMORY_DICTIONARIES);
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        const struct dg_json *o = dg_json_at(list, i);
        rc = dg_json_typeof(o) == DG_JSON_OBJECT &&
                     !dg_parameters_check_strings(o, false, fields, err)
                 ? read_dictionary(s, o, b, err)
                 : dg_deepl_not_supported("dictionaries", err);
    }
    return rc;
}

static int read_name(struct dg_deepl_glossary_body *b, bool must, struct dg_error *err)
{
    const struct dg_json *v = dg_parameter(b->json, "name");
    size_t n = 0;
    b->name = dg_json_string(v, &n);
    if (must && (!b->name || n == 0))
        return dg_error_field(err, DG_EINVAL, "name", "Parameter 'name' not specified");
    if (b->name && (n == 0 || n >= DG_MEMORY_NAME || strlen(b->name) != n))
        return dg_error_field(err, DG_EINVAL, "name",
            "Value for 'name' not supported: 1 to %d bytes, without U+0000.", DG_MEMORY_NAME - 1);
    return DG_OK;
}

/* Dictionary i of a form, whose keys are as DeepL's clients write them: "dictionaries[0].entries".
 * *out: NULL if there is none. False: no memory. */
static bool take_dictionary(const struct dg_json *form, size_t i, struct dg_json **out)
{
    bool taken = true;
    char key[64];
    *out = NULL;
    for (size_t k = 0; fields[k]; k++) {
        snprintf(key, sizeof key, "dictionaries[%zu].%s", i, fields[k]);
        const struct dg_json *v = dg_parameter(form, key);
        if (!v)
            continue;
        if (!*out)
            *out = dg_json_new_object();
        taken = dg_json_set_take(*out, fields[k], dg_json_copy(v)) == 0 && taken;
    }
    return taken;
}

/* Adds a form's dictionaries as the array that a JSON body has; one more than the limit is enough
 * to be refused. False: no memory. */
static bool gather_dictionaries(struct dg_json *form)
{
    struct dg_json *list = dg_json_new_array(), *o;
    bool taken = list != NULL, more = true;
    for (size_t i = 0; i <= DG_MEMORY_DICTIONARIES && taken && more; i++) {
        taken = take_dictionary(form, i, &o);
        more = o != NULL;
        if (more)
            taken = dg_json_append_take(list, o) == 0 && taken;
    }
    if (taken && dg_json_length(list) > 0)
        return dg_json_set_take(form, "dictionaries", list) == 0;
    dg_json_free(list);
    return taken;
}

/* v3 takes JSON and, from most of DeepL's clients, forms. */
static int read_body(const struct dg_side *s, enum dg_deepl_glossary_form form,
    struct dg_json **out, bool *is_form, struct dg_error *err)
{
    int rc = dg_parameters_read(s->request, out, is_form, err);
    if (rc != DG_OK || !*is_form || form == DG_DEEPL_MONOLINGUAL)
        return rc;
    if (!dg_http_is_type(s->request->type, FORM))
        return dg_error_set(err, DG_EUNSUP, "Content-Type must be application/json or " FORM);
    return form == DG_DEEPL_DICTIONARY || gather_dictionaries(*out)
               ? DG_OK
               : dg_error_set(err, DG_ENOMEM, "no memory for a form");
}

int dg_deepl_glossary_read(const struct dg_side *s, enum dg_deepl_glossary_form form,
    struct dg_deepl_glossary_body *b, struct dg_error *err)
{
    struct dg_error why = {0};
    bool is_form;
    dg_pair_list_init(&b->pairs);
    b->name = NULL;
    int rc = read_body(s, form, &b->json, &is_form, err);
    if (rc == DG_OK && dg_parameters_check_strings(b->json, is_form, fields, &why) != DG_OK)
        rc = dg_deepl_not_supported(why.field, err);
    if (rc == DG_OK && form != DG_DEEPL_DICTIONARY)
        rc = read_name(b, form != DG_DEEPL_CHANGE, err);
    if (rc == DG_OK)
        rc = form == DG_DEEPL_MONOLINGUAL || form == DG_DEEPL_DICTIONARY
                 ? read_dictionary(s, b->json, b, err)
                 : read_dictionaries(s, b, form == DG_DEEPL_MULTILINGUAL, err);
    if (rc != DG_OK)
        return rc;
    rc = dg_entries_check(DG_MEMORY_GLOSSARY, &b->pairs, &why);
    return rc == DG_OK ? rc
                       : dg_error_field(err, rc, "entries",
                             "Invalid glossary entries provided: %.400s", why.message);
}

void dg_deepl_glossary_body_deinit(struct dg_deepl_glossary_body *b)
{
    dg_pair_list_deinit(&b->pairs);
    dg_json_free(b->json);
}

int dg_deepl_glossary_query(
    const struct dg_side *s, struct dg_json **out, const char *languages[2], struct dg_error *err)
{
    static const char *const keys[] = {"source_lang", "target_lang"};
    char code[DG_MEMORY_LANGUAGE];
    int rc = dg_parameters_read(s->request, out, NULL, err);
    for (size_t i = 0; i < 2 && rc == DG_OK; i++) {
        languages[i] = dg_parameter_string(*out, keys[i]);
        if (!languages[i])
            rc = dg_error_field(err, DG_EINVAL, keys[i], "Parameter '%s' not specified", keys[i]);
        else if (dg_memory_language(languages[i], code, NULL) != DG_OK)
            rc = dg_deepl_not_supported(keys[i], err);
    }
    return rc;
}
