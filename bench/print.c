#include "bench/print.h"

#include "base/command.h"

#include <stdio.h>

int dg_bench_print(const struct dg_json *v, int indent, struct dg_error *err)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    int rc = dg_json_write(v, indent, &b) == 0
                 ? DG_OK
                 : dg_error_set(err, DG_ENOMEM, "no memory for the result");
    if (rc == DG_OK) {
        puts(b.data);
        rc = dg_command_flush(err);
    }
    dg_buffer_deinit(&b);
    return rc;
}
