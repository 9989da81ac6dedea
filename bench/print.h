/* A benchmark's result on standard output. One thread, main's. */
#ifndef DG_BENCH_PRINT_H
#define DG_BENCH_PRINT_H

#include "base/json.h"

/* Print v, compact (indent 0) or indented, and the end of a line. DG_ENOMEM, also where memory ran
 * out while v was built; DG_EIO. */
int dg_bench_print(const struct dg_json *v, int indent, struct dg_error *err);

#endif
