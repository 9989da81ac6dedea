/* Models that were not named: those of a source tree, or that were installed with this program. Any
 * thread. */
#ifndef DG_TRANSLATE_INSTALLED_H
#define DG_TRANSLATE_INSTALLED_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Directory of models: $DRAGOMAN_MODELS, else weights/bundles, else ../share/dragoman/bundles from
 * this program or library, else /usr/share/dragoman/bundles. `path` has room for the result. */
const char *dg_installed_models(char *path, size_t cap);

/* Is it a bundle (a directory with manifest.json)? */
bool dg_installed_is_bundle(const char *dir);

/* Count the bundles in `dir` that translate from source to target (NULL: any language) and have the
 * fewest pairs, as a server chooses. Returns the first one's path and the names of all (NULL: not
 * wanted). */
size_t dg_installed_look(const char *dir, const char *source, const char *target, char *path,
    size_t cap, struct dg_buffer *names);

/* The one bundle there that translates from source to target (NULL: any language); of several the
 * one with the fewest pairs, as a server chooses. DG_ENOTFOUND: there is none; DG_EINVAL: there are
 * several. */
int dg_installed_find(
    const char *source, const char *target, char *path, size_t cap, struct dg_error *err);

#endif
