#include "bench/sim/command.h"

#include "bench/verb.h"

#include <string.h>

static int take_batching(const char *name, const char *text, void *out, struct dg_error *err)
{
    struct dg_sim_command *o = out;
    o->all = strcmp(text, "all") == 0;
    for (int i = 0; i < DG_SIM_BATCHINGS; i++)
        if (strcmp(text, dg_sim_batching_name((enum dg_sim_batching)i)) == 0) {
            o->batching = (enum dg_sim_batching)i;
            return DG_OK;
        }
    return o->all
               ? DG_OK
               : dg_error_set(err, DG_EINVAL,
                     "%s is \"%.40s\", must be continuous, fifo, static-early, static-drop, static-pad or all",
                     name, text);
}

static int take_share(const char *name, const char *text, void *out, struct dg_error *err)
{
    struct dg_sim_command *o = out;
    if (o->n_share == DG_SIM_CLASSES || !strchr(text, '='))
        return dg_error_set(err, DG_EINVAL, "%s is \"%.40s\", must be CLASS=W, %d of them at most",
            name, text, DG_SIM_CLASSES);
    o->share[o->n_share++] = text;
    return DG_OK;
}

#define AT(member) DG_FIELD_AT(struct dg_sim_command, member)
#define TEXT(member) DG_FIELD_STRING, AT(member)
#define WHOLE(member, min, max) DG_FIELD_INT, AT(member), min, max
#define REAL(member, min, max) DG_FIELD_REAL, AT(member), min, max

static const struct dg_field both[] = {
    {"beam_size", WHOLE(beam, 1, 32), .old = "beam",
        .help = "beam size (default: the bundle's, or the one measured)"},
    {"workers", WHOLE(workers, 1, 4096), .fallback = "1",
        .help = "run: number of workers; measure: also measure the slow-down with up to N "
                "workers"},
    {"rows", WHOLE(rows, 1, 1e6), .fallback = "128", .help = "maximum in one worker"},
    {"sentences", WHOLE(sentences, 1, 1e6), .fallback = "64", .help = "maximum in one worker"},
};

static const struct dg_field of_measure[] = {
    {"model", TEXT(model), .argument = "BUNDLE", .help = "bundle to measure"},
    {"items", TEXT(items), .argument = "FILE",
        .help = "items file of dragoman-load; sets the number of steps per request"},
    {"out", TEXT(out), .argument = "FILE", .help = "output file"},
    {"threads", WHOLE(threads, 1, 256), .fallback = "1",
        .help = "threads per step, shared by the workers"},
    {"repeats", WHOLE(repeats, 1, 100), .fallback = "5", .help = "repetitions per timing"},
};

static const struct dg_field of_run[] = {
    {"cost", TEXT(cost), .argument = "FILE", .help = "cost file written by measure"},
    {"trace", TEXT(trace), .argument = "FILE",
        .help = "trace file of dragoman-load with arrivals; its latencies are printed for "
                "comparison"},
    {"phase", WHOLE(phase, 0, 255), .help = "use only this phase of the trace"},
    {"speed", REAL(speed, 1e-6, 1e6), .fallback = "1", .argument = "X",
        .help = "factor for the trace's arrival rate"},
    {"rate", REAL(rate, 1e-6, 1e9), .argument = "R",
        .help = "Poisson arrivals, requests per second"},
    {"load", REAL(load, 1e-6, 1000), .argument = "SHARE",
        .help = "Poisson arrivals, as a share of the capacity of continuous batching"},
    {"requests", WHOLE(requests, 1, 10e6), .fallback = "20000", .help = "number of requests"},
    {"capacity", REAL(capacity, 1e-6, 1e9), .argument = "X",
        .help = "answers per second with 64 concurrent requests; scales the cost of batching"},
    {"share", DG_FIELD_CUSTOM, .take = take_share, .argument = "CLASS=W",
        .help = "weight of a class in the mix; may be repeated"},
    {"only", TEXT(only), .argument = "CLASS", .help = "simulate only the arrivals of this class"},
    {"bulk", TEXT(bulk), .argument = "CLASS",
        .help = "send the requests of this class with bulk priority"},
    {"batching", DG_FIELD_CUSTOM, .take = take_batching, .argument = "NAME",
        .help = "continuous (default), fifo, static-early, static-drop or static-pad; all"},
    {"queue_seconds", REAL(queue_seconds, 0, 1e9), .fallback = "2", .argument = "X",
        .help = "maximum backlog in seconds; 0: no limit"},
    {"queue_tokens", WHOLE(queue_tokens, 0, 1e12),
        .help = "maximum backlog in source tokens instead"},
    {"encode_tokens", WHOLE(encode_tokens, 0, 4e9),
        .help = "maximum tokens encoded in a step with running sentences (default: the "
                "server's; 0: no limit)"},
    {"outside_us", REAL(outside_us, 0, 1e9), .argument = "X",
        .help = "time of a step outside the engine (default: the cost file's)"},
    {"request_us", REAL(request_us, 0, 1e9), .argument = "X",
        .help = "time of a request outside the engine (default: the cost file's)"},
    {"seed", WHOLE(seed, 0, 9e15), .fallback = "1", .help = "seed of the arrivals"},
    {"step_rows", WHOLE(step_rows, 0, 1e6), .fallback = "0",
        .help = "maximum in one step, as the server's --step-rows; 0: all"},
    {"json", DG_FIELD_BOOL, AT(json), .help = "print JSON instead of a table"},
};

static const char *const verbs[] = {"measure", "run"};

int dg_sim_command_read(int argc, char *argv[], struct dg_sim_command *o)
{
    const struct dg_fields groups[] = {{both, DG_FIELD_COUNT(both), o, NULL, NULL},
        {of_measure, DG_FIELD_COUNT(of_measure), o, NULL, "measure:"},
        {of_run, DG_FIELD_COUNT(of_run), o, NULL, "run:"}};
    const struct dg_command command = {.name = "dragoman-sim",
        .usage =
            "usage: dragoman-sim measure --model BUNDLE [options]   the cost of this machine's "
            "engine, as JSON\n"
            "       dragoman-sim run --cost FILE [options]          arrivals against it, in "
            "fake time\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups),
        .min_words = 1,
        .max_words = 1,
        .words = "a verb: measure or run"};
    *o = (struct dg_sim_command){
        .phase = -1, .encode_tokens = -1, .outside_us = -1, .request_us = -1};
    size_t verb;
    int status = dg_bench_verb(&command, verbs, DG_FIELD_COUNT(verbs), argc, argv, &verb);
    if (status >= 0)
        return status;
    o->measure = verb == 0;
    if (o->measure && !o->model)
        return dg_command_refuse(command.name, "measure needs --model");
    if (!o->measure && (!o->cost || (o->trace != NULL) + (o->rate > 0) + (o->load > 0) != 1))
        return dg_command_refuse(
            command.name, "run needs --cost, and one of --trace, --rate and --load");
    return -1;
}
