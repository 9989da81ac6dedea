/* Where the values of JSON are in its bytes, which are known to be JSON (base/json.h): spans of a
 * value or a key, of a string with its quotation marks; begin 0: there is none. Any thread. Only
 * for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_JSON_BYTES_H
#define DG_DOCUMENTS_STRINGS_JSON_BYTES_H

#include "base/json.h"
#include "text/sentences/split.h"

#include <stdbool.h>
#include <stddef.h>

/* Parse a file; NULL: DG_EINVAL (field file): it is no JSON; DG_ENOMEM. */
struct dg_json *dg_json_of_file(const char *s, size_t n, struct dg_error *err);

struct dg_json_member {
    struct dg_span key, value;
};

/* Read the object's member after byte *at, object.begin for the first one; moves *at to its end.
 * False: there is none, or it is no object. */
bool dg_json_next_member(
    const char *s, struct dg_span object, size_t *at, struct dg_json_member *out);

/* The value of the object's member of this name. */
struct dg_span dg_json_member(const char *s, struct dg_span object, const char *name);

/* True if the value is this string. */
bool dg_json_bytes_are(const char *s, struct dg_span value, const char *string);

#endif
