/* Answers of `dragoman translate` as JSON and as n-best lists, on standard output. One thread. */
#ifndef DG_CLI_ANSWERS_H
#define DG_CLI_ANSWERS_H

#include "base/error.h"
#include "include/dragoman.h"

#include <stdbool.h>

struct dg_answers_form {
    /* The texts are lines, not documents. */
    bool lines;
    /* They are tokens of the vocabulary. */
    bool tokens;
    /* Members of the JSON object that were asked for. */
    bool alignments, steps;
};

/* Write one answer as a line with a JSON object. */
int dg_answers_json(
    const struct dragoman_result *a, const struct dg_answers_form *form, struct dg_error *err);

/* Write the answers for line number `line`, best first, in the format of Moses and Marian: line |||
 * text ||| score. */
void dg_answers_list(
    const struct dragoman_result *a, const struct dg_answers_form *form, uint64_t line);

#endif
