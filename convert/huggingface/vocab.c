#include "convert/huggingface/vocab.h"

#include "convert/huggingface/multilingual.h"
#include "convert/output.h"
#include "convert/tags.h"

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
            return WRONG("vocab", "%s: the id of piece \"%.60s\" is not a number below %u", path, k,
                v->size);
        if (v->pieces[i])
            return WRONG("vocab", "%s: id %lld is both \"%.60s\" and \"%.60s\"", path, (long long)i,
                v->pieces[i], k);
        v->pieces[i] = dg_arena_strdup(&v->arena, k);
        if (!v->pieces[i])
            return dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    return 0;
}

int dg_hf_vocab_take(
    const char *path, struct dg_convert_vocab *v, uint32_t *n, struct dg_error *err)
{
    struct dg_json *o = dg_json_load(path, err);
    if (!o)
        return err ? err->code : DG_EFORMAT;
    int rc = dg_json_typeof(o) == DG_JSON_OBJECT
                 ? take_pieces(o, path, v, err)
                 : WRONG("vocab", "%s is not an object of piece to id", path);
    *n = (uint32_t)dg_json_length(o);
    dg_json_free(o);
    return rc;
}

int dg_hf_vocab_fill(struct dg_convert_vocab *v, const char *path, struct dg_error *err)
{
    for (uint32_t i = 0; i < v->size; i++) {
        char name[32];
        snprintf(name, sizeof name, "<id:%u>", i);
        if (!v->pieces[i] && !(v->pieces[i] = dg_arena_strdup(&v->arena, name)))
            return dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    return dg_convert_vocab_check(v, path, err);
}

int dg_hf_vocab_load(
    const char *path, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err)
{
    uint32_t n;
    int rc = dg_convert_vocab_init(v, size, err);
    if (!rc)
        rc = dg_hf_vocab_take(path, v, &n, err);
    return rc ? rc : dg_hf_vocab_fill(v, path, err);
}

/* A language and the piece that asks for it (NULL: none). */
struct language {
    char code[DG_LANGUAGE_BYTES], written[DG_LANGUAGE_BYTES];
    const char *tag;
};

struct languages {
    /* [MAX_LANGUAGES] */
    struct language *list;
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

/* Read codes separated by commas, and keep them as written. */
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

/* Take the caller's languages, or else the directory's. */
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

/* Find all pieces of languages. If a BCP 47 code is already taken, the later piece keeps its
 * written form. */
static int find_tags(const struct dg_convert_vocab *v, const struct dg_hf_options *o,
    struct languages *l, struct dg_error *err)
{
    for (uint32_t i = 0; i < v->size; i++) {
        struct language *to = &l->list[l->n];
        const char *s = v->pieces[i];
        if (o->kind == DG_HF_MARIAN ? !dg_convert_tag_read(s, to->written, to->code)
                                    : !dg_hf_language_of(o, s, to->code))
            continue;
        if (o->kind != DG_HF_MARIAN)
            snprintf(to->written, sizeof to->written, "%.35s", s);
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

/* Find the tags of the requested languages, which keep the caller's codes. */
static int choose_tags(
    const struct languages *all, const char *option, struct languages *l, struct dg_error *err)
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
            return dg_error_field(err, DG_EINVAL, option,
                "the model has no tag for \"%s\", such as %s", to->code, all->list[0].tag);
        to->tag = from->tag;
    }
    return 0;
}

/* A language makes no pair with itself, unless that is the model's only pair. */
static bool is_pair(const struct languages *from, const struct languages *to, size_t s, size_t t)
{
    return from->n * to->n == 1 || strcasecmp(from->list[s].code, to->list[t].code) != 0;
}

static bool has_pair(const struct languages *l, size_t i, const struct languages *others)
{
    for (size_t k = 0; k < others->n; k++)
        if (is_pair(l, others, i, k))
            return true;
    return false;
}

/* Write an object of code to piece under `key`, for the languages that have a piece and a pair. */
static int write_tags(struct dg_json *manifest, const char *key, const struct languages *l,
    const struct languages *others)
{
    struct dg_json *tags = dg_json_new_object();
    int rc = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->list[i].tag && has_pair(l, i, others))
            rc |= dg_json_set_string(tags, l->list[i].code, l->list[i].tag);
    if (dg_json_length(tags))
        return rc | dg_json_set_take(manifest, key, tags);
    dg_json_free(tags);
    return rc;
}

static int write_languages(const struct languages *from, const struct languages *to,
    const struct dg_hf_options *o, struct dg_json *manifest, struct dg_error *err)
{
    int rc = 0;
    for (size_t s = 0; s < from->n; s++)
        for (size_t t = 0; t < to->n && !rc; t++)
            if (is_pair(from, to, s, t))
                rc = dg_convert_output_pair(manifest, from->list[s].code, to->list[t].code, err);
    if (rc)
        return rc;
    if (o->kind == DG_HF_MARIAN)
        rc = write_tags(manifest, "tags", to, from);
    else
        rc = write_tags(manifest, "source_tags", from, to) |
             write_tags(manifest, "target_tags", to, from);
    return rc ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest's languages") : 0;
}

/* Take one side of a model that has a piece for every language: all languages, or those given. */
static int take_pieces_of(const struct languages *all, const char *given, const char *option,
    struct languages *l, struct dg_error *err)
{
    if (!given) {
        memcpy(l->list, all->list, all->n * sizeof *l->list);
        l->n = all->n;
        return 0;
    }
    int rc = take_list(given, option, l, err);
    return rc ? rc : choose_tags(all, option, l, err);
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
        rc = find_tags(v, o, &tags, err);
    if (!rc)
        rc = o->kind == DG_HF_MARIAN
                 ? take_side(sources, o->source_lang, "--source-lang", &from, err)
                 : take_pieces_of(&tags, sources, "--source-lang", &from, err);
    if (!rc && (tags.n || o->kind != DG_HF_MARIAN))
        rc = take_pieces_of(&tags, targets, "--target-lang", &to, err);
    else if (!rc)
        rc = take_side(targets, o->target_lang, "--target-lang", &to, err);
    if (!rc)
        rc = write_languages(&from, &to, o, manifest, err);
    free(from.list);
    free(to.list);
    free(tags.list);
    return rc;
}
