/* JSON on standard output. One thread. */
#ifndef DG_CLI_JSON_LINE_H
#define DG_CLI_JSON_LINE_H

#include "base/json.h"

/* Write o as a line and free it. exact: with all digits of its numbers (dg_json_write_exact).
 * DG_ENOMEM. */
int dg_json_line_write(struct dg_json *o, bool exact, struct dg_error *err);

#endif
