/* The requests: one JSON object per line, {"class":"short","body":{...},"answer":{...}}. body is
 * sent to the server as it is; answer, if present, is the server's answer to the same body alone,
 * and every later answer is compared with it. One thread at a time. */
#ifndef DG_LOAD_ITEMS_H
#define DG_LOAD_ITEMS_H

#include "base/error.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define DG_LOAD_CLASSES 8

struct dg_load_item {
    struct dg_json *line; /* as read */
    uint32_t class;
    char *request; /* [request_len] HTTP headers and body */
    size_t request_len, header_len;
    char *expected; /* the answer's translations, compact; NULL: not known */
    char *seen;     /* [seen_len] a body known to have that answer */
    size_t seen_len;
    uint32_t sentences, source_tokens, target_tokens; /* of the answer; 1, 0, 0 when not known */
};

struct dg_load_items {
    struct dg_load_item *list; /* [n] */
    size_t n;
    char *classes[DG_LOAD_CLASSES]; /* [n_classes] in order of appearance */
    size_t n_classes;
};

/* Fields added to every body of a class ("" is every class). */
struct dg_load_fields {
    const char *class;
    const struct dg_json *object; /* borrowed */
};

/* Read path; requests go to POST route. DG_EFORMAT names the line. */
int dg_load_items_read(const char *path, const char *route, const struct dg_load_fields *fields,
    size_t n_fields, struct dg_load_items *out, struct dg_error *err);
void dg_load_items_free(struct dg_load_items *items); /* a zeroed one is fine */

/* The class's number, or -1. */
int dg_load_items_class(const struct dg_load_items *items, const char *name);

/* Is body[n] the answer expected for this item? True when none is known. Only "translations"
 * counts: texts, spans, scores, flags. */
bool dg_load_item_check(struct dg_load_item *item, const char *body, size_t n);

/* Make body[n] the item's answer from now on; DG_EFORMAT when it is no answer. */
int dg_load_item_learn(struct dg_load_item *item, const char *body, size_t n, struct dg_error *err);

/* Write all lines with the answers learned. */
int dg_load_items_write(const struct dg_load_items *items, const char *path, struct dg_error *err);

#endif
