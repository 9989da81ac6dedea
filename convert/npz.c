#include "convert/npz.h"

#include <zip.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARRAYS 8192
#define MAX_ELEMENTS ((uint64_t)1 << 36)
#define MAX_HEADER 4096 /* bytes of one .npy header: ours take 128 */

struct array {
    struct dg_npy npy;
    char *name;
    zip_uint64_t index;
    size_t header_bytes;
};

struct dg_npz {
    zip_t *zip;
    struct array *arrays;
    size_t n;
};

#define REFUSE(name, ...) dg_error_field(err, DG_EFORMAT, name, __VA_ARGS__)

/* The text of a .npy header: a Python dictionary of three entries. */
struct text {
    const char *p, *end;
};

static void skip_blanks(struct text *t)
{
    while (t->p < t->end && *t->p == ' ')
        t->p++;
}

static bool take(struct text *t, char c)
{
    skip_blanks(t);
    if (t->p >= t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(t);
    if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
        return false;
    t->p += n;
    return true;
}

/* Take a quoted string without escapes into out[cap]. */
static bool take_string(struct text *t, char *out, size_t cap)
{
    skip_blanks(t);
    if (t->p >= t->end || (*t->p != '\'' && *t->p != '"'))
        return false;
    char quote = *t->p++;
    size_t n = 0;
    while (t->p < t->end && *t->p != quote && *t->p != '\\' && n + 1 < cap)
        out[n++] = *t->p++;
    out[n] = '\0';
    return take(t, quote);
}

static bool take_number(struct text *t, uint64_t *value)
{
    skip_blanks(t);
    uint64_t v = 0;
    int digits = 0;
    while (t->p < t->end && *t->p >= '0' && *t->p <= '9' && digits < 13) {
        v = v * 10 + (uint64_t)(*t->p++ - '0');
        digits++;
    }
    *value = v;
    return digits > 0 && !(t->p < t->end && *t->p >= '0' && *t->p <= '9');
}

/* (), (3,), (3, 4), (3, 4,) */
static bool take_shape(struct text *t, struct dg_npy *a)
{
    if (!take(t, '('))
        return false;
    a->n_dims = 0;
    a->count = 1;
    while (!take(t, ')')) {
        uint64_t dim;
        if (a->n_dims == 4 || !take_number(t, &dim) || dim < 1 || dim > MAX_ELEMENTS / a->count)
            return false;
        a->shape[a->n_dims++] = dim;
        a->count *= dim;
        if (!take(t, ',')) {
            /* (3) is a number to Python, not a shape. */
            return a->n_dims > 1 && take(t, ')');
        }
    }
    return true;
}

static int take_type(struct text *t, const char *name, struct dg_npy *a, struct dg_error *err)
{
    char descr[32];
    if (!take_string(t, descr, sizeof descr))
        return REFUSE(name, "array %s: descr is not a type's name", name);
    /* Bytes have no byte order: NumPy writes '|', Marian's own writer its machine's order. */
    static const struct {
        const char *descr;
        enum dg_npy_type type;
    } types[] = {{"<f4", DG_NPY_F32}, {"<f2", DG_NPY_F16}, {"|i1", DG_NPY_BYTE},
        {"|u1", DG_NPY_BYTE}, {"<i1", DG_NPY_BYTE}, {"<u1", DG_NPY_BYTE}, {">i1", DG_NPY_BYTE}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(descr, types[i].descr) == 0) {
            a->type = types[i].type;
            return 0;
        }
    }
    return dg_error_field(err, DG_EUNSUP, name,
        "array %s: descr is '%s', only little-endian fp32 and fp16 ('<f4', '<f2') and bytes are "
        "supported",
        name, descr);
}

static int take_entry(
    struct text *t, const char *name, struct dg_npy *a, unsigned *seen, struct dg_error *err)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[32];
    unsigned which = 0;
    if (!take_string(t, key, sizeof key) || !take(t, ':'))
        return REFUSE(name, "array %s: its header is not a dictionary", name);
    while (which < 3 && strcmp(key, keys[which]) != 0)
        which++;
    if (which == 3 || (*seen & 1u << which))
        return REFUSE(name, "array %s: its header has %s '%s'", name,
            which == 3 ? "an unknown" : "a second", key);
    *seen |= 1u << which;
    if (which == 0)
        return take_type(t, name, a, err);
    if (which == 1) {
        if (take_word(t, "True"))
            return dg_error_field(err, DG_EUNSUP, name,
                "array %s: fortran_order is True, which is not supported", name);
        return take_word(t, "False")
                   ? 0
                   : REFUSE(name, "array %s: fortran_order is not a boolean", name);
    }
    return take_shape(t, a)
               ? 0
               : REFUSE(name, "array %s: shape is not a tuple of 0 to 4 sizes, each above 0", name);
}

static int parse_dictionary(
    const char *s, size_t n, const char *name, struct dg_npy *a, struct dg_error *err)
{
    struct text t = {s, s + n};
    unsigned seen = 0;
    if (!take(&t, '{'))
        return REFUSE(name, "array %s: its header is not a dictionary", name);
    while (!take(&t, '}')) {
        int rc = take_entry(&t, name, a, &seen, err);
        if (rc)
            return rc;
        if (!take(&t, ',')) {
            if (!take(&t, '}'))
                return REFUSE(name, "array %s: its header is not a dictionary", name);
            break;
        }
    }
    if (seen != 7)
        return REFUSE(name, "array %s: its header lacks descr, fortran_order or shape", name);
    skip_blanks(&t);
    if (t.p < t.end && *t.p == '\n')
        t.p++;
    if (t.p != t.end)
        return REFUSE(name, "array %s: something follows its header's dictionary", name);
    return 0;
}

static int read_exactly(
    zip_file_t *f, void *dst, uint64_t n, const char *name, struct dg_error *err)
{
    char *p = dst;
    while (n > 0) {
        zip_int64_t got = zip_fread(f, p, n);
        if (got < 0)
            return REFUSE(name, "array %s: %s", name, zip_error_strerror(zip_file_get_error(f)));
        if (got == 0)
            return REFUSE(name, "array %s: it ends %" PRIu64 " bytes early", name, n);
        p += got;
        n -= (uint64_t)got;
    }
    return 0;
}

/* Read the magic, the version and the dictionary; sets a->npy and a->header_bytes. */
static int read_header(zip_file_t *f, struct array *a, struct dg_error *err)
{
    unsigned char start[12];
    char text[MAX_HEADER];
    int rc = read_exactly(f, start, 10, a->name, err);
    if (rc)
        return rc;
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return REFUSE(a->name, "array %s: it does not begin with NumPy's magic", a->name);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return REFUSE(a->name, "array %s: .npy version is %u.%u, expected 1.0 to 3.0", a->name,
            start[6], start[7]);
    size_t prefix = 10, length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) { /* a length of four bytes */
        rc = read_exactly(f, start + 10, 2, a->name, err);
        if (rc)
            return rc;
        prefix = 12;
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > sizeof text)
        return REFUSE(a->name, "array %s: its header has %zu bytes, expected at most %zu", a->name,
            length, sizeof text);
    rc = read_exactly(f, text, length, a->name, err);
    a->header_bytes = prefix + length;
    return rc ? rc : parse_dictionary(text, length, a->name, &a->npy, err);
}

static uint64_t data_bytes(const struct dg_npy *a)
{
    return a->count * (a->type == DG_NPY_F32 ? 4 : a->type == DG_NPY_F16 ? 2 : 1);
}

/* Read the name and the header of entry i, and check that the sizes agree before anyone allocates
 * memory for them. */
static int read_entry(struct dg_npz *z, zip_uint64_t i, struct array *a, struct dg_error *err)
{
    zip_stat_t st;
    const zip_uint64_t wanted = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat_index(z->zip, i, ZIP_FL_ENC_RAW, &st) != 0 || (st.valid & wanted) != wanted)
        return REFUSE("npz", "entry %" PRIu64 ": %s", (uint64_t)i, zip_strerror(z->zip));
    size_t n = strlen(st.name);
    if (n < 5 || n > 255 || strcmp(st.name + n - 4, ".npy") != 0)
        return REFUSE("npz", "entry %" PRIu64 " is \"%.60s\", which is not a .npy array",
            (uint64_t)i, st.name);
    a->name = strndup(st.name, n - 4);
    if (!a->name)
        return dg_error_set(err, DG_ENOMEM, "no memory for an array's name");
    a->npy.name = a->name;
    a->index = i;
    /* Deflate cannot do better than 1032 : 1, so a larger claim is malicious. */
    if (st.size / 1100 > st.comp_size)
        return REFUSE(a->name, "array %s: %" PRIu64 " bytes from %" PRIu64 " compressed ones",
            a->name, (uint64_t)st.size, (uint64_t)st.comp_size);
    zip_file_t *f = zip_fopen_index(z->zip, i, 0);
    if (!f)
        return REFUSE(a->name, "array %s: %s", a->name, zip_strerror(z->zip));
    int rc = read_header(f, a, err);
    zip_fclose(f);
    if (!rc && st.size - a->header_bytes != data_bytes(&a->npy))
        rc = REFUSE(a->name, "array %s: shape takes %" PRIu64 " bytes, the entry holds %" PRIu64,
            a->name, data_bytes(&a->npy), (uint64_t)st.size - a->header_bytes);
    return rc;
}

static int read_entries(struct dg_npz *z, struct dg_error *err)
{
    zip_int64_t n = zip_get_num_entries(z->zip, 0);
    if (n < 1 || n > MAX_ARRAYS)
        return REFUSE(
            "npz", "the archive has %" PRId64 " entries, expected 1 to %d", (int64_t)n, MAX_ARRAYS);
    z->arrays = calloc((size_t)n, sizeof *z->arrays);
    if (!z->arrays)
        return dg_error_set(err, DG_ENOMEM, "no memory for %" PRId64 " arrays", (int64_t)n);
    for (zip_int64_t i = 0; i < n; i++) {
        struct array *a = &z->arrays[z->n++]; /* counted first: close frees its name */
        int rc = read_entry(z, (zip_uint64_t)i, a, err);
        if (rc)
            return rc;
        if (dg_npz_find(z, a->name) != &a->npy)
            return REFUSE(a->name, "array %s is there twice", a->name);
    }
    return 0;
}

static int open_source(
    zip_source_t *source, zip_error_t *error, struct dg_npz **out, struct dg_error *err)
{
    struct dg_npz *z = calloc(1, sizeof *z);
    if (!z) {
        zip_source_free(source);
        return dg_error_set(err, DG_ENOMEM, "no memory for an archive");
    }
    int rc = 0;
    z->zip = source ? zip_open_from_source(source, ZIP_RDONLY, error) : NULL;
    if (!z->zip) {
        int why = zip_error_code_zip(error);
        int code = why == ZIP_ER_NOENT                        ? DG_ENOTFOUND
                   : why == ZIP_ER_OPEN || why == ZIP_ER_READ ? DG_EIO
                                                              : DG_EFORMAT;
        rc = dg_error_field(err, code, "npz", "%s: %s",
            code == DG_EFORMAT ? "no zip archive" : "cannot be opened", zip_error_strerror(error));
        zip_source_free(source);
    }
    if (!rc)
        rc = read_entries(z, err);
    if (rc) {
        dg_npz_close(z);
        return rc;
    }
    *out = z;
    return 0;
}

int dg_npz_open(struct dg_input in, struct dg_npz **out, struct dg_error *err)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = in.path ? zip_source_file_create(in.path, 0, -1, &error)
                                   : zip_source_buffer_create(in.data, in.size, 0, &error);
    int rc = dg_input_result(&in, open_source(source, &error, out, err), err);
    zip_error_fini(&error);
    return rc;
}

void dg_npz_close(struct dg_npz *z)
{
    if (!z)
        return;
    for (size_t i = 0; i < z->n; i++)
        free(z->arrays[i].name);
    free(z->arrays);
    if (z->zip)
        zip_discard(z->zip);
    free(z);
}

size_t dg_npz_count(const struct dg_npz *z)
{
    return z->n;
}

const struct dg_npy *dg_npz_at(const struct dg_npz *z, size_t i)
{
    return i < z->n ? &z->arrays[i].npy : NULL;
}

const struct dg_npy *dg_npz_find(const struct dg_npz *z, const char *name)
{
    for (size_t i = 0; i < z->n; i++) {
        if (strcmp(z->arrays[i].name, name) == 0)
            return &z->arrays[i].npy;
    }
    return NULL;
}

int dg_npz_read(struct dg_npz *z, const struct dg_npy *array, void *dst, struct dg_error *err)
{
    const struct array *a = (const void *)((const char *)array - offsetof(struct array, npy));
    char skipped[MAX_HEADER + 12], past;
    zip_file_t *f = zip_fopen_index(z->zip, a->index, 0);
    if (!f)
        return REFUSE(a->name, "array %s: %s", a->name, zip_strerror(z->zip));
    int rc = read_exactly(f, skipped, a->header_bytes, a->name, err);
    if (!rc)
        rc = read_exactly(f, dst, data_bytes(array), a->name, err);
    /* One read past the end makes libzip compare the CRC. */
    if (!rc && zip_fread(f, &past, 1) != 0)
        rc = REFUSE(a->name, "array %s: %s", a->name, zip_error_strerror(zip_file_get_error(f)));
    zip_fclose(f);
    return rc;
}
