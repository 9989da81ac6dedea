#include "convert/huggingface/tensor_set.h"

#include "base/file.h"
#include "convert/pickle/torch_file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 1000 };

/* An open file: one of safe and torch is NULL. */
struct file {
    struct dg_safetensors *safe;
    struct dg_torch_file *torch;
    /* its name; a shard's is borrowed from the index */
    const char *name;
};

struct dg_tensor_set {
    /* [n_files] */
    struct file *files;
    size_t n_files;
    /* [n] */
    const struct dg_safetensor **list;
    size_t n;
    struct dg_json *index;
};

static int add_tensors(struct dg_tensor_set *s, const struct file *f, struct dg_error *err)
{
    const size_t n = f->safe ? dg_safetensors_count(f->safe) : dg_torch_file_count(f->torch);
    const struct dg_safetensor **list = realloc(s->list, (s->n + n) * sizeof *list);
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu tensors", s->n + n);
    s->list = list;
    for (size_t i = 0; i < n; i++) {
        const struct dg_safetensor *t =
            f->safe ? dg_safetensors_at(f->safe, i) : dg_torch_file_at(f->torch, i);
        if (dg_tensor_set_find(s, t->name))
            return dg_error_field(err, DG_EFORMAT, t->name, "tensor %s is there twice", t->name);
        list[s->n++] = t;
    }
    return 0;
}

static int open_file(
    struct dg_tensor_set *s, const char *dir, const char *name, struct dg_error *err)
{
    char *path = dg_file_join(dir, name);
    struct file *f = &s->files[s->n_files];
    if (!path)
        return dg_error_set(err, DG_ENOMEM, "no memory for a path");
    *f = (struct file){.name = name};
    int rc = dg_file_ends_in(name, ".safetensors")
                 ? dg_safetensors_open(dg_input_path(path), &f->safe, err)
                 : dg_torch_file_open(dg_input_path(path), &f->torch, err);
    free(path);
    if (rc)
        return rc;
    s->n_files++;
    return add_tensors(s, f, err);
}

/* Open each file that {"weight_map": {tensor: file}} names, once; each tensor must be in its file.
 */
static int open_shards(
    struct dg_tensor_set *s, const char *dir, const char *name, struct dg_error *err)
{
    int rc = dg_input_json(dir, name, true, &s->index, err);
    if (rc)
        return rc;
    const struct dg_json *map = dg_json_get(s->index, "weight_map");
    if (dg_json_typeof(map) != DG_JSON_OBJECT || !dg_json_length(map))
        return dg_error_field(err, DG_EFORMAT, name, "%s has no weight_map", name);
    for (const char *k = dg_json_next_key(map, NULL); k && !rc; k = dg_json_next_key(map, k)) {
        const char *file = dg_json_string(dg_json_get(map, k), NULL);
        size_t i = 0;
        if (!file || strchr(file, '/') || file[0] == '.' || s->n_files == MAX_FILES)
            return dg_error_field(
                err, DG_EFORMAT, name, "%s: tensor %s is in no file of the directory", name, k);
        while (i < s->n_files && strcmp(s->files[i].name, file) != 0)
            i++;
        if (i == s->n_files)
            rc = open_file(s, dir, file, err);
        if (!rc && !dg_tensor_set_find(s, k))
            rc = dg_error_field(
                err, DG_EFORMAT, k, "tensor %s is not in %s, as %s says", k, file, name);
    }
    return rc;
}

int dg_tensor_set_open(const char *dir, struct dg_tensor_set **out, struct dg_error *err)
{
    /* Safetensors first, where a directory has both. */
    static const struct {
        const char *name;
        bool index;
    } kinds[] = {{"model.safetensors", false}, {"model.safetensors.index.json", true},
        {"pytorch_model.bin", false}, {"pytorch_model.bin.index.json", true}};
    struct dg_tensor_set *s = calloc(1, sizeof *s);
    if (s)
        s->files = calloc(MAX_FILES, sizeof *s->files);
    if (!s || !s->files) {
        free(s);
        return dg_error_set(err, DG_ENOMEM, "no memory for a directory's tensors");
    }
    size_t i = 0;
    while (i < sizeof kinds / sizeof kinds[0] && !dg_input_has(dir, kinds[i].name))
        i++;
    int rc =
        i == sizeof kinds / sizeof kinds[0]
            ? dg_error_field(err, DG_ENOTFOUND, "model.safetensors",
                  "%s has neither model.safetensors nor pytorch_model.bin, whole or in shards", dir)
        : kinds[i].index ? open_shards(s, dir, kinds[i].name, err)
                         : open_file(s, dir, kinds[i].name, err);
    if (rc)
        dg_tensor_set_close(s);
    else
        *out = s;
    return rc;
}

void dg_tensor_set_close(struct dg_tensor_set *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_files; i++) {
        dg_safetensors_close(s->files[i].safe);
        dg_torch_file_close(s->files[i].torch);
    }
    dg_json_free(s->index);
    free(s->files);
    free(s->list);
    free(s);
}

size_t dg_tensor_set_count(const struct dg_tensor_set *s)
{
    return s->n;
}

const struct dg_safetensor *dg_tensor_set_at(const struct dg_tensor_set *s, size_t i)
{
    return i < s->n ? s->list[i] : NULL;
}

const struct dg_safetensor *dg_tensor_set_find(const struct dg_tensor_set *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i]->name, name) == 0)
            return s->list[i];
    return NULL;
}
