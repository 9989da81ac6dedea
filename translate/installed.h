/* Finds models that were not named by path: those of a source tree, or those installed with this
 * program. Any thread. */
#ifndef DG_TRANSLATE_INSTALLED_H
#define DG_TRANSLATE_INSTALLED_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Directory of models: $DRAGOMAN_MODELS, else weights/bundles, else ../share/dragoman/bundles,
 * bundles or ../../share/dragoman/bundles beside this program or library, else
 * /usr/share/dragoman/bundles. `path` has room for the result. */
const char *dg_installed_models(char *path, size_t cap);

/* True if `dir` is a bundle (a directory with manifest.json). False: errno says why. */
bool dg_installed_is_bundle(const char *dir);

/* Write the path of the bundle that `name` means: any path if it has a slash, else a bundle in the
 * working directory, an installed model, or a file or folder that is no bundle. DG_ENOTFOUND: none;
 * DG_EIO: installed models cannot be read. */
int dg_installed_named(const char *name, char *path, size_t cap, struct dg_error *err);

/* Count the bundles in `dir` that translate from source to target (NULL: any language). Only those
 * with the nearest languages count (text/language_code.h: "de-AT" finds de), and of these, if both
 * languages are given, only those with the fewest pairs, as in a server's choice; none farther than
 * `farthest` (0: the same codes). Writes the first one's path, and the names of all to `names`
 * (NULL: not wanted). */
size_t dg_installed_look(const char *dir, const char *source, const char *target, int farthest,
    char *path, size_t cap, struct dg_buffer *names);

/* Write the path of the installed bundle that translates from source to target (NULL: any
 * language); among several, that of dg_installed_look. If the directory of models is itself a
 * bundle, it is returned whatever its languages. DG_ENOTFOUND: there is none; DG_EINVAL: several
 * remain. */
int dg_installed_find(
    const char *source, const char *target, char *path, size_t cap, struct dg_error *err);

#endif
