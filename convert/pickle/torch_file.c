#include "convert/pickle/torch_file.h"

#include "convert/pickle/machine.h"
#include "weights/disk.h" /* refuses big-endian hosts */

#include <zip.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pickle of a dictionary of thousands of tensors takes some hundred kilobytes. */
#define MAX_PICKLE ((zip_uint64_t)64 << 20)
#define MAX_STORAGES 8192

#define REFUSE(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

/* Elements that tensors are views of. */
struct storage {
    const char *key;
    /* [bytes]; NULL until the elements are found */
    const unsigned char *data;
    uint64_t bytes;
    /* our own copy of the elements, or NULL */
    void *block;
};

struct dg_torch_file {
    struct dg_map map;
    struct dg_input_cursor bytes;
    struct dg_arena arena;
    /* [n] */
    struct dg_safetensor *tensors;
    size_t n;
    /* [n_storages] */
    struct storage *storages;
    size_t n_storages;
    /* open only during dg_torch_file_open; NULL for an old file */
    zip_t *zip;
    char prefix[256];
};

static size_t size_of(const struct dg_torch_file *f)
{
    return (size_t)(f->bytes.end - f->bytes.at);
}

static bool is_zip(const struct dg_torch_file *f)
{
    return size_of(f) >= 4 && memcmp(f->bytes.at, "PK\3\4", 4) == 0;
}

static int read_entry(struct dg_torch_file *f, const char *name, zip_uint64_t most, void **block,
    zip_uint64_t *size, struct dg_error *err)
{
    zip_stat_t st;
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat(f->zip, name, ZIP_FL_ENC_RAW, &st) != 0 || (st.valid & wanted) != wanted)
        return REFUSE("pickle", "entry %s is missing", name);
    /* torch.save never compresses, and a compressed entry could claim any size. */
    if (st.comp_method != ZIP_CM_STORE || st.size > most || st.size > size_of(f))
        return REFUSE(
            "pickle", "entry %s is compressed, or of %" PRIu64 " bytes", name, (uint64_t)st.size);
    zip_file_t *z = zip_fopen(f->zip, name, ZIP_FL_ENC_RAW);
    *block = malloc(st.size ? st.size : 1);
    int rc = *block ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for entry %s", name);
    char past;
    /* One read past the end makes libzip compare the CRC. */
    if (!rc && (!z || zip_fread(z, *block, st.size) != (zip_int64_t)st.size ||
                   zip_fread(z, &past, 1) != 0))
        rc = REFUSE("pickle", "entry %s cannot be read, or its checksum is wrong", name);
    if (z)
        zip_fclose(z);
    *size = st.size;
    return rc;
}

/* Find the storage of that key. In a zip, a new one is read. NULL: err says why, or is unset if the
 * number of elements is wrong or there are too many storages. */
static struct storage *find_storage(
    struct dg_torch_file *f, const struct dg_pickle *s, uint64_t element, struct dg_error *err)
{
    for (size_t i = 0; i < f->n_storages; i++)
        if (strcmp(f->storages[i].key, s->text) == 0)
            return f->storages[i].bytes == (uint64_t)s->i * element ? &f->storages[i] : NULL;
    if (f->n_storages == MAX_STORAGES || (uint64_t)s->i > DG_DISK_MAX_ELEMENTS)
        return NULL;
    struct storage *to = &f->storages[f->n_storages];
    *to = (struct storage){.key = s->text, .bytes = (uint64_t)s->i * element};
    f->n_storages++;
    if (!f->zip)
        return to;
    char name[512];
    zip_uint64_t size = 0;
    snprintf(name, sizeof name, "%s/data/%s", f->prefix, s->text);
    if (read_entry(f, name, to->bytes, &to->block, &size, err))
        return NULL;
    to->data = to->block;
    return size == to->bytes ? to : NULL;
}

/* Read the sizes, and check that the rows are contiguous. */
static int read_shape(const struct dg_pickle *t, struct dg_safetensor *to, struct dg_error *err)
{
    const struct dg_pickle *shape = t->items[2], *strides = t->items[3];
    if (shape->n > 4)
        return REFUSE(to->name, "tensor %s has %zu dimensions", to->name, shape->n);
    to->n_dims = shape->n;
    to->count = 1;
    for (size_t i = shape->n; i-- > 0;) {
        const int64_t size = shape->items[i]->i;
        if (size < 1 || (uint64_t)size > DG_DISK_MAX_ELEMENTS / to->count)
            return REFUSE(
                to->name, "tensor %s: size %zu of its shape is %" PRId64, to->name, i + 1, size);
        /* The stride of a dimension of one element says nothing. */
        if (size > 1 && (uint64_t)strides->items[i]->i != to->count)
            return dg_error_field(
                err, DG_EUNSUP, to->name, "tensor %s is not contiguous", to->name);
        to->shape[i] = (uint64_t)size;
        to->count *= (uint64_t)size;
    }
    return 0;
}

/* Read a tensor's type and shape, and its place: a storage and an offset in bytes. The caller sets
 * `data`. */
static int read_tensor(struct dg_torch_file *f, const struct dg_pickle *t, struct dg_safetensor *to,
    size_t *storage, uint64_t *offset, struct dg_error *err)
{
    const struct dg_pickle *s = t->items[0], *type = s->items[0];
    if (type->i < 0)
        return dg_error_field(err, DG_EUNSUP, to->name,
            "tensor %s is of torch.%s; Float, Half and BFloat16 are supported", to->name,
            type->text);
    to->type = (enum dg_type)type->i;
    int rc = read_shape(t, to, err);
    if (rc)
        return rc;
    const uint64_t element = dg_type_bytes(to->type);
    struct dg_error why = {0};
    const struct storage *from = find_storage(f, s, element, &why);
    if (!from)
        return why.code
                   ? dg_error_field(err, why.code, to->name, "tensor %s: %s", to->name, why.message)
                   : REFUSE(to->name,
                         "tensor %s: storage %s has not the %" PRId64 " elements that "
                         "are said of it",
                         to->name, s->text, s->i);
    if (t->items[1]->i < 0 || (uint64_t)t->items[1]->i > (uint64_t)s->i ||
        to->count > (uint64_t)s->i - (uint64_t)t->items[1]->i)
        return REFUSE(to->name,
            "tensor %s: %" PRIu64 " elements from %" PRId64 ", its storage has %" PRId64, to->name,
            to->count, t->items[1]->i, s->i);
    *storage = (size_t)(from - f->storages);
    *offset = (uint64_t)t->items[1]->i * element;
    return 0;
}

/* Find the elements of an old file's storages, which follow in the order of its list of keys. */
static int place_storages(struct dg_torch_file *f, struct dg_input_cursor *in,
    const struct dg_pickle *keys, struct dg_error *err)
{
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t n = 0;
        struct storage *s = NULL;
        for (size_t k = 0; k < f->n_storages && keys->items[i]->kind == DG_PICKLE_TEXT; k++)
            if (strcmp(f->storages[k].key, keys->items[i]->text) == 0)
                s = &f->storages[k];
        const unsigned char *count = dg_input_take(in, sizeof n);
        if (count)
            memcpy(&n, count, sizeof n);
        if (!s || s->data || !n || s->bytes % n || !(s->data = dg_input_take(in, s->bytes)))
            return REFUSE(
                "pickle", "the elements of storage %zu are missing or of another number", i + 1);
    }
    return 0;
}

static int list_tensors(struct dg_torch_file *f, const struct dg_pickle *dict,
    struct dg_input_cursor *in, const struct dg_pickle *keys, struct dg_error *err)
{
    if (dict->kind != DG_PICKLE_DICT || !dict->n)
        return REFUSE("pickle", "it holds no dictionary of tensors");
    const size_t n = dict->n / 2;
    size_t *storage = dg_arena_array(&f->arena, n, sizeof *storage);
    uint64_t *offset = dg_arena_array(&f->arena, n, sizeof *offset);
    f->tensors = dg_arena_array(&f->arena, n, sizeof *f->tensors);
    f->storages = calloc(MAX_STORAGES, sizeof *f->storages);
    if (!storage || !offset || !f->tensors || !f->storages)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu tensors", n);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const struct dg_pickle *key = dict->items[2 * i], *value = dict->items[2 * i + 1];
        if (key->kind != DG_PICKLE_TEXT || key->n < 1 || key->n > 255)
            return REFUSE("pickle", "a key of the dictionary is not a tensor's name");
        f->tensors[i].name = key->text;
        if (value->kind != DG_PICKLE_TENSOR)
            return dg_error_field(err, DG_EUNSUP, key->text, "%s is not a tensor", key->text);
        rc = read_tensor(f, value, &f->tensors[i], &storage[i], &offset[i], err);
    }
    if (!rc && keys)
        rc = place_storages(f, in, keys, err);
    for (size_t i = 0; i < n && !rc; i++) {
        if (!f->storages[storage[i]].data)
            rc = REFUSE(f->tensors[i].name, "tensor %s has no elements", f->tensors[i].name);
        else
            f->tensors[i].data = f->storages[storage[i]].data + offset[i];
    }
    f->n = rc ? 0 : n;
    return rc;
}

/* Take the prefix NAME from the one entry NAME/data.pkl. */
static int find_prefix(struct dg_torch_file *f, struct dg_error *err)
{
    static const char ending[] = "/data.pkl";
    for (zip_int64_t i = 0; i < zip_get_num_entries(f->zip, 0); i++) {
        const char *name = zip_get_name(f->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        const size_t n = name ? strlen(name) : 0, m = sizeof ending - 1;
        if (n <= m || n - m >= sizeof f->prefix || strcmp(name + n - m, ending) != 0)
            continue;
        if (f->prefix[0])
            return REFUSE("pickle", "the archive has two entries data.pkl");
        memcpy(f->prefix, name, n - m);
    }
    return f->prefix[0] ? 0 : REFUSE("pickle", "the archive has no entry data.pkl");
}

static int read_zip(struct dg_torch_file *f, struct dg_error *err)
{
    char name[300];
    void *pickle = NULL, *order = NULL;
    zip_uint64_t size = 0, n = 0;
    struct dg_pickle *dict;
    int rc = find_prefix(f, err);
    snprintf(name, sizeof name, "%s/byteorder", f->prefix);
    if (!rc && zip_name_locate(f->zip, name, ZIP_FL_ENC_RAW) >= 0 &&
        !(rc = read_entry(f, name, 16, &order, &n, err)) &&
        (n != 6 || memcmp(order, "little", 6) != 0))
        rc = dg_error_field(err, DG_EUNSUP, "pickle", "its byte order is not little");
    snprintf(name, sizeof name, "%s/data.pkl", f->prefix);
    if (!rc)
        rc = read_entry(f, name, MAX_PICKLE, &pickle, &size, err);
    struct dg_input_cursor in = {0};
    if (!rc) {
        in = (struct dg_input_cursor){pickle, (const unsigned char *)pickle + size};
        rc = dg_pickle_read(&in, &f->arena, &dict, err);
    }
    if (!rc)
        rc = list_tensors(f, dict, &in, NULL, err);
    free(pickle);
    free(order);
    return rc;
}

static int open_zip(struct dg_torch_file *f, struct dg_error *err)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(f->bytes.at, size_of(f), 0, &error);
    f->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    int rc = 0;
    if (!f->zip) {
        rc = REFUSE("pickle", "no zip archive: %s", zip_error_strerror(&error));
        zip_source_free(source);
    }
    zip_error_fini(&error);
    if (!rc)
        rc = read_zip(f, err);
    if (f->zip)
        zip_discard(f->zip);
    f->zip = NULL;
    return rc;
}

/* Was the file written on a little-endian machine? */
static bool is_little(const struct dg_pickle *info)
{
    for (size_t i = 0; info->kind == DG_PICKLE_DICT && i + 1 < info->n; i += 2)
        if (info->items[i]->kind == DG_PICKLE_TEXT &&
            strcmp(info->items[i]->text, "little_endian") == 0)
            return info->items[i + 1]->kind == DG_PICKLE_BOOL && info->items[i + 1]->i;
    return false;
}

/* Reads torch's number, its protocol, the machine, the dictionary and the keys; then the elements.
 */
static int read_old(struct dg_torch_file *f, struct dg_error *err)
{
    static const unsigned char number[] = {
        0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
    struct dg_input_cursor in = f->bytes;
    struct dg_pickle *p[5];
    int rc = 0;
    for (int i = 0; i < 5 && !rc; i++) {
        rc = dg_pickle_read(&in, &f->arena, &p[i], err);
        if (!rc && i == 0 &&
            (p[0]->kind != DG_PICKLE_LONG || p[0]->n != sizeof number ||
                memcmp(p[0]->text, number, sizeof number) != 0))
            rc = REFUSE("pickle", "it does not begin with torch's number");
    }
    if (!rc && (p[1]->kind != DG_PICKLE_INT || p[1]->i != 1001 || !is_little(p[2])))
        rc = dg_error_field(err, DG_EUNSUP, "pickle",
            "its protocol is not 1001, or it is not of a little-endian machine");
    if (!rc && p[4]->kind != DG_PICKLE_LIST)
        rc = REFUSE("pickle", "it has no list of storages");
    return rc ? rc : list_tensors(f, p[3], &in, p[4], err);
}

int dg_torch_file_open(struct dg_input in, struct dg_torch_file **out, struct dg_error *err)
{
    struct dg_torch_file *f = calloc(1, sizeof *f);
    if (!f)
        return dg_error_set(err, DG_ENOMEM, "no memory for a file of tensors");
    dg_arena_init(&f->arena, 0);
    int rc = dg_input_open(&in, &f->map, &f->bytes, err);
    if (!rc)
        rc = dg_input_result(&in, is_zip(f) ? open_zip(f, err) : read_old(f, err), err);
    if (rc)
        dg_torch_file_close(f);
    else
        *out = f;
    return rc;
}

void dg_torch_file_close(struct dg_torch_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_storages; i++)
        free(f->storages[i].block);
    free(f->storages);
    dg_arena_deinit(&f->arena);
    dg_file_unmap(&f->map);
    free(f);
}

size_t dg_torch_file_count(const struct dg_torch_file *f)
{
    return f->n;
}

const struct dg_safetensor *dg_torch_file_at(const struct dg_torch_file *f, size_t i)
{
    return i < f->n ? &f->tensors[i] : NULL;
}
