/* A recipe's section "data": pairs of languages with their files, and the directions and tags that
 * follow from them. */
#include "trainer/recipe/internal.h"

#include "base/alloc.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <string.h>

static const char *const tag_names[] = {"auto", "always", "never"};

/* Copies a string field into the arena; `required` rejects "" and a missing field. */
static int read_text(struct dg_recipe *r, const struct dg_json *o, const char *where,
    const char *key, bool required, const char **out, struct dg_error *err)
{
    const char *s = "";
    int rc = dg_json_field_string(o, where, key, &s, err);
    if (rc)
        return rc;
    if (required && !s[0]) {
        char name[160];
        snprintf(name, sizeof name, "%s.%s", where, key);
        return dg_error_field(err, DG_EINVAL, name, "%s is missing", name);
    }
    *out = dg_alloc_arena_string(&r->arena, s);
    return 0;
}

/* Copies a language code. An invalid one is refused here: the manifest would refuse it only after
 * hours of training. */
static int read_language(struct dg_recipe *r, const struct dg_json *pair, const char *where,
    const char *key, const char **out, struct dg_error *err)
{
    char name[160];
    int rc = read_text(r, pair, where, key, true, out, err);
    snprintf(name, sizeof name, "%s.%s", where, key);
    return rc ? rc : dg_bundle_check_language(name, *out, err);
}

/* Gets o[key] as an array of *n items (0 if absent). */
static int read_array(const struct dg_json *o, const char *where, const char *key,
    const struct dg_json **out, size_t *n, struct dg_error *err)
{
    *out = dg_json_get(o, key);
    *n = 0;
    if (!*out)
        return 0;
    if (dg_json_typeof(*out) != DG_JSON_ARRAY) {
        char name[160];
        snprintf(name, sizeof name, "%s.%s", where, key);
        return dg_error_field(err, DG_EINVAL, name, "%s must be an array, not %s", name,
            dg_json_type_name(dg_json_typeof(*out)));
    }
    *n = dg_json_length(*out);
    return 0;
}

static const char *const back_names[] = {"", "source", "target", NULL};

/* Reads which side of a file a model made. */
static int read_back_translated(struct dg_recipe *r, const struct dg_json *file, const char *name,
    struct dg_recipe_file *f, struct dg_error *err)
{
    const char *side = "";
    int rc = dg_json_field_string(file, name, "back_translated", &side, err);
    if (rc)
        return rc;
    for (f->back_translated = 0; back_names[f->back_translated]; f->back_translated++)
        if (!strcmp(side, back_names[f->back_translated]))
            break;
    if (!back_names[f->back_translated])
        return dg_error_field(err, DG_EINVAL, name,
            "%s.back_translated is \"%s\", must be source or target", name, side);
    r->data.back_translated |= f->back_translated != DG_BACK_TRANSLATED_NONE;
    return 0;
}

static int read_files(struct dg_recipe *r, const struct dg_json *o, const char *where,
    const char *key, struct dg_recipe_file **out, size_t *n, struct dg_error *err)
{
    static const char *const allowed[] = {
        "source", "target", "domain", "domains", "weight", "back_translated", NULL};
    const struct dg_json *list;
    int rc = read_array(o, where, key, &list, n, err);
    if (rc)
        return rc;
    *out = dg_alloc_arena(&r->arena, *n, sizeof **out);
    for (size_t i = 0; i < *n && rc == 0; i++) {
        const struct dg_json *v = dg_json_at(list, i);
        struct dg_recipe_file *f = &(*out)[i];
        char name[128];
        snprintf(name, sizeof name, "%s.%s[%zu]", where, key, i);
        f->weight = 1;
        rc = dg_json_only(v, name, allowed, err);
        if (rc == 0)
            rc = read_text(r, v, name, "source", true, &f->source, err);
        if (rc == 0)
            rc = read_text(r, v, name, "target", true, &f->target, err);
        if (rc == 0)
            rc = read_text(r, v, name, "domain", false, &f->domain, err);
        if (rc == 0)
            rc = read_text(r, v, name, "domains", false, &f->domains, err);
        if (rc == 0)
            rc = dg_json_field_number(v, name, "weight", 0, 1000, &f->weight, err);
        if (rc == 0)
            rc = read_back_translated(r, v, name, f, err);
        if (rc == 0 && f->domain[0] && f->domains[0])
            rc = dg_error_field(
                err, DG_EINVAL, name, "%s has domain and domains, must have one of them", name);
    }
    return rc;
}

static int read_pair(struct dg_recipe *r, const struct dg_json *v, size_t i,
    struct dg_recipe_pair *p, struct dg_error *err)
{
    static const char *const allowed[] = {
        "source_lang", "target_lang", "both_directions", "train", "dev", "test", NULL};
    char name[64];
    snprintf(name, sizeof name, "data.pairs[%zu]", i);
    int rc = dg_json_only(v, name, allowed, err);
    if (rc == 0)
        rc = read_language(r, v, name, "source_lang", &p->source_lang, err);
    if (rc == 0)
        rc = read_language(r, v, name, "target_lang", &p->target_lang, err);
    if (rc == 0)
        rc = dg_json_field_bool(v, name, "both_directions", &p->both_directions, err);
    if (rc == 0)
        rc = read_files(r, v, name, "train", &p->train, &p->n_train, err);
    if (rc == 0)
        rc = read_files(r, v, name, "dev", &p->dev, &p->n_dev, err);
    if (rc == 0)
        rc = read_files(r, v, name, "test", &p->test, &p->n_test, err);
    if (rc == 0 && p->n_train == 0)
        rc = dg_error_field(
            err, DG_EINVAL, name, "%s.train is empty, must list at least one pair of files", name);
    for (size_t k = 0; k < p->n_train && rc == 0; k++)
        if (p->train[k].back_translated == DG_BACK_TRANSLATED_TARGET && !p->both_directions)
            rc = dg_error_field(err, DG_EINVAL, name,
                "%s.train[%zu].back_translated is target: only a pair of both_directions trains its "
                "target as a source",
                name, k);
    if (rc == 0 && p->both_directions && !r->vocabulary.joint)
        rc =
            dg_error_field(err, DG_EINVAL, name, "%s.both_directions needs vocabulary.joint", name);
    if (rc == 0 && strcmp(p->source_lang, p->target_lang) == 0)
        rc = dg_error_field(
            err, DG_EINVAL, name, "%s translates %s to itself", name, p->source_lang);
    return rc;
}

static int read_pairs(struct dg_recipe *r, const struct dg_json *data, struct dg_error *err)
{
    const struct dg_json *list;
    size_t n;
    int rc = read_array(data, "data", "pairs", &list, &n, err);
    if (rc)
        return rc;
    r->data.pairs = dg_alloc_arena(&r->arena, n, sizeof *r->data.pairs);
    r->data.n_pairs = n;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = read_pair(r, dg_json_at(list, i), i, &r->data.pairs[i], err);
    return rc;
}

static int read_held_out(struct dg_recipe *r, const struct dg_json *data, struct dg_error *err)
{
    const struct dg_json *list;
    size_t n;
    int rc = read_array(data, "data", "held_out", &list, &n, err);
    if (rc)
        return rc;
    r->data.held_out = dg_alloc_arena(&r->arena, n, sizeof *r->data.held_out);
    r->data.n_held_out = n;
    for (size_t i = 0; i < n; i++) {
        const char *s = dg_json_string(dg_json_at(list, i), NULL);
        if (!s)
            return dg_error_field(
                err, DG_EINVAL, "data.held_out", "data.held_out[%zu] must be a path", i);
        r->data.held_out[i] = dg_alloc_arena_string(&r->arena, s);
    }
    return 0;
}

static int read_names(struct dg_recipe *r, const struct dg_json *data, struct dg_error *err)
{
    static const char *const allowed[] = {"file", "forms", NULL};
    const struct dg_json *list;
    int rc = read_array(data, "data", "names", &list, &r->data.n_names, err);
    if (rc)
        return rc;
    r->data.names = dg_alloc_arena(&r->arena, r->data.n_names, sizeof *r->data.names);
    for (size_t i = 0; i < r->data.n_names && !rc; i++) {
        struct dg_recipe_names *f = &r->data.names[i];
        char name[64];
        snprintf(name, sizeof name, "data.names[%zu]", i);
        f->forms = 1;
        rc = dg_json_only(dg_json_at(list, i), name, allowed, err);
        if (rc == 0)
            rc = read_text(r, dg_json_at(list, i), name, "file", true, &f->file, err);
        if (rc == 0)
            rc = dg_json_field_number(
                dg_json_at(list, i), name, "forms", 0, DG_MAX_NAME_FORMS, &f->forms, err);
    }
    return rc;
}

static struct dg_json *names_json(const struct dg_recipe_data *d)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < d->n_names; i++) {
        struct dg_json *o = dg_json_new_object();
        dg_json_set_string(o, "file", d->names[i].file);
        dg_json_set_real(o, "forms", d->names[i].forms);
        dg_json_append_take(list, o);
    }
    return list;
}

int dg_recipe_weights_read(struct dg_recipe *r, const struct dg_json *o, const char *name,
    struct dg_recipe_weight **out, size_t *n, struct dg_error *err)
{
    if (o && dg_json_typeof(o) == DG_JSON_NULL)
        o = NULL;
    *n = 0;
    *out = dg_alloc_arena(&r->arena, o ? dg_json_length(o) : 0, sizeof **out);
    if (o && dg_json_typeof(o) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, name, "%s must be an object, not %s", name,
            dg_json_type_name(dg_json_typeof(o)));
    for (const char *key = o ? dg_json_next_key(o, NULL) : NULL; key;
         key = dg_json_next_key(o, key), (*n)++) {
        struct dg_recipe_weight *w = &(*out)[*n];
        int rc = dg_json_field_number(o, name, key, 0, 1000, &w->weight, err);
        if (rc)
            return rc;
        w->domain = dg_alloc_arena_string(&r->arena, key);
    }
    return 0;
}

struct dg_json *dg_recipe_weights_write(const struct dg_recipe_weight *w, size_t n)
{
    struct dg_json *o = dg_json_new_object();
    for (size_t i = 0; i < n; i++)
        dg_json_set_real(o, w[i].domain, w[i].weight);
    return o;
}

static int read_tags(struct dg_recipe *r, const struct dg_json *data, struct dg_error *err)
{
    const char *s = "auto";
    int rc = dg_json_field_string(data, "data", "target_tags", &s, err);
    if (rc)
        return rc;
    for (int i = 0; i < 3; i++)
        if (strcmp(s, tag_names[i]) == 0) {
            r->data.target_tags = i;
            return 0;
        }
    return dg_error_field(err, DG_EINVAL, "data.target_tags",
        "data.target_tags is \"%s\", must be one of auto, always, never", s);
}

static void add_direction(struct dg_recipe_data *d, size_t pair, bool reversed)
{
    const struct dg_recipe_pair *p = &d->pairs[pair];
    d->directions[d->n_directions++] = (struct dg_recipe_direction){
        .source_lang = reversed ? p->target_lang : p->source_lang,
        .target_lang = reversed ? p->source_lang : p->target_lang,
        .tag = "",
        .pair = pair,
        .reversed = reversed,
    };
}

static int check_twice(const struct dg_recipe_data *d, struct dg_error *err)
{
    for (size_t i = 0; i < d->n_directions; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(d->directions[i].source_lang, d->directions[j].source_lang) &&
                !strcmp(d->directions[i].target_lang, d->directions[j].target_lang))
                return dg_error_field(err, DG_EINVAL, "data.pairs",
                    "data.pairs gives %s to %s twice: list all its files in one pair",
                    d->directions[i].source_lang, d->directions[i].target_lang);
    return 0;
}

static int make_directions(struct dg_recipe *r, struct dg_error *err)
{
    struct dg_recipe_data *d = &r->data;
    d->directions = dg_alloc_arena(&r->arena, 2 * d->n_pairs, sizeof *d->directions);
    for (size_t i = 0; i < d->n_pairs; i++) {
        add_direction(d, i, false);
        if (d->pairs[i].both_directions)
            add_direction(d, i, true);
    }
    if (d->n_directions > UINT16_MAX)
        return dg_error_field(err, DG_EINVAL, "data.pairs",
            "data.pairs gives %zu directions, at most 65535", d->n_directions);
    bool several = false;
    for (size_t i = 1; i < d->n_directions; i++)
        several |= strcmp(d->directions[i].target_lang, d->directions[0].target_lang) != 0;
    for (size_t i = 0; i < d->n_directions; i++) {
        char tag[64];
        if (d->target_tags == DG_TAGS_NEVER || (d->target_tags == DG_TAGS_AUTO && !several))
            continue;
        snprintf(tag, sizeof tag, "<2%s>", d->directions[i].target_lang);
        d->directions[i].tag = dg_alloc_arena_string(&r->arena, tag);
    }
    return check_twice(d, err);
}

double dg_recipe_domain_weight(const struct dg_recipe *r, const char *domain)
{
    for (size_t i = 0; i < r->data.n_domain_weights; i++)
        if (strcmp(r->data.domain_weights[i].domain, domain) == 0)
            return r->data.domain_weights[i].weight;
    return 1;
}

int dg_recipe_data_read(const struct dg_json *data, struct dg_recipe *r, struct dg_error *err)
{
    static const char *const allowed[] = {
        "pairs", "held_out", "names", "domain_weights", "target_tags", NULL};
    int rc = dg_json_only(data, "data", allowed, err);
    if (rc == 0)
        rc = read_tags(r, data, err);
    if (rc == 0)
        rc = read_pairs(r, data, err);
    if (rc == 0)
        rc = read_held_out(r, data, err);
    if (rc == 0)
        rc = read_names(r, data, err);
    if (rc == 0)
        rc = dg_recipe_weights_read(r, dg_json_get(data, "domain_weights"), "data.domain_weights",
            &r->data.domain_weights, &r->data.n_domain_weights, err);
    return rc ? rc : make_directions(r, err);
}

static struct dg_json *files_json(const struct dg_recipe_file *files, size_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < n; i++) {
        struct dg_json *o = dg_json_new_object();
        dg_json_set_string(o, "source", files[i].source);
        dg_json_set_string(o, "target", files[i].target);
        dg_json_set_string(o, "domain", files[i].domain);
        dg_json_set_string(o, "domains", files[i].domains);
        dg_json_set_real(o, "weight", files[i].weight);
        /* Only if it is set, so that prepared data of recipes without it stay valid. */
        if (files[i].back_translated)
            dg_json_set_string(o, "back_translated", back_names[files[i].back_translated]);
        dg_json_append_take(list, o);
    }
    return list;
}

struct dg_json *dg_recipe_data_write(const struct dg_recipe *r)
{
    const struct dg_recipe_data *d = &r->data;
    struct dg_json *o = dg_json_new_object(), *pairs = dg_json_new_array(),
                   *held = dg_json_new_array();
    for (size_t i = 0; i < d->n_pairs; i++) {
        const struct dg_recipe_pair *p = &d->pairs[i];
        struct dg_json *v = dg_json_new_object();
        dg_json_set_string(v, "source_lang", p->source_lang);
        dg_json_set_string(v, "target_lang", p->target_lang);
        dg_json_set_bool(v, "both_directions", p->both_directions);
        dg_json_set_take(v, "train", files_json(p->train, p->n_train));
        dg_json_set_take(v, "dev", files_json(p->dev, p->n_dev));
        dg_json_set_take(v, "test", files_json(p->test, p->n_test));
        dg_json_append_take(pairs, v);
    }
    for (size_t i = 0; i < d->n_held_out; i++)
        dg_json_append_take(held, dg_json_new_string(d->held_out[i], strlen(d->held_out[i])));
    dg_json_set_take(o, "pairs", pairs);
    dg_json_set_take(o, "held_out", held);
    /* only if there are any, so that prepared data of recipes without them stay valid */
    if (d->n_names)
        dg_json_set_take(o, "names", names_json(d));
    dg_json_set_take(
        o, "domain_weights", dg_recipe_weights_write(d->domain_weights, d->n_domain_weights));
    dg_json_set_string(o, "target_tags", tag_names[d->target_tags]);
    return o;
}
