/* tag_handling and its options. HTTP threads. */
#ifndef DG_SERVER_API_DEEPL_TAGS_H
#define DG_SERVER_API_DEEPL_TAGS_H

#include "base/json.h"
#include "server/request/request.h"

/* Set format and markup (the arena's), and *first: version v1 is requested; no effect without
 * tag_handling. DG_EINVAL with the field. */
int dg_deepl_read_tags(const struct dg_json *o, struct dg_arena *arena,
    struct dg_request_options *out, bool *first, struct dg_error *err);

#endif
