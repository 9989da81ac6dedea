#include "cli/json_line.h"

#include <stdio.h>

int dg_json_line_write(struct dg_json *o, bool exact, struct dg_error *err)
{
    struct dg_buffer line;
    dg_buffer_init(&line);
    int rc = exact ? dg_json_write_exact(o, 0, &line) : dg_json_write(o, 0, &line);
    dg_json_free(o);
    if (rc || line.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a line of JSON");
    else
        printf("%s\n", line.data);
    dg_buffer_deinit(&line);
    return rc;
}
