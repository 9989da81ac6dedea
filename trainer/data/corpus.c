/* DESIGN. zlib reads plain files as they are, so there is one path for both kinds. Lines are cut
 * out of one block; a line that crosses the end of the block is first moved to its front, and the
 * block grows only as far as the longest line requires. */
#include "trainer/data/corpus.h"

#include "base/alloc.h"
#include "text/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BLOCK_BYTES ((size_t)1 << 17)
#define MAX_FILES 3

struct dg_corpus_lines {
    gzFile file;
    char *path;
    char *block;
    /* unread bytes are block[begin, end) */
    size_t cap, begin, end;
    bool at_end;
    /* the rest of the line that was read last is to be skipped */
    bool skipping;
    uint64_t number;
};

struct dg_corpus {
    struct dg_corpus_lines *files[MAX_FILES];
    size_t n;
};

int dg_corpus_lines_open(const char *path, struct dg_corpus_lines **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_corpus_lines *l = dg_alloc(1, sizeof *l, "a text file");
    l->path = dg_alloc_string(path);
    l->block = dg_alloc_more(NULL, BLOCK_BYTES, 1, "a text file");
    l->cap = BLOCK_BYTES;
    errno = 0;
    l->file = gzopen(path, "rb");
    if (!l->file) {
        int code = errno == ENOENT ? DG_ENOTFOUND : errno ? DG_EIO : DG_ENOMEM;
        dg_error_set(
            err, code, "cannot open %s: %s", path, errno ? strerror(errno) : "out of memory");
        dg_corpus_lines_close(l);
        return code;
    }
    gzbuffer(l->file, 1 << 16);
    *out = l;
    return 0;
}

void dg_corpus_lines_close(struct dg_corpus_lines *l)
{
    if (!l)
        return;
    if (l->file)
        gzclose_r(l->file);
    free(l->block);
    free(l->path);
    free(l);
}

static int damaged(struct dg_corpus_lines *l, struct dg_error *err)
{
    int code = 0;
    const char *why = gzerror(l->file, &code);
    if (code == Z_BUF_ERROR)
        why = "the gzip file ends too early";
    else if (code == Z_ERRNO)
        why = strerror(errno);
    return dg_error_set(err, code == Z_ERRNO ? DG_EIO : DG_EFORMAT,
        "cannot read %s after line %llu: %s", l->path, (unsigned long long)l->number, why);
}

/* True if the block has lines that end in CR, and none in LF. */
static bool ends_in_cr(const char *block, size_t n)
{
    size_t ends = 0;
    for (size_t i = 0; i + 1 < n; i++)
        ends += block[i] == '\r';
    return ends > 1 && !memchr(block, '\n', n);
}

/* Refuses a file that begins as no text does: its lines would be cut anywhere, and blamed. */
static int check_kind(const struct dg_corpus_lines *l, struct dg_error *err)
{
    static const struct {
        size_t at, n;
        const char *bytes, *kind, *advice;
    } kinds[] = {
        {0, 4, "\x28\xB5\x2F\xFD", "a Zstandard file", "zstd -d unpacks it"},
        {0, 6, "\xFD\x37zXZ", "an xz file", "xz -d unpacks it"},
        {4, 6, "1AY&SY", "a bzip2 file", "bzip2 -d unpacks it"},
        {0, 4, "PK\3\4", "a zip archive", "unzip unpacks it"},
        {0, 2, "\xFF\xFE", "UTF-16", "iconv -f UTF-16 -t UTF-8 converts it"},
        {0, 2, "\xFE\xFF", "UTF-16", "iconv -f UTF-16 -t UTF-8 converts it"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (l->end >= kinds[i].at + kinds[i].n &&
            !memcmp(l->block + kinds[i].at, kinds[i].bytes, kinds[i].n))
            return dg_error_set(err, DG_EFORMAT,
                "%s is %s, must be text in UTF-8, plain or gzip: %s", l->path, kinds[i].kind,
                kinds[i].advice);
    if (ends_in_cr(l->block, l->end))
        return dg_error_set(err, DG_EFORMAT,
            "%s has lines that end in CR alone, must end in LF or CR LF: tr '\\r' '\\n' converts it",
            l->path);
    return 0;
}

/* Reads more bytes to the end of the unread ones; sets at_end if the file has none left. */
static int fill(struct dg_corpus_lines *l, struct dg_error *err)
{
    if (l->begin > 0) {
        memmove(l->block, l->block + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    if (l->end == l->cap) {
        l->block = dg_alloc_more(l->block, 2 * l->cap, 1, "a text file");
        l->cap *= 2;
    }
    int n = gzread(l->file, l->block + l->end, (unsigned)(l->cap - l->end));
    if (n < 0)
        return damaged(l, err);
    if (n == 0) {
        int code = 0;
        /* A file that ends inside its gzip stream reads as 0 bytes and Z_BUF_ERROR. */
        gzerror(l->file, &code);
        if (code != Z_OK && code != Z_STREAM_END)
            return damaged(l, err);
        l->at_end = true;
    }
    l->end += (size_t)n;
    return 0;
}

/* Skips the rest of a cut line, with its end. */
static int skip_rest(struct dg_corpus_lines *l, struct dg_error *err)
{
    char *newline;
    while (!(newline = memchr(l->block + l->begin, '\n', l->end - l->begin)) && !l->at_end) {
        l->begin = l->end;
        int rc = fill(l, err);
        if (rc)
            return rc;
    }
    l->begin = newline ? (size_t)(newline - l->block) + 1 : l->end;
    l->skipping = false;
    return 0;
}

static void give(struct dg_corpus_lines *l, size_t len, struct dg_line *out)
{
    out->text = l->block + l->begin;
    out->len = len;
    out->cut = false;
    const size_t mark = l->number == 0 ? dg_utf8_bom(out->text, len) : 0;
    out->text += mark;
    out->len -= mark;
    if (out->len && out->text[out->len - 1] == '\r')
        out->len--;
    l->number++;
}

/* Gives the head of a line longer than the limit; the rest is skipped when the next one is read. */
static void give_cut(struct dg_corpus_lines *l, struct dg_line *out)
{
    *out = (struct dg_line){l->block + l->begin, DG_CORPUS_MAX_LINE, true};
    l->begin += DG_CORPUS_MAX_LINE;
    l->skipping = true;
    l->number++;
}

int dg_corpus_lines_next(struct dg_corpus_lines *l, struct dg_line *out, struct dg_error *err)
{
    int rc = l->skipping ? skip_rest(l, err) : 0;
    if (rc)
        return rc;
    for (size_t seen = 0;;) {
        size_t have = l->end - l->begin;
        char *newline = have > seen ? memchr(l->block + l->begin + seen, '\n', have - seen) : NULL;
        size_t len = newline ? (size_t)(newline - (l->block + l->begin)) : have;
        if (len > DG_CORPUS_MAX_LINE) {
            give_cut(l, out);
            return 1;
        }
        if (newline || (l->at_end && have)) {
            give(l, len, out);
            l->begin += len + (newline != NULL);
            return 1;
        }
        if (l->at_end)
            return 0;
        seen = have;
        rc = fill(l, err);
        if (!rc && !l->number && !have)
            rc = check_kind(l, err);
        if (rc)
            return rc;
    }
}

uint64_t dg_corpus_lines_number(const struct dg_corpus_lines *l)
{
    return l->number;
}

int dg_corpus_open(const char *const *paths, size_t n, struct dg_corpus **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_corpus *c = dg_alloc(1, sizeof *c, "a corpus");
    c->n = n < MAX_FILES ? n : MAX_FILES;
    for (size_t i = 0; i < c->n; i++) {
        int rc = paths[i] ? dg_corpus_lines_open(paths[i], &c->files[i], err) : 0;
        if (rc) {
            dg_corpus_close(c);
            return rc;
        }
    }
    *out = c;
    return 0;
}

void dg_corpus_close(struct dg_corpus *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < MAX_FILES; i++)
        dg_corpus_lines_close(c->files[i]);
    free(c);
}

int dg_corpus_next(struct dg_corpus *c, struct dg_line *lines, struct dg_error *err)
{
    int got[MAX_FILES] = {0};
    size_t first = MAX_FILES;
    for (size_t i = 0; i < c->n; i++) {
        lines[i] = (struct dg_line){"", 0, false};
        if (!c->files[i])
            continue;
        got[i] = dg_corpus_lines_next(c->files[i], &lines[i], err);
        if (got[i] < 0)
            return got[i];
        if (first == MAX_FILES)
            first = i;
        if (got[i] != got[first]) {
            const struct dg_corpus_lines *longer = c->files[got[i] ? i : first],
                                         *shorter = c->files[got[i] ? first : i];
            return dg_error_set(err, DG_EFORMAT,
                "%s ends after %llu lines, but %s goes on: they must be line-aligned",
                shorter->path, (unsigned long long)shorter->number, longer->path);
        }
    }
    return first == MAX_FILES ? 0 : got[first];
}

int dg_corpus_next_text(struct dg_corpus *c, struct dg_line *lines, struct dg_error *err)
{
    const int got = dg_corpus_next(c, lines, err);
    for (size_t i = 0; i < c->n && got > 0; i++) {
        const struct dg_corpus_lines *file = c->files[i];
        const char *fault = lines[i].cut                                       ? "too long"
                            : dg_utf8_check(lines[i].text, lines[i].len, NULL) ? "not UTF-8"
                                                                               : NULL;
        if (fault)
            return dg_error_set(err, DG_EFORMAT, "%s line %llu: %s", file->path,
                (unsigned long long)file->number, fault);
    }
    return got;
}
