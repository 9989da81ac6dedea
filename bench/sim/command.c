#include "bench/sim/command.h"

#include "base/command.h"

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
#define NUMBER(member, min, max) DG_FIELD_REAL, AT(member), min, max

static const struct dg_field both[] = {
    {"items", TEXT(items), .argument = "FILE",
        .help = "requests as dragoman-load has them: how many steps each takes"},
    {"out", TEXT(out), .argument = "FILE", .help = "write there"},
    {"workers", NUMBER(workers, 1, 4096), .fallback = "1",
        .help = "of run; of measure: how much slower each is when others share the cores, up to N "
                "of them"},
    {"rows", NUMBER(rows, 1, 1e6), .fallback = "128", .help = "of one worker"},
    {"sentences", NUMBER(sentences, 1, 1e6), .fallback = "64", .help = "of one worker"},
    {"json", DG_FIELD_BOOL, AT(json), .help = "instead of a table"},
};

static const struct dg_field of_measure[] = {
    {"model", TEXT(model), .argument = "BUNDLE", .help = "what is measured"},
    {"beam_size", NUMBER(beam, 1, 32), .old = "beam", .help = "(default: the bundle's)"},
    {"threads", NUMBER(threads, 1, 256), .fallback = "1",
        .help = "cores a step is split over, and that workers share"},
    {"repeats", NUMBER(repeats, 1, 100), .fallback = "5", .help = "of each timing"},
};

static const struct dg_field of_run[] = {
    {"cost", TEXT(cost), .argument = "FILE", .help = "what measure wrote"},
    {"trace", TEXT(trace), .argument = "FILE",
        .help = "arrivals that dragoman-load recorded; real latencies are printed beside"},
    {"phase", NUMBER(phase, 0, 255), .help = "of the trace, this phase alone"},
    {"speed", NUMBER(speed, 1e-6, 1e6), .fallback = "1", .argument = "X",
        .help = "the trace's arrivals, so many times as dense"},
    {"rate", NUMBER(rate, 1e-6, 1e9), .argument = "R", .help = "or: Poisson, requests a second"},
    {"load", NUMBER(load, 1e-6, 1000), .argument = "SHARE",
        .help = "or: Poisson at this share of what continuous batching could do"},
    {"requests", NUMBER(requests, 1, 10e6), .fallback = "20000", .help = "how many"},
    {"capacity", NUMBER(capacity, 1e-6, 1e9), .argument = "X",
        .help = "answers a second when 64 requests are under way: scales what company costs"},
    {"share", DG_FIELD_CUSTOM, .take = take_share, .argument = "CLASS=W",
        .help = "weight of a class in the mix; may be repeated"},
    {"only", TEXT(only), .argument = "CLASS",
        .help = "the same arrivals, those of other classes left out"},
    {"bulk", TEXT(bulk), .argument = "CLASS", .help = "its requests are bulk ones"},
    {"batching", DG_FIELD_CUSTOM, .take = take_batching, .argument = "NAME",
        .help = "continuous (default), fifo, static-early, static-drop or static-pad; all"},
    {"queue_seconds", NUMBER(queue_seconds, 0, 1e9), .fallback = "2", .argument = "X",
        .help = "bound of the queue; 0: none"},
    {"queue_tokens", NUMBER(queue_tokens, 0, 1e12), .help = "instead: in source tokens"},
    {"encode_tokens", NUMBER(encode_tokens, 0, 4e9),
        .help = "tokens encoded beside running sentences in one step (default: the server's; 0: no "
                "bound)"},
    {"outside_us", NUMBER(outside_us, 0, 1e9), .argument = "X",
        .help = "time of a step outside the engine (default: the cost file's)"},
    {"request_us", NUMBER(request_us, 0, 1e9), .argument = "X",
        .help = "time of a request outside the engine (default: the cost file's)"},
    {"seed", NUMBER(seed, 0, 9e15), .fallback = "1", .help = "another seed, other arrivals"},
};

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
    for (size_t i = 0; i < DG_FIELD_COUNT(groups); i++)
        dg_fields_default(&groups[i]);
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    o->measure = strcmp(argv[1], "measure") == 0;
    if (!o->measure && strcmp(argv[1], "run") != 0)
        return dg_command_refuse(
            command.name, "there is no verb \"%.40s\": measure or run", argv[1]);
    if (o->measure && !o->model)
        return dg_command_refuse(command.name, "measure needs --model");
    if (!o->measure && (!o->cost || (o->trace != NULL) + (o->rate > 0) + (o->load > 0) != 1))
        return dg_command_refuse(
            command.name, "run needs --cost, and one of --trace, --rate and --load");
    return -1;
}
