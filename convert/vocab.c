#include "convert/vocab.h"

#include "base/buffer.h"
#include "base/file.h"
#include "tokenizer/spm_processor.h"
#include "convert/yaml.h"

#include <stdlib.h>
#include <string.h>

#define REFUSE(...) dg_error_field(err, DG_EFORMAT, "vocab", __VA_ARGS__)

bool dg_marian_vocab_is_spm(const char *path)
{
    return dg_file_ends_in(path, ".spm");
}

/* Store one entry "piece: id"; ids from v->size on are left out, as in Marian. */
static int take_entry(struct dg_convert_vocab *v, const struct dg_yaml_entry *e, const char *path,
    struct dg_error *err)
{
    char *end = NULL;
    const char *s = e->is_list ? "" : e->items[0];
    unsigned long id = strtoul(s, &end, 10);
    if (s[0] < '0' || s[0] > '9' || *end || id > UINT32_MAX)
        return REFUSE("%s: piece \"%.60s\" has \"%.20s\" for an id", path, e->key, s);
    if (id >= v->size)
        return 0;
    if (v->pieces[id])
        return REFUSE(
            "%s: id %lu is both \"%.60s\" and \"%.60s\"", path, id, v->pieces[id], e->key);
    v->pieces[id] = dg_arena_strdup(&v->arena, e->key);
    return v->pieces[id] ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
}

static int load_yaml(const char *path, struct dg_convert_vocab *v, struct dg_error *err)
{
    struct dg_buffer text;
    struct dg_yaml *yml = NULL;
    dg_buffer_init(&text);
    int rc = dg_file_read(path, &text, err);
    if (!rc)
        rc = dg_yaml_parse(text.data ? text.data : "", text.len, path, &yml, err);
    for (size_t i = 0; !rc && i < dg_yaml_count(yml); i++)
        rc = take_entry(v, dg_yaml_at(yml, i), path, err);
    dg_yaml_free(yml);
    dg_buffer_deinit(&text);
    return rc;
}

/* Marian uses a SentencePiece model's own ids. */
static int load_spm(const char *path, struct dg_convert_vocab *v, struct dg_error *err)
{
    struct dg_spm *spm = NULL;
    int rc = dg_spm_open(path, &spm, err);
    uint32_t n = rc ? 0 : (uint32_t)dg_spm_size(spm);
    for (uint32_t i = 0; !rc && i < v->size && i < n; i++) {
        size_t bytes;
        const char *piece = dg_spm_piece(spm, (int32_t)i, &bytes);
        v->pieces[i] = dg_arena_strndup(&v->arena, piece, bytes);
        if (!v->pieces[i])
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    dg_spm_close(spm);
    return rc;
}

static int compare_pieces(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int dg_convert_vocab_check(const struct dg_convert_vocab *v, const char *path, struct dg_error *err)
{
    for (uint32_t i = 0; i < v->size; i++) {
        if (!v->pieces[i])
            return REFUSE("%s: id %u has no piece, the model has %u", path, i, v->size);
        if (!v->pieces[i][0] || strchr(v->pieces[i], '\n'))
            return REFUSE("%s: the piece of id %u is empty or holds a line end", path, i);
    }
    const char **sorted = malloc(v->size * sizeof *sorted);
    if (!sorted)
        return dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    memcpy(sorted, v->pieces, v->size * sizeof *sorted);
    qsort(sorted, v->size, sizeof *sorted, compare_pieces);
    int rc = 0;
    for (uint32_t i = 1; i < v->size && !rc; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            rc = REFUSE("%s: piece \"%.60s\" is there twice", path, sorted[i]);
    }
    free(sorted);
    return rc;
}

int dg_convert_vocab_init(struct dg_convert_vocab *v, uint32_t size, struct dg_error *err)
{
    memset(v, 0, sizeof *v);
    dg_arena_init(&v->arena, 0);
    v->size = size;
    v->pieces = dg_arena_array(&v->arena, size, sizeof *v->pieces);
    return v->pieces ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary of %u", size);
}

int dg_convert_vocab_load_marian(
    const char *path, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err)
{
    int rc = dg_convert_vocab_init(v, size, err);
    if (!rc && (dg_file_ends_in(path, ".yml") || dg_file_ends_in(path, ".yaml")))
        rc = load_yaml(path, v, err);
    else if (!rc && dg_marian_vocab_is_spm(path))
        rc = load_spm(path, v, err);
    else if (!rc)
        rc = dg_error_field(
            err, DG_EUNSUP, "vocab", "%s: a vocabulary's name ends in .yml, .yaml or .spm", path);
    if (!rc)
        rc = dg_convert_vocab_check(v, path, err);
    return rc;
}

void dg_convert_vocab_deinit(struct dg_convert_vocab *v)
{
    dg_arena_deinit(&v->arena);
    memset(v, 0, sizeof *v);
}

int32_t dg_convert_vocab_id(const struct dg_convert_vocab *v, const char *piece)
{
    for (uint32_t i = 0; i < v->size; i++) {
        if (strcmp(v->pieces[i], piece) == 0)
            return (int32_t)i;
    }
    return -1;
}

bool dg_convert_vocab_equal(const struct dg_convert_vocab *a, const struct dg_convert_vocab *b)
{
    bool equal = a->size == b->size;
    for (uint32_t i = 0; equal && i < a->size; i++)
        equal = strcmp(a->pieces[i], b->pieces[i]) == 0;
    return equal;
}

int dg_convert_vocab_write(const struct dg_convert_vocab *v, const char *path, struct dg_error *err)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    for (uint32_t i = 0; i < v->size; i++) {
        dg_buffer_adds(&text, v->pieces[i]);
        dg_buffer_add(&text, "\n", 1);
    }
    int rc = text.failed ? dg_error_set(err, DG_ENOMEM, "no memory for %s", path)
                         : dg_file_write(path, text.data, text.len, err);
    dg_buffer_deinit(&text);
    return rc;
}
