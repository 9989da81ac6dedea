#include "convert/pull/part.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAIL(what) dg_error_set(err, DG_EIO, what " %.300s: %s", p->path, strerror(errno))

static bool has_hash(const struct dg_download *f)
{
    return (f->sha256 && f->sha256[0]) || (f->git && f->git[0]);
}

int dg_part_restart(struct dg_part *p, struct dg_error *err)
{
    if (ftruncate(p->fd, 0) != 0 || lseek(p->fd, 0, SEEK_SET) != 0)
        return FAIL("cannot empty");
    unlink(p->etag_path);
    p->have = 0;
    p->found = false;
    p->etag[0] = '\0';
    dg_digest_begin(&p->digest, p->f->size);
    return 0;
}

static int read_what_is_there(struct dg_part *p, struct dg_error *err)
{
    char chunk[65536];
    ssize_t n;
    while ((n = read(p->fd, chunk, sizeof chunk)) > 0) {
        dg_digest_add(&p->digest, chunk, (size_t)n);
        p->have += (uint64_t)n;
    }
    p->found = p->have > 0;
    return n < 0 ? FAIL("cannot read") : 0;
}

static void read_etag(struct dg_part *p)
{
    FILE *f = fopen(p->etag_path, "re");
    if (!f)
        return;
    if (fgets(p->etag, sizeof p->etag, f))
        p->etag[strcspn(p->etag, "\n")] = '\0';
    fclose(f);
}

int dg_part_open(struct dg_part *p, const struct dg_download *f, struct dg_error *err)
{
    *p = (struct dg_part){.f = f, .fd = -1};
    if (strlen(f->path) > sizeof p->path - 8)
        return dg_error_set(err, DG_EINVAL, "the path %.200s... is too long", f->path);
    snprintf(p->path, sizeof p->path, "%.4080s.part", f->path);
    snprintf(p->etag_path, sizeof p->etag_path, "%s.etag", p->path);
    dg_digest_begin(&p->digest, f->size);
    p->fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (p->fd < 0)
        return FAIL("cannot write");
    if (flock(p->fd, LOCK_EX | LOCK_NB) != 0)
        return dg_error_set(err, DG_EAGAIN, "another run is writing %.300s", p->path);
    p->locked = true;
    int rc = read_what_is_there(p, err);
    read_etag(p);
    /* Without a hash or an ETag, nobody would notice two halves of two versions. */
    if (!rc && ((f->size && p->have > f->size) || (p->have && !has_hash(f) && !p->etag[0])))
        rc = dg_part_restart(p, err);
    if (has_hash(f))
        p->etag[0] = '\0';
    return rc;
}

int dg_part_append(struct dg_part *p, const void *data, size_t n, struct dg_error *err)
{
    if (!dg_file_put(p->fd, data, n))
        return FAIL("cannot write");
    dg_digest_add(&p->digest, data, n);
    p->have += n;
    return 0;
}

int dg_part_note_etag(struct dg_part *p, const char *etag, struct dg_error *err)
{
    if (has_hash(p->f) || strcmp(p->etag, etag) == 0)
        return 0;
    /* A weak ETag ("W/...") may stay the same for other bytes. */
    snprintf(p->etag, sizeof p->etag, "%.255s", etag[0] == '"' ? etag : "");
    if (!p->etag[0]) {
        unlink(p->etag_path);
        return 0;
    }
    FILE *f = fopen(p->etag_path, "we");
    const bool written = f && fprintf(f, "%s\n", p->etag) > 0;
    if ((f && fclose(f) != 0) || !written)
        return dg_error_set(err, DG_EIO, "cannot write %.300s: %s", p->etag_path, strerror(errno));
    return 0;
}

static int compare(const struct dg_part *p, struct dg_downloaded *out, struct dg_error *err)
{
    char git[DG_GIT_DIGITS + 1];
    const struct dg_download *f = p->f;
    struct dg_digest digest = p->digest;
    dg_digest_end(&digest, out->sha256, git);
    out->size = p->have;
    if (f->size && p->have != f->size)
        return dg_error_set(err, DG_EFORMAT, "%.200s: it has %llu bytes, %llu are expected", f->url,
            (unsigned long long)p->have, (unsigned long long)f->size);
    if (f->sha256 && f->sha256[0] && strcmp(f->sha256, out->sha256) != 0)
        return dg_error_set(err, DG_EFORMAT, "%.200s: its sha256 is %s, expected %s", f->url,
            out->sha256, f->sha256);
    if (f->git && f->git[0] && strcmp(f->git, git) != 0)
        return dg_error_set(
            err, DG_EFORMAT, "%.200s: git's hash of it is %s, expected %s", f->url, git, f->git);
    return 0;
}

bool dg_part_is_right(const struct dg_part *p)
{
    struct dg_downloaded ignored;
    return compare(p, &ignored, NULL) == 0;
}

bool dg_part_is_finished(const struct dg_download *f, struct dg_downloaded *out)
{
    struct dg_part p = {.f = f, .fd = -1};
    if (has_hash(f))
        p.fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (p.fd < 0)
        return false;
    dg_digest_begin(&p.digest, f->size);
    const bool right = read_what_is_there(&p, NULL) == 0 && compare(&p, out, NULL) == 0;
    close(p.fd);
    return right;
}

int dg_part_finish(struct dg_part *p, struct dg_downloaded *out, struct dg_error *err)
{
    int rc = compare(p, out, err);
    if (rc) {
        unlink(p->path);
        unlink(p->etag_path);
        return rc;
    }
    if (fsync(p->fd) != 0 || rename(p->path, p->f->path) != 0)
        return FAIL("cannot finish");
    unlink(p->etag_path);
    return 0;
}

void dg_part_close(struct dg_part *p)
{
    if (p->fd < 0)
        return;
    if (p->locked && !p->have)
        unlink(p->path);
    close(p->fd);
    p->fd = -1;
}
