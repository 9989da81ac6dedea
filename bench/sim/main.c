/* dragoman-sim: simulates a load, policy or device in fake time (docs/serving-bench.md). */
#include "base/file.h"
#include "bench/print.h"
#include "bench/sim/measure.h"
#include "bench/sim/replay.h"

#include <stdio.h>

/* Write v to the file, or print it where there is none. */
static int put(const struct dg_json *v, const char *path, struct dg_error *err)
{
    struct dg_buffer b;
    if (!path)
        return dg_bench_print(v, 1, err);
    dg_buffer_init(&b);
    int rc = dg_json_write(v, 0, &b) == 0
                 ? DG_OK
                 : dg_error_set(err, DG_ENOMEM, "no memory for the result");
    dg_buffer_adds(&b, "\n");
    if (rc == DG_OK)
        rc = dg_file_write(path, b.data, b.len, err);
    dg_buffer_deinit(&b);
    return rc;
}

static int do_measure(const struct dg_sim_command *o, struct dg_error *err)
{
    struct dg_json *v = NULL;
    int rc = dg_sim_measure(o, &v, err);
    if (rc == DG_OK)
        rc = put(v, o->out, err);
    dg_json_free(v);
    return rc;
}

static int do_run(const struct dg_sim_command *o, struct dg_error *err)
{
    struct dg_json *list = dg_json_new_array();
    int rc = dg_sim_replay(o, list, err);
    if (rc == DG_OK && o->json)
        rc = put(list, NULL, err);
    dg_json_free(list);
    return rc;
}

int main(int argc, char *argv[])
{
    struct dg_sim_command o;
    struct dg_error err = {0};
    int status = dg_sim_command_read(argc, argv, &o);
    if (status >= 0)
        return status;
    if ((o.measure ? do_measure(&o, &err) : do_run(&o, &err)) == DG_OK)
        return 0;
    fprintf(stderr, "dragoman-sim: %s\n", err.message);
    return 1;
}
