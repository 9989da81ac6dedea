#include "convert/huggingface/vocab.h"

#include "convert/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_LANGUAGES 2000

#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

static int take_pieces(
    const struct dg_json *o, const char *path, struct dg_convert_vocab *v, struct dg_error *err)
{
    for (const char *k = dg_json_next_key(o, NULL); k; k = dg_json_next_key(o, k)) {
        const struct dg_json *id = dg_json_get(o, k);
        int64_t i = dg_json_int(id);
        if (dg_json_typeof(id) != DG_JSON_INT || i < 0 || i >= v->size)
            return WRONG(
                "vocab", "%s: the id of piece \"%.60s\" is no number below %u", path, k, v->size);
        if (v->pieces[i])
            return WRONG("vocab", "%s: id %lld is both \"%.60s\" and \"%.60s\"", path, (long long)i,
                v->pieces[i], k);
        v->pieces[i] = dg_arena_strdup(&v->arena, k);
        if (!v->pieces[i])
            return dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    return 0;
}

int dg_hf_vocab_load(
    const char *path, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err)
{
    struct dg_json *o = dg_json_load(path, err);
    if (!o)
        return err ? err->code : DG_EFORMAT;
    int rc = dg_convert_vocab_init(v, size, err);
    if (!rc && dg_json_typeof(o) != DG_JSON_OBJECT)
        rc = WRONG("vocab", "%s is no object of piece to id", path);
    if (!rc)
        rc = take_pieces(o, path, v, err);
    for (uint32_t i = 0; i < size && !rc; i++) {
        char name[32];
        snprintf(name, sizeof name, "<id:%u>", i);
        if (!v->pieces[i] && !(v->pieces[i] = dg_arena_strdup(&v->arena, name)))
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    if (!rc)
        rc = dg_convert_vocab_check(v, path, err);
    dg_json_free(o);
    return rc;
}

/* A language and the piece that asks for it (NULL: none). */
struct language {
    char code[DG_LANGUAGE_BYTES], written[DG_LANGUAGE_BYTES];
    const char *tag;
};

struct languages {
    struct language *list; /* [MAX_LANGUAGES] */
    size_t n;
};

static const struct language *find_code(const struct languages *l, const char *code)
{
    for (size_t i = 0; i < l->n; i++) {
        if (strcasecmp(l->list[i].code, code) == 0)
            return &l->list[i];
    }
    return NULL;
}

/* Codes with commas between, called as they are written. */
static int take_list(
    const char *text, const char *option, struct languages *l, struct dg_error *err)
{
    for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        size_t n = strcspn(p, ",");
        char tag[DG_LANGUAGE_BYTES];
        struct language *to = &l->list[l->n];
        if (l->n == MAX_LANGUAGES)
            return dg_error_field(
                err, DG_ELIMIT, option, "%s has more than %d languages", option, MAX_LANGUAGES);
        snprintf(to->code, sizeof to->code, "%.*s", (int)(n < sizeof to->code ? n : 0), p);
        if (!dg_language_tag(to->code, tag))
            return dg_error_field(err, DG_EINVAL, option,
                "%s has \"%.*s\", expected a code such as de", option, (int)(n < 60 ? n : 60), p);
        if (find_code(l, to->code))
            return dg_error_field(err, DG_EINVAL, option, "%s has %s twice", option, to->code);
        to->tag = NULL;
        l->n++;
    }
    return 0;
}

/* What the caller says, or else the directory. */
static int take_side(const char *given, const char *said, const char *option, struct languages *l,
    struct dg_error *err)
{
    char code[DG_LANGUAGE_BYTES];
    if (given)
        return take_list(given, option, l, err);
    if (!said || !dg_language_tag(said, code))
        return dg_error_field(
            err, DG_EINVAL, option, "%s is needed: tokenizer_config.json does not say it", option);
    return take_list(code, option, l, err);
}

/* All pieces >>code<<. Two that are one language by BCP 47 keep what they are written as. */
static int find_tags(const struct dg_convert_vocab *v, struct languages *l, struct dg_error *err)
{
    for (uint32_t i = 0; i < v->size; i++) {
        const char *s = v->pieces[i];
        size_t n = strlen(s);
        struct language *to = &l->list[l->n];
        if (n < 5 || n - 4 >= DG_LANGUAGE_BYTES || strncmp(s, ">>", 2) != 0 ||
            strcmp(s + n - 2, "<<") != 0)
            continue;
        snprintf(to->written, sizeof to->written, "%.*s", (int)(n - 4), s + 2);
        if (!dg_language_tag(to->written, to->code))
            continue;
        if (l->n + 1 == MAX_LANGUAGES)
            return dg_error_field(
                err, DG_ELIMIT, "vocab", "more than %d tags of languages", MAX_LANGUAGES - 1);
        if (find_code(l, to->code))
            memcpy(to->code, to->written, sizeof to->code);
        to->tag = s;
        l->n++;
    }
    return 0;
}

/* Of the tags those that were asked for, called as the caller does. */
static int choose_tags(const struct languages *all, struct languages *l, struct dg_error *err)
{
    for (size_t i = 0; i < l->n; i++) {
        struct language *to = &l->list[i];
        char code[DG_LANGUAGE_BYTES];
        const struct language *from = NULL;
        dg_language_tag(to->code, code);
        for (size_t k = 0; k < all->n && !from; k++) {
            if (strcasecmp(all->list[k].written, to->code) == 0)
                from = &all->list[k];
        }
        if (!from && !(from = find_code(all, code)))
            return dg_error_field(err, DG_EINVAL, "--target-lang",
                "the model has no tag for \"%s\", such as %s", to->code, all->list[0].tag);
        to->tag = from->tag;
    }
    return 0;
}

static int write_languages(const struct languages *from, const struct languages *to,
    struct dg_json *manifest, struct dg_error *err)
{
    struct dg_json *pairs = dg_json_get(manifest, "pairs"), *tags = dg_json_new_object();
    int rc = 0;
    for (size_t s = 0; s < from->n; s++) {
        for (size_t t = 0; t < to->n; t++) {
            const char *codes[2] = {from->list[s].code, to->list[t].code};
            struct dg_json *pair = dg_json_new_array();
            if (strcasecmp(codes[0], codes[1]) == 0 && from->n * to->n > 1) {
                dg_json_free(pair);
                continue;
            }
            rc |= dg_json_append_take(pair, dg_json_new_string(codes[0], strlen(codes[0])));
            rc |= dg_json_append_take(pair, dg_json_new_string(codes[1], strlen(codes[1])));
            rc |= dg_json_append_take(pairs, pair);
            if (to->list[t].tag)
                rc |= dg_json_set_string(tags, codes[1], to->list[t].tag);
        }
    }
    if (dg_json_length(tags))
        rc |= dg_json_set_take(manifest, "tags", tags);
    else
        dg_json_free(tags);
    return rc ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest's languages") : 0;
}

int dg_hf_languages_write(const struct dg_convert_vocab *v, const struct dg_hf_options *o,
    const char *sources, const char *targets, struct dg_json *manifest, struct dg_error *err)
{
    struct languages from = {0}, to = {0}, tags = {0};
    from.list = calloc(MAX_LANGUAGES, sizeof *from.list);
    to.list = calloc(MAX_LANGUAGES, sizeof *to.list);
    tags.list = calloc(MAX_LANGUAGES, sizeof *tags.list);
    int rc = from.list && to.list && tags.list
                 ? 0
                 : dg_error_set(err, DG_ENOMEM, "no memory for languages");
    if (!rc)
        rc = take_side(sources, o->source_lang, "--source-lang", &from, err);
    if (!rc)
        rc = find_tags(v, &tags, err);
    if (!rc && (targets || !tags.n))
        rc = take_side(targets, o->target_lang, "--target-lang", &to, err);
    if (!rc && tags.n && targets)
        rc = choose_tags(&tags, &to, err);
    if (!rc)
        rc = write_languages(&from, tags.n && !targets ? &tags : &to, manifest, err);
    free(from.list);
    free(to.list);
    free(tags.list);
    return rc;
}
