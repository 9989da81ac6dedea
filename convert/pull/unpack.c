#include "convert/pull/unpack.h"

#include "base/file.h"

#include <archive.h>
#include <archive_entry.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, ENTRIES = 10000, NAME_MAX_BYTES = 1000 };

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), k = strlen(end);
    return n > k && strcasecmp(s + n - k, end) == 0;
}

bool dg_unpack_is_archive(const char *name)
{
    static const char *const ends[] = {
        ".zip", ".argosmodel", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_in(name, ends[i]))
            return true;
    return false;
}

bool dg_unpack_is_compressed(const char *name, char *out, size_t cap)
{
    static const char *const ends[] = {".gz", ".zst"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_in(name, ends[i]) && !dg_unpack_is_archive(name)) {
            snprintf(out, cap, "%.*s", (int)(strlen(name) - strlen(ends[i])), name);
            return true;
        }
    return false;
}

/* True if the name is relative and no part of it is "..", so that it stays in the folder. */
static bool stays_inside(const char *name)
{
    if (!name || !name[0] || name[0] == '/' || strchr(name, '\\') || strlen(name) > NAME_MAX_BYTES)
        return false;
    for (const char *part = name; *part; part += strcspn(part, "/"), part += *part == '/')
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    return true;
}

/* libarchive says what failed; if the system refused, its reason is added. */
static int fail(const char *path, const char *what, struct archive *a, struct dg_error *err)
{
    const int why = archive_errno(a);
    const bool system = why == EIO || why == EACCES || why == ENOMEM || why == EMFILE;
    return dg_error_set(err, system ? DG_EIO : DG_EFORMAT, "%.300s%s: %.150s%s%s", path, what,
        archive_error_string(a) ? archive_error_string(a) : "cannot be read", system ? ": " : "",
        system ? strerror(why) : "");
}

/* Copy the entry's bytes, and subtract them from *left, the bytes that may still be unpacked. */
static int copy_data(
    struct archive *a, const char *name, const char *to, uint64_t *left, struct dg_error *err)
{
    static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    char block[BLOCK];
    la_ssize_t n;
    const int fd = open(to, flags, 0644);
    if (fd < 0)
        return dg_error_set(err, errno == EEXIST ? DG_EFORMAT : DG_EIO, "%.200s: cannot write: %s",
            name, errno == EEXIST ? "two entries have that name" : strerror(errno));
    int rc = 0;
    while (!rc && (n = archive_read_data(a, block, sizeof block)) > 0) {
        if ((uint64_t)n > *left)
            rc = dg_error_set(
                err, DG_ELIMIT, "%.200s: the unpacked size exceeds the limit: refused", name);
        else if (!dg_file_put(fd, block, (size_t)n))
            rc = dg_error_set(err, DG_EIO, "%.200s: cannot write: %s", to, strerror(errno));
        else
            *left -= (uint64_t)n;
    }
    if (!rc && n < 0)
        rc = fail(name, "", a, err);
    if (close(fd) != 0 && !rc)
        rc = dg_error_set(err, DG_EIO, "%.200s: cannot write: %s", to, strerror(errno));
    return rc;
}

static int make_parents(char *path, struct dg_error *err)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int rc = dg_file_make_dir(path, err);
    *slash = '/';
    return rc;
}

static int take_entry(struct archive *a, struct archive_entry *e, const char *dir, uint64_t *left,
    struct dg_error *err)
{
    const char *name = archive_entry_pathname(e);
    char to[4096 + NAME_MAX_BYTES];
    if (!stays_inside(name))
        return dg_error_set(err, DG_EFORMAT,
            "the archive has an entry \"%.200s\", which would leave its folder: refused",
            name ? name : "");
    if (archive_entry_hardlink(e) || archive_entry_symlink(e) ||
        (archive_entry_filetype(e) != AE_IFREG && archive_entry_filetype(e) != AE_IFDIR))
        return dg_error_set(err, DG_EFORMAT,
            "the archive's entry %.200s is neither a file nor a folder: refused", name);
    if (archive_entry_filetype(e) == AE_IFDIR)
        return 0;
    snprintf(to, sizeof to, "%.4000s/%s", dir, name);
    int rc = make_parents(to, err);
    return rc ? rc : copy_data(a, name, to, left, err);
}

static int open_archive(struct archive **out, const char *path, bool raw, struct dg_error *err)
{
    struct archive *a = archive_read_new();
    if (!a)
        return dg_error_set(err, DG_ENOMEM, "no memory for an archive");
    *out = a;
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_zstd(a);
    if (raw) {
        archive_read_support_format_raw(a);
    } else {
        archive_read_support_filter_bzip2(a);
        archive_read_support_filter_xz(a);
        archive_read_support_format_tar(a);
        archive_read_support_format_zip(a);
    }
    if (archive_read_open_filename(a, path, BLOCK) != ARCHIVE_OK)
        return fail(path, " cannot be unpacked", a, err);
    return 0;
}

int dg_unpack_archive(const char *path, const char *dir, uint64_t most, struct dg_error *err)
{
    struct archive *a = NULL;
    struct archive_entry *e;
    int status = ARCHIVE_OK, rc = open_archive(&a, path, false, err);
    for (int i = 0; !rc && (status = archive_read_next_header(a, &e)) != ARCHIVE_EOF; i++) {
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            rc = fail(path, "", a, err);
        else if (i == ENTRIES)
            rc = dg_error_set(
                err, DG_ELIMIT, "%.300s has more than %d entries: refused", path, ENTRIES);
        else
            rc = take_entry(a, e, dir, &most, err);
    }
    archive_read_free(a);
    return rc;
}

int dg_unpack_file(const char *path, const char *to, uint64_t most, struct dg_error *err)
{
    struct archive *a = NULL;
    struct archive_entry *e;
    int rc = open_archive(&a, path, true, err);
    if (!rc && archive_read_next_header(a, &e) != ARCHIVE_OK)
        rc = fail(path, "", a, err);
    if (!rc && archive_filter_count(a) < 2) /* the raw file counts as one */
        rc = dg_error_set(err, DG_EFORMAT, "%.300s is not compressed as its name says", path);
    if (!rc)
        rc = copy_data(a, path, to, &most, err);
    archive_read_free(a);
    return rc;
}
