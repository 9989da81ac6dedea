#include "cli/lines.h"

#include "base/alloc.h"
#include "text/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 65536 };

static char standard_input[] = "-";
static char *const only_standard_input[] = {standard_input};

struct dg_lines {
    /* [n] */
    char *const *paths;
    size_t n, at;
    /* Descriptor of paths[at]; -1: it is not open yet. */
    int fd;
    /* Nothing of that file was returned yet. */
    bool begins;
    /* Bytes read so far: the next line begins at `begin`; no line ends before `searched`. */
    char *data;
    size_t begin, searched, end, cap;
    /* Bytes of all files, and how many of them were read; total 0: unknown. */
    double total, done;
};

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

static const char *shown(const struct dg_lines *l)
{
    return is_standard_input(l->paths[l->at]) ? "standard input" : l->paths[l->at];
}

int dg_lines_open(char *const *paths, size_t n, struct dg_lines **out, struct dg_error *err)
{
    struct dg_lines *l = dg_alloc(1, sizeof *l, "the input");
    *out = l;
    l->paths = n ? paths : only_standard_input;
    l->n = n ? n : 1;
    l->fd = -1;
    bool known = true;
    for (l->at = 0; l->at < l->n; l->at++) {
        struct stat st;
        const bool in = is_standard_input(l->paths[l->at]);
        if ((in ? fstat(STDIN_FILENO, &st) : stat(l->paths[l->at], &st)) != 0 ||
            (!in && access(l->paths[l->at], R_OK) != 0)) {
            int rc = dg_error_set(err, DG_EIO, "%s: %s", shown(l), strerror(errno));
            dg_lines_close(l);
            *out = NULL;
            return rc;
        }
        known = known && S_ISREG(st.st_mode);
        l->total += (double)st.st_size;
    }
    l->at = 0;
    l->total = known ? l->total : 0;
    return DG_OK;
}

void dg_lines_close(struct dg_lines *l)
{
    if (!l)
        return;
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    free(l->data);
    free(l);
}

double dg_lines_share(const struct dg_lines *l)
{
    return l->total > 0 ? (l->done - (double)(l->end - l->begin)) / l->total : -1;
}

/* Make room for another block after the bytes not yet returned. */
static void make_room(struct dg_lines *l)
{
    if (l->begin)
        memmove(l->data, l->data + l->begin, l->end - l->begin);
    l->end -= l->begin;
    l->searched -= l->begin;
    l->begin = 0;
    if (l->cap - l->end >= BLOCK)
        return;
    const size_t cap = 2 * l->cap + BLOCK;
    l->data = dg_alloc_more(l->data, cap, 1, "a line");
    l->cap = cap;
}

/* Read at least one byte; *got is 0 at the file's end. */
static int read_block(struct dg_lines *l, bool wait, size_t *got, struct dg_error *err)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    ssize_t n;
    if (!wait && poll(&p, 1, 0) == 0)
        return DG_EAGAIN;
    make_room(l);
    do
        n = read(l->fd, l->data + l->end, BLOCK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return dg_error_set(err, DG_EIO, "%s cannot be read: %s", shown(l), strerror(errno));
    *got = (size_t)n;
    l->end += *got;
    l->done += (double)*got;
    return DG_OK;
}

static int open_next(struct dg_lines *l, struct dg_error *err)
{
    l->begins = true;
    l->fd = is_standard_input(l->paths[l->at]) ? STDIN_FILENO
                                               : open(l->paths[l->at], O_RDONLY | O_CLOEXEC);
    return l->fd >= 0 ? DG_OK : dg_error_set(err, DG_EIO, "%s: %s", shown(l), strerror(errno));
}

/* Step over a byte order mark, with which some programs begin UTF-8 files. */
static void skip_mark(struct dg_lines *l)
{
    if (l->begins)
        l->begin += dg_utf8_bom(l->data + l->begin, l->end - l->begin);
    l->begins = false;
}

static void take(struct dg_lines *l, size_t n, size_t end, const char **text, size_t *len)
{
    *text = l->data + l->begin;
    *len = n;
    l->begin += n + end;
    l->searched = l->begin;
}

int dg_lines_next(
    struct dg_lines *l, bool wait, const char **text, size_t *len, struct dg_error *err)
{
    *text = NULL;
    while (l->at < l->n) {
        size_t got = 0;
        int rc = l->fd < 0 ? open_next(l, err) : DG_OK;
        if (rc)
            return rc;
        const char *line_end =
            l->data ? memchr(l->data + l->searched, '\n', l->end - l->searched) : NULL;
        if (line_end) {
            skip_mark(l);
            take(l, (size_t)(line_end - l->data) - l->begin, 1, text, len);
            return DG_OK;
        }
        l->searched = l->end;
        rc = read_block(l, wait, &got, err);
        if (rc)
            return rc;
        if (got)
            continue;
        /* The end of this file: the rest is a line without a line end. */
        if (l->fd > STDIN_FILENO)
            close(l->fd);
        l->fd = -1;
        l->at++;
        skip_mark(l);
        if (l->end > l->begin) {
            take(l, l->end - l->begin, 0, text, len);
            return DG_OK;
        }
    }
    return DG_OK;
}
