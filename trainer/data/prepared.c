#include "trainer/data/prepared.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "trainer/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct dg_prepared {
    struct dg_arena arena;
    struct dg_json *manifest;
    const char *hash;
    int64_t source_size, target_size, eos, unk;
    /* [n_sets] */
    struct dg_prepared_set *sets;
    size_t n_sets;
};

/* Builds dir/name in the arena; names must not leave the folder. */
static int join(struct dg_prepared *p, const char *dir, const char *name, const char **out,
    struct dg_error *err)
{
    size_t n = strlen(dir) + strlen(name) + 2;
    if (strchr(name, '/') || name[0] == '.')
        return dg_error_set(err, DG_EFORMAT,
            "%s/prepared.json names the file %s, which is not in the folder", dir, name);
    char *s = dg_alloc_arena(&p->arena, n, 1);
    snprintf(s, n, "%s%s%s", name[0] ? dir : "", name[0] ? "/" : "", name);
    *out = s;
    return 0;
}

/* Reads the path of a file that the manifest names; the file must exist in full size. */
static int read_file(struct dg_prepared *p, const char *dir, const struct dg_json *o,
    const char **path, struct dg_error *err)
{
    const char *file = "";
    int64_t bytes = -1;
    struct stat st;
    int rc = dg_json_field_string(o, "sets.shards", "file", &file, err);
    if (rc == 0)
        rc = dg_json_field_int(o, "sets.shards", "bytes", 0, INT64_MAX, &bytes, err);
    if (rc == 0)
        rc = join(p, dir, file, path, err);
    if (rc == 0 && (stat(*path, &st) || st.st_size != bytes))
        rc = dg_error_set(err, DG_EFORMAT,
            "%s is missing or has not the %lld bytes that prepared.json says", *path,
            (long long)bytes);
    return rc;
}

static int read_shards(struct dg_prepared *p, const char *dir, const struct dg_json *list,
    struct dg_prepared_set *s, struct dg_error *err)
{
    s->n_shards = dg_json_length(list);
    s->shards = dg_alloc_arena(&p->arena, s->n_shards, sizeof *s->shards);
    s->links = dg_alloc_arena(&p->arena, s->n_shards, sizeof *s->links);
    for (size_t i = 0; i < s->n_shards; i++) {
        const struct dg_json *o = dg_json_at(list, i), *links = dg_json_get(o, "alignments");
        int rc = read_file(p, dir, o, &s->shards[i], err);
        s->links[i] = NULL;
        if (rc == 0 && links)
            rc = read_file(p, dir, links, &s->links[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_set(struct dg_prepared *p, const char *dir, const struct dg_json *o,
    struct dg_prepared_set *s, struct dg_error *err)
{
    const char *source = "", *target = "";
    int64_t direction = 0, sentences = 0, left_out = 0, longest = 0;
    s->name = s->kind = "";
    int rc = dg_json_field_string(o, "sets", "name", &s->name, err);
    if (rc == 0)
        rc = dg_json_field_string(o, "sets", "kind", &s->kind, err);
    if (rc == 0)
        rc = dg_json_field_string(o, "sets", "source_text", &source, err);
    if (rc == 0)
        rc = dg_json_field_string(o, "sets", "target_text", &target, err);
    if (rc == 0)
        rc = dg_json_field_int(o, "sets", "direction", 0, UINT16_MAX, &direction, err);
    if (rc == 0)
        rc = dg_json_field_int(o, "sets", "sentences", 0, INT64_MAX, &sentences, err);
    if (rc == 0)
        rc = dg_json_field_int(o, "sets", "left_out", 0, INT64_MAX, &left_out, err);
    if (rc == 0)
        rc = dg_json_field_int(o, "sets", "longest", 0, UINT32_MAX, &longest, err);
    if (rc == 0)
        rc = join(p, dir, source, &s->source_text, err);
    if (rc == 0)
        rc = join(p, dir, target, &s->target_text, err);
    s->direction = (size_t)direction;
    s->sentences = (uint64_t)sentences;
    s->left_out = (uint64_t)left_out;
    s->longest = (uint32_t)longest;
    return rc ? rc : read_shards(p, dir, dg_json_get(o, "shards"), s, err);
}

static int read_manifest(struct dg_prepared *p, const char *dir, struct dg_error *err)
{
    const struct dg_json *m = p->manifest, *v = dg_json_get(m, "vocabulary"),
                         *domains = dg_json_get(m, "domains"), *sets = dg_json_get(m, "sets");
    int64_t format = 0;
    p->hash = "";
    int rc = dg_json_field_int(m, NULL, "format", INT64_MIN, INT64_MAX, &format, err);
    if (rc == 0 && format != DG_PREPARED_FORMAT)
        rc = dg_error_set(err, DG_EUNSUP,
            "%s was prepared in format %lld, this program reads %d: prepare it again", dir,
            (long long)format, DG_PREPARED_FORMAT);
    if (rc == 0)
        rc = dg_json_field_string(m, NULL, "hash", &p->hash, err);
    if (rc == 0)
        rc = dg_json_field_int(v, "vocabulary", "source_size", 1, INT32_MAX, &p->source_size, err);
    if (rc == 0)
        rc = dg_json_field_int(v, "vocabulary", "target_size", 1, INT32_MAX, &p->target_size, err);
    if (rc == 0)
        rc = dg_json_field_int(v, "vocabulary", "eos", 0, INT32_MAX, &p->eos, err);
    if (rc == 0)
        rc = dg_json_field_int(v, "vocabulary", "unk", -1, INT32_MAX, &p->unk, err);
    for (size_t i = 0; i < dg_json_length(domains) && rc == 0; i++)
        if (!dg_json_string(dg_json_at(domains, i), NULL))
            rc = dg_error_set(err, DG_EFORMAT, "domains[%zu] must be a string", i);
    p->n_sets = dg_json_length(sets);
    p->sets = dg_alloc_arena(&p->arena, p->n_sets, sizeof *p->sets);
    for (size_t i = 0; i < p->n_sets && rc == 0; i++)
        rc = read_set(p, dir, dg_json_at(sets, i), &p->sets[i], err);
    return rc;
}

int dg_prepared_open(const char *dir, struct dg_prepared **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_prepared *p = dg_alloc(1, sizeof *p, "a prepared folder");
    dg_arena_init(&p->arena, 0);
    char *path = dg_alloc_path(dir, "prepared.json");
    struct dg_error why = {0};
    p->manifest = dg_json_load(path, &why);
    int rc = p->manifest ? read_manifest(p, dir, &why) : why.code;
    free(path);
    if (rc) {
        dg_error_set(err, rc, "%s", why.message);
        dg_prepared_close(p);
        return rc;
    }
    *out = p;
    return 0;
}

void dg_prepared_close(struct dg_prepared *p)
{
    if (!p)
        return;
    dg_json_free(p->manifest);
    dg_arena_deinit(&p->arena);
    free(p);
}

const struct dg_json *dg_prepared_manifest(const struct dg_prepared *p)
{
    return p->manifest;
}

const char *dg_prepared_hash(const struct dg_prepared *p)
{
    return p->hash;
}

uint32_t dg_prepared_source_vocab(const struct dg_prepared *p)
{
    return (uint32_t)p->source_size;
}

uint32_t dg_prepared_target_vocab(const struct dg_prepared *p)
{
    return (uint32_t)p->target_size;
}

int32_t dg_prepared_eos(const struct dg_prepared *p)
{
    return (int32_t)p->eos;
}

int32_t dg_prepared_unk(const struct dg_prepared *p)
{
    return (int32_t)p->unk;
}

size_t dg_prepared_sets(const struct dg_prepared *p, const char *kind)
{
    size_t n = 0;
    while (dg_prepared_set(p, kind, n))
        n++;
    return n;
}

const struct dg_prepared_set *dg_prepared_set(
    const struct dg_prepared *p, const char *kind, size_t i)
{
    for (size_t k = 0; k < p->n_sets; k++)
        if (strcmp(p->sets[k].kind, kind) == 0 && i-- == 0)
            return &p->sets[k];
    return NULL;
}

const struct dg_prepared_set *dg_prepared_find(const struct dg_prepared *p, const char *name)
{
    for (size_t i = 0; i < p->n_sets; i++)
        if (strcmp(p->sets[i].name, name) == 0)
            return &p->sets[i];
    return NULL;
}

int dg_prepared_tokenizer(
    const char *dir, const char *side, struct dg_tokenizer **out, struct dg_error *err)
{
    char *spm = dg_alloc_print("%s/%s.spm", dir, side),
         *vocab = dg_alloc_print("%s/%s.vocab", dir, side);
    int rc = dg_tokenizer_open(spm, vocab, out, err);
    free(spm);
    free(vocab);
    return rc;
}

int dg_prepared_same(const char *dir, const char *kind, bool *same, struct dg_error *err)
{
    char *source = dg_alloc_print("%s/source.%s", dir, kind),
         *target = dg_alloc_print("%s/target.%s", dir, kind);
    int rc = dg_file_same(source, target, same, err);
    free(source);
    free(target);
    return rc;
}

static void add_row(struct dg_buffer *out, const char *name, int64_t n, int64_t all)
{
    char count[32];
    dg_progress_count((uint64_t)n, count);
    dg_buffer_addf(out, "  %-20s %14s  %6.2f %%\n", name, count,
        all > 0 ? 100.0 * (double)n / (double)all : 0);
}

int dg_prepared_table(const struct dg_prepared *p, struct dg_buffer *out)
{
    const struct dg_json *total = dg_json_get(dg_json_get(p->manifest, "counts"), "total");
    const struct dg_json *dropped = dg_json_get(total, "dropped");
    int64_t all = dg_json_int(dg_json_get(total, "read"));
    dg_buffer_adds(out, "training pairs\n");
    add_row(out, "read", all, all);
    for (const char *key = dg_json_next_key(dropped, NULL); key;
         key = dg_json_next_key(dropped, key))
        if (dg_json_int(dg_json_get(dropped, key)))
            add_row(out, key, dg_json_int(dg_json_get(dropped, key)), all);
    add_row(out, "kept", dg_json_int(dg_json_get(total, "kept")), all);
    dg_buffer_adds(out, "sets\n");
    for (size_t i = 0; i < p->n_sets; i++) {
        const struct dg_json *list =
            dg_json_get(dg_json_at(dg_json_get(p->manifest, "sets"), i), "shards");
        int64_t n = 0, source = 0, target = 0;
        for (size_t k = 0; k < dg_json_length(list); k++) {
            const struct dg_json *o = dg_json_at(list, k);
            n += dg_json_int(dg_json_get(o, "sentences"));
            source += dg_json_int(dg_json_get(o, "source_tokens"));
            target += dg_json_int(dg_json_get(o, "target_tokens"));
        }
        dg_buffer_addf(out,
            "  %-20s %lld pairs, %lld source and %lld target tokens in %zu shards\n",
            p->sets[i].name, (long long)n, (long long)source, (long long)target,
            p->sets[i].n_shards);
        if (p->sets[i].left_out)
            dg_buffer_addf(out,
                "  %-20s %llu more are over cleaning.max_tokens: translated, but not in the loss\n",
                "", (unsigned long long)p->sets[i].left_out);
    }
    return out->failed ? DG_ENOMEM : 0;
}
