#include "convert/pull/install.h"

#include "base/file.h"
#include "convert/input.h"
#include "convert/pull/contents.h"
#include "convert/pull/digest.h"
#include "convert/pull/tree.h"
#include "convert/pull/unpack.h"
#include "weights/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Models hardly shrink when they are compressed; their texts shrink to a fifth. */
#define GROWTH 20
#define GROWTH_BYTES (16u << 20)
#define MOST_BYTES (32ULL << 30)

const char *const dg_install_types[] = {"int8", "f32", "f16", "bf16", NULL};

struct job {
    const struct dg_install *o;
    /* Hidden folders beside the bundle: for unpacked files, and for the bundle being made. */
    char unpacked[4200], staging[4200];
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int hash_file(const char *path, char sha256[DG_SHA256_DIGITS + 1], struct dg_error *err)
{
    struct dg_map map = {0};
    char git[DG_GIT_DIGITS + 1];
    struct dg_digest digest;
    int rc = dg_file_map(path, &map, err);
    if (rc)
        return rc;
    dg_digest_begin(&digest, map.size);
    dg_digest_add(&digest, map.data, map.size);
    dg_digest_end(&digest, sha256, git);
    dg_file_unmap(&map);
    return 0;
}

static int check_unpacked(const struct dg_install_file *f, const char *path, struct dg_error *err)
{
    char sha256[DG_SHA256_DIGITS + 1];
    struct stat st;
    if (f->unpacked_size && (stat(path, &st) != 0 || (uint64_t)st.st_size != f->unpacked_size))
        return dg_error_set(err, DG_EFORMAT,
            "%.200s: the unpacked size is not the expected %llu bytes", base_name(f->path),
            (unsigned long long)f->unpacked_size);
    int rc = f->unpacked_sha256[0] ? hash_file(path, sha256, err) : 0;
    if (!rc && f->unpacked_sha256[0] && strcmp(sha256, f->unpacked_sha256) != 0)
        rc = dg_error_set(err, DG_EFORMAT, "%.200s: the unpacked file's sha256 is %s, expected %s",
            base_name(f->path), sha256, f->unpacked_sha256);
    return rc;
}

/* Maximum number of bytes that may be unpacked from a file of that size. */
static uint64_t most_of(const struct dg_install_file *f, uint64_t size)
{
    if (f->unpacked_size)
        return f->unpacked_size;
    const uint64_t most = GROWTH * size + GROWTH_BYTES;
    return most < MOST_BYTES ? most : MOST_BYTES;
}

/* Put one of the files into the common folder: unpacked, or as a symbolic link. */
static int gather_file(struct job *j, const struct dg_install_file *f, struct dg_error *err)
{
    char plain[256], to[4500], *real = realpath(f->path, NULL);
    struct stat st;
    int rc = 0;
    if (!real || stat(real, &st) != 0) {
        free(real);
        return dg_error_set(err, DG_ENOTFOUND, "%.300s: %s", f->path, strerror(errno));
    }
    if (dg_unpack_is_archive(f->path)) {
        rc = dg_unpack_archive(real, j->unpacked, most_of(f, (uint64_t)st.st_size), err);
    } else if (dg_unpack_is_compressed(base_name(f->path), plain, sizeof plain)) {
        snprintf(to, sizeof to, "%s/%s", j->unpacked, plain);
        rc = dg_unpack_file(real, to, most_of(f, (uint64_t)st.st_size), err);
        if (!rc)
            rc = check_unpacked(f, to, err);
    } else {
        snprintf(to, sizeof to, "%s/%.255s", j->unpacked, base_name(f->path));
        if (symlink(real, to) != 0)
            rc = dg_error_set(err, DG_EIO, "%.200s: %s", to, strerror(errno));
    }
    free(real);
    return rc;
}

static struct dg_json *describe_file(const struct dg_install_file *f)
{
    struct dg_json *o = dg_json_new_object();
    const char *url = f->url ? f->url : base_name(f->path);
    dg_json_set_string(o, f->url ? "url" : "file", url);
    if (f->sha256[0]) {
        dg_json_set_int(o, "size", (int64_t)f->size);
        dg_json_set_string(o, "sha256", f->sha256);
        dg_json_set_bool(o, "verified", f->verified);
    }
    return o;
}

/* What the model was installed from and with which options. */
static struct dg_json *describe_origin(const struct dg_install *o)
{
    struct dg_json *origin = dg_json_new_object(), *files = dg_json_new_array();
    for (size_t i = 0; i < o->n_files; i++)
        dg_json_append_take(files, describe_file(&o->files[i]));
    int bad = dg_json_set_string(origin, "source", o->source);
    bad |= dg_json_set_string(origin, "type", o->type);
    bad |= o->source_lang ? dg_json_set_string(origin, "source_lang", o->source_lang) : 0;
    bad |= o->target_lang ? dg_json_set_string(origin, "target_lang", o->target_lang) : 0;
    bad |= dg_json_set_take(origin, "files", files);
    if (!bad)
        return origin;
    dg_json_free(origin);
    return NULL;
}

/* Record the bundle's origin in its manifest. */
static int sign(const struct job *j, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_open(j->staging, &b, err);
    if (rc)
        return rc;
    struct dg_json *m = dg_json_copy(dg_bundle_manifest(b));
    int bad = dg_json_set_take(m, "origin", describe_origin(j->o));
    bad |= j->o->name ? dg_json_set_string(m, "name", j->o->name) : 0;
    rc = bad ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest, or its text is not UTF-8")
             : dg_bundle_seal(j->staging, m, err);
    dg_json_free(m);
    dg_bundle_close(b);
    return rc;
}

/* The name may come from an installed model's manifest. */
static int find_type(const char *name, enum dg_type *out, struct dg_error *err)
{
    static const enum dg_type types[] = {DG_S8, DG_F32, DG_F16, DG_BF16};
    for (size_t i = 0; dg_install_types[i]; i++)
        if (strcmp(dg_install_types[i], name) == 0) {
            *out = types[i];
            return 0;
        }
    return dg_error_field(
        err, DG_EINVAL, "type", "the type is \"%.60s\", expected int8, f32, f16 or bf16", name);
}

/* Runs in the child. */
static int work(void *arg, struct dg_child_report *report, struct dg_error *err)
{
    struct job *j = arg;
    const struct dg_install *o = j->o;
    enum dg_type type = DG_S8;
    const bool folder = o->n_files == 1 && dg_file_is_folder(o->files[0].path);
    struct dg_contents contents;
    int rc = find_type(o->type, &type, err);
    if (!rc)
        rc = dg_file_make_dir(j->unpacked, err);
    for (size_t i = 0; i < o->n_files && !rc && !folder; i++)
        rc = dg_file_is_folder(o->files[i].path)
                 ? dg_error_set(
                       err, DG_EINVAL, "%.200s is a directory: give it alone", o->files[i].path)
                 : gather_file(j, &o->files[i], err);
    if (!rc)
        rc = dg_contents_find(folder ? o->files[0].path : j->unpacked, &contents, err);
    const struct dg_convert_to to = {.source_lang = o->source_lang,
        .target_lang = o->target_lang,
        .out = j->staging,
        .name = o->name,
        .licence = o->licence,
        .type = type};
    if (!rc)
        rc = dg_contents_convert(&contents, &to, err);
    if (!rc)
        rc = sign(j, err);
    return rc ? rc : o->prove(j->staging, report, err);
}

static int open_lock(const char *models, int *fd, struct dg_error *err)
{
    char path[4200];
    int rc = strlen(models) > 4000
                 ? dg_error_set(err, DG_EINVAL, "the path %.200s... is too long", models)
                 : dg_file_make_dir(models, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%.4100s/.pull.lock", models);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    return *fd >= 0 ? 0
                    : dg_error_set(err, DG_EIO,
                          "cannot write to %.300s: %s; name another directory with --models or "
                          "DRAGOMAN_MODELS",
                          models, strerror(errno));
}

/* Allow one install at a time, so that any hidden folders found are left over. */
static int lock(const char *models, int *fd, struct dg_error *err)
{
    int rc = open_lock(models, fd, err);
    if (rc || flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return rc;
    close(*fd);
    *fd = -1;
    return dg_error_set(err, DG_EAGAIN, "another pull installs into %.300s", models);
}

int dg_install_check(const char *models, struct dg_error *err)
{
    int fd = -1, rc = open_lock(models, &fd, err);
    if (fd >= 0)
        close(fd);
    return rc;
}

int dg_install_look(
    const char *models, const char *name, struct dg_json **manifest, struct dg_error *err)
{
    char path[4500];
    *manifest = NULL;
    if (!name[0] || name[0] == '.' || strchr(name, '/') || strlen(name) > 120)
        return dg_error_field(err, DG_EINVAL, "name",
            "the name is \"%.130s\", expected a plain name of a directory", name);
    snprintf(path, sizeof path, "%.4200s/%s", models, name);
    if (access(path, F_OK) != 0)
        return 0;
    snprintf(path, sizeof path, "%.4200s/%s/manifest.json", models, name);
    *manifest = access(path, F_OK) == 0 ? dg_json_load(path, err) : NULL;
    if (dg_json_get(*manifest, "origin"))
        return 0;
    dg_json_free(*manifest);
    *manifest = NULL;
    return dg_error_field(err, DG_EINVAL, "name",
        "%.200s/%s was not installed by `dragoman pull` and is not replaced (--name "
        "chooses another directory)",
        models, name);
}

/* Move the bundle into place. Without a given name it has the converter's, which is in the
 * manifest. */
static int put_in_place(const struct job *j, struct dg_child_report *out, struct dg_error *err)
{
    const struct dg_install *o = j->o;
    struct dg_json *staged = NULL, *there = NULL;
    char path[4500];
    snprintf(path, sizeof path, "%s/manifest.json", j->staging);
    staged = dg_json_load(path, err);
    if (!staged)
        return err && err->code ? err->code : DG_EIO;
    const char *name = o->name ? o->name : dg_json_string(dg_json_get(staged, "name"), NULL);
    int rc = dg_install_look(o->models, name ? name : "", &there, err);
    if (!rc) {
        snprintf(path, sizeof path, "%.4200s/%s", o->models, name);
        rc = dg_tree_replace(j->staging, path, err);
        snprintf(out->name, sizeof out->name, "%.127s", name);
    }
    dg_json_free(there);
    dg_json_free(staged);
    return rc;
}

int dg_install(const struct dg_install *o, struct dg_child_report *out, struct dg_error *err)
{
    struct job j = {.o = o};
    int fd = -1;
    int rc = lock(o->models, &fd, err);
    snprintf(j.unpacked, sizeof j.unpacked, "%.4000s/.pull-files", o->models);
    snprintf(j.staging, sizeof j.staging, "%.4000s/.pull-bundle", o->models);
    if (!rc)
        rc = dg_tree_remove(j.unpacked, err);
    if (!rc)
        rc = dg_tree_remove(j.staging, err);
    if (!rc)
        rc = dg_child_run(work, &j, out, err);
    if (!rc)
        rc = put_in_place(&j, out, err);
    if (fd >= 0) {
        struct dg_error ignored = {0};
        dg_tree_remove(j.unpacked, &ignored);
        if (rc)
            dg_tree_remove(j.staging, &ignored);
        close(fd);
    }
    return rc;
}

int dg_install_remove(const char *models, const char *name, struct dg_error *err)
{
    char path[4500], hidden[4500];
    struct dg_json *there = NULL;
    int rc = dg_install_look(models, name, &there, err);
    if (!rc && !there)
        rc = dg_error_field(
            err, DG_ENOTFOUND, "name", "%.200s has no model \"%.120s\"", models, name);
    dg_json_free(there);
    if (rc)
        return rc;
    /* Rename it to a hidden name first, so that nobody finds half of it. */
    snprintf(path, sizeof path, "%.4200s/%s", models, name);
    snprintf(hidden, sizeof hidden, "%.4200s/.removed-%s-%ld", models, name, (long)getpid());
    if (rename(path, hidden) != 0)
        return dg_error_set(err, DG_EIO, "cannot remove %.300s: %s", path, strerror(errno));
    return dg_tree_remove(hidden, err);
}
