/* For targets that read requests: limits, and what counts as a refusal. */
#ifndef DG_TESTS_FUZZ_REQUESTS_H
#define DG_TESTS_FUZZ_REQUESTS_H

#include "server/api/endpoints.h"

static const struct dg_limits limits = {.characters = 1000,
    .texts = 8,
    .beam = 8,
    .items = 8,
    .all_characters = 4000,
    .timeout_ms = 5000};

/* True if rc becomes a 4xx, with a message. */
static inline int is_refusal(int rc, const struct dg_error *err)
{
    return rc == err->code && err->message[0] != '\0' &&
           (rc == DG_EINVAL || rc == DG_ELIMIT || rc == DG_ENOTFOUND || rc == DG_EUNSUP);
}

#endif
