/* Whole files: mapped read-only, loaded, read, or written so that a crash never leaves half of one.
 * Any thread. */
#ifndef DG_BASE_FILE_H
#define DG_BASE_FILE_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dg_map {
    /* valid until unmapped; never NULL, even when size is 0 */
    const unsigned char *data;
    size_t size;
    /* read into our own memory */
    bool loaded;
};

int dg_file_map(const char *path, struct dg_map *out, struct dg_error *err);
/* The same, but read into memory, so that later changes to the file have no effect. The memory is
 * page-aligned, and its pages may be released (madvise). DG_EIO when the file's size changes while
 * it is read. */
int dg_file_load(const char *path, struct dg_map *out, struct dg_error *err);
void dg_file_unmap(struct dg_map *map); /* a zeroed map is fine */
/* Release the pages that were read; later reads come from the file again. No effect on a loaded
 * file. */
void dg_file_forget(const struct dg_map *map);

/* Write a copy of a regular file, as dg_file_write writes one. */
int dg_file_copy(const char *from, const char *to, struct dg_error *err);

/* Open a new file without a name on the disk of `dir`, to write and read; fclose deletes it. */
int dg_file_temporary(const char *dir, FILE **out, struct dg_error *err);

/* Set *same to whether both files hold the same bytes. */
int dg_file_same(const char *a, const char *b, bool *same, struct dg_error *err);

/* DG_EINVAL if a file at path is one of inputs[n], under whatever name: writing there would replace
 * what is read. Only regular files count. */
int dg_file_spare(const char *path, const char *const *inputs, size_t n, struct dg_error *err);

/* Append a whole file to b. */
int dg_file_read(const char *path, struct dg_buffer *b, struct dg_error *err);

/* Write all n bytes to an open file, pipe or device. False: errno says why. */
bool dg_file_put(int fd, const void *data, size_t n);
/* True for a directory, or a link to one. */
bool dg_file_is_folder(const char *path);
/* Append data[n] to an open file, such as a log, or leave the file as it was: half of a line or
 * record would spoil the next one. Returns 0 or errno. */
int dg_file_append_whole(int fd, const void *data, size_t n);

/* Write to "path.tmp-PID-RANDOM", fsync, rename over path (keeping its mode), fsync the folder. The
 * old file stays intact on any failure. A killed process leaves the temporary file, which nothing
 * reads, until dg_file_drop_unfinished. A link stays: the file that it points to is replaced, or
 * made; in a folder such as /tmp, another user's link is refused. A device, a pipe and an open
 * descriptor (/dev/stdout) are written in place. */
int dg_file_write(const char *path, const void *data, size_t n, struct dg_error *err);

/* The same in pieces: begin, write..., then commit (or abort). */
struct dg_file_writer;
int dg_file_begin(const char *path, struct dg_file_writer **out, struct dg_error *err);
int dg_file_append(struct dg_file_writer *w, const void *data, size_t n, struct dg_error *err);
int dg_file_commit_take(struct dg_file_writer *w, struct dg_error *err); /* frees w in every case */
void dg_file_abort(struct dg_file_writer *w);                            /* NULL is fine */

/* Remove temporary files of killed writers from a folder that no one else writes to. No effect if
 * the folder does not exist. */
void dg_file_drop_unfinished(const char *dir);

/* "dir/name". Caller frees; NULL on out of memory. */
char *dg_file_join(const char *dir, const char *name);
bool dg_file_ends_in(const char *path, const char *ending);

/* mkdir -p. */
int dg_file_make_dir(const char *path, struct dg_error *err);

#endif
