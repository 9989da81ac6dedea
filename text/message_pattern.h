/* C interface to ICU's parser of messages, "{n, plural, one {# dog} other {# dogs}}", in which an
 * apostrophe quotes before a brace, and in a plural before "#". Only message_pattern.cc includes
 * the parser. Any thread. */
#ifndef DG_TEXT_MESSAGE_PATTERN_H
#define DG_TEXT_MESSAGE_PATTERN_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { DG_MESSAGE_PATTERN_LONGEST = 1 << 20 };

enum dg_pattern_kind {
    DG_PATTERN_MESSAGE,     /* the whole, and each branch: its opening brace */
    DG_PATTERN_MESSAGE_END, /* its closing brace */
    DG_PATTERN_ARGUMENT,    /* an opening brace */
    DG_PATTERN_ARGUMENT_END,
    DG_PATTERN_NAME,       /* the argument's name or number */
    DG_PATTERN_SELECTOR,   /* of a branch: one, =1 */
    DG_PATTERN_VALUE,      /* a number: the offset, or that of the selector before it */
    DG_PATTERN_NUMBER,     /* # in a plural */
    DG_PATTERN_APOSTROPHE, /* one that begins or ends a quotation, or the second of two */
    DG_PATTERN_OTHER,
};

enum dg_pattern_type {
    DG_PATTERN_SIMPLE, /* {name}, {at, date, short}, also a choice */
    DG_PATTERN_PLURAL,
    DG_PATTERN_ORDINAL,
    DG_PATTERN_SELECT,
};

struct dg_pattern_part {
    enum dg_pattern_kind kind;
    /* ARGUMENT */
    enum dg_pattern_type type;
    /* bytes of the message */
    size_t begin, end;
    /* MESSAGE, ARGUMENT: index of its end; else its own */
    size_t partner;
};

/* Parse the message s[n], whose characters beyond ASCII count as letters. *parts: malloc'd
 * [*n_parts]. The parser calls itself for each argument in another: the caller limits their number.
 * DG_EINVAL: it is no message of ICU; DG_ELIMIT: it has more than LONGEST bytes; DG_ENOMEM. */
int dg_message_pattern_read(
    const char *s, size_t n, struct dg_pattern_part **parts, size_t *n_parts, struct dg_error *err);

#ifdef __cplusplus
}
#endif

#endif
