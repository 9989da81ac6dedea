/* A parsed message, and questions about its arguments. An argument or a branch is named by the
 * index of its part (text/message_pattern.h). Any thread. Only for documents/strings/forms/. */
#ifndef DG_DOCUMENTS_STRINGS_FORMS_PATTERN_H
#define DG_DOCUMENTS_STRINGS_FORMS_PATTERN_H

#include "documents/strings/plural_forms.h"
#include "text/message_pattern.h"

#include <stdint.h>

#define DG_PATTERN_NONE SIZE_MAX /* no part */

/* How messages are written in a file. */
struct dg_pattern_style {
    /* they are XML, whose tags and references are no syntax of messages */
    bool xml;
    /* programs that read the file know the apostrophe as a quotation mark: not all do of ARB
     * (Flutter's default) and XLIFF (Angular) */
    bool quotes;
    /* branches of plurals that are added for the language of the answers, or NULL */
    const struct dg_plural_sample *samples;
};

struct dg_pattern {
    /* [n] borrowed, without white space at the ends */
    const char *s;
    size_t n;
    struct dg_pattern_style style;
    /* apostrophes are doubled in it */
    bool doubled;
    /* malloc'd; the first one is the whole message */
    struct dg_pattern_part *parts;
};

/* Parse the message s[n]. *out must be closed in every case. DG_EUNSUP: ICU cannot read it, or a
 * tag, a reference or an apostrophe in it may mean something else; DG_ENOMEM. */
int dg_pattern_open(const char *s, size_t n, const struct dg_pattern_style *style,
    struct dg_pattern *out, struct dg_error *err);
void dg_pattern_close(struct dg_pattern *p);

/* Set err to DG_EUNSUP: the message stays as it is, because of `why`, a sentence about "it". */
int dg_pattern_stays(struct dg_error *err, const char *why);

/* The byte after the tag or the reference of XML that begins at s[at]; at: none does. */
size_t dg_pattern_skip_xml(const struct dg_pattern *p, const char *s, size_t at, size_t n);

/* True if both parts have the same bytes. */
bool dg_pattern_same(const struct dg_pattern *p, size_t a, size_t b);
/* True if the part has these bytes. */
bool dg_pattern_is(const struct dg_pattern *p, size_t part, const char *s);

/* True if "#" is a number in the argument's branches. NONE has none. */
bool dg_pattern_has_number(const struct dg_pattern *p, size_t argument);
/* The part with the argument's offset, or NONE. */
size_t dg_pattern_offset(const struct dg_pattern *p, size_t argument);
/* True if "#" is the same number in branches of both arguments. */
bool dg_pattern_same_number(const struct dg_pattern *p, size_t a, size_t b);

struct dg_pattern_branch {
    /* parts */
    size_t selector, message;
};

/* Find the argument's next branch after part *at, the argument itself for the first one; moves *at
 * to the branch's end. False: there is none. */
bool dg_pattern_next_branch(
    const struct dg_pattern *p, size_t argument, size_t *at, struct dg_pattern_branch *out);
size_t dg_pattern_count_branches(const struct dg_pattern *p, size_t argument);
/* Find the argument's branch whose selector is like that part. */
bool dg_pattern_find_branch(
    const struct dg_pattern *p, size_t argument, size_t selector, struct dg_pattern_branch *out);
/* True if both arguments choose by the same value among the same selectors. */
bool dg_pattern_same_choice(const struct dg_pattern *p, size_t a, size_t b);

#endif
