/* Texts of a body, for its table of fields (body_fields.c). Any thread. */
#ifndef DG_SERVER_API_BODY_INTERNAL_H
#define DG_SERVER_API_BODY_INTERNAL_H

#include "server/api/body.h"

/* Read v, a text (one) or also an array of 1 .. limits->texts of them, into b->texts or b->given,
 * and set their number. */
int dg_body_take_texts(struct dg_body *b, const char *name, const struct dg_json *v, bool one,
    struct dg_text **list, struct dg_error *err);

#endif
