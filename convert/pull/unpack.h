/* Unpacks archives and compressed files; only unpack.c uses libarchive. An entry that would leave
 * the folder, a link, a device, or too many unpacked bytes: everything is refused, and the caller
 * removes the files written so far. Any thread. */
#ifndef DG_CONVERT_PULL_UNPACK_H
#define DG_CONVERT_PULL_UNPACK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is it named like an archive (.zip, .argosmodel, .tar, .tar.gz, .tgz, .tar.zst, .tar.bz2,
 * .tar.xz)? */
bool dg_unpack_is_archive(const char *name);
/* Is it named like one compressed file (.gz, .zst)? Then out[cap] gets the name without that
 * ending. */
bool dg_unpack_is_compressed(const char *name, char *out, size_t cap);

/* Unpack every file of the archive at `path` into the folder `dir`, at most `most` bytes in total.
 * DG_EFORMAT names the entry; DG_ELIMIT, DG_EIO. */
int dg_unpack_archive(const char *path, const char *dir, uint64_t most, struct dg_error *err);
/* Decompress a file into the file `to`. */
int dg_unpack_file(const char *path, const char *to, uint64_t most, struct dg_error *err);

#endif
