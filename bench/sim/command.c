#include "bench/sim/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: dragoman-sim measure --model BUNDLE [options]   the cost of this machine's engine, as "
    "JSON\n"
    "       dragoman-sim run --cost FILE [options]          arrivals against it, in fake time\n\n"
    "measure\n"
    "  --items FILE        requests as dragoman-load has them: how many steps each takes\n"
    "  --beam K            (the bundle's)\n"
    "  --threads N         cores a step is split over (1), and that workers share\n"
    "  --workers N         how much slower each is when others share the cores, up to N of them "
    "(1)\n"
    "  --repeats N         of each timing (5)\n"
    "  --out FILE          write there\n"
    "run\n"
    "  --trace FILE        arrivals that dragoman-load recorded; real latencies are printed "
    "beside\n"
    "  --phase N           of the trace, this phase alone\n"
    "  --speed X           the trace's arrivals, so many times as dense (1)\n"
    "  --rate R            or: Poisson, requests a second\n"
    "  --load SHARE        or: Poisson at this share of what continuous batching could do\n"
    "  --requests N        (20000)\n"
    "  --capacity X        answers a second when 64 requests are under way: scales what company "
    "costs\n"
    "  --share CLASS=W     weight of a class in the mix; may be repeated\n"
    "  --only CLASS        the same arrivals, those of other classes left out\n"
    "  --bulk CLASS        its requests are bulk ones\n"
    "  --batching NAME     continuous, fifo, static-early, static-drop or static-pad; all "
    "(continuous)\n"
    "  --workers N         (1)\n"
    "  --queue-seconds X   bound of the queue (2; 0: none)\n"
    "  --queue-tokens N    instead: in source pieces\n"
    "  --encode-tokens N   pieces encoded beside running sentences in one step (the server's; 0: "
    "no "
    "bound)\n"
    "  --outside-us X      time of a step outside the engine (the cost file's)\n"
    "  --request-us X      time of a request outside the engine (the cost file's)\n"
    "  --seed N            (1)\n"
    "  --json              instead of a table\n"
    "both\n"
    "  --rows N            of one worker (128)\n"
    "  --sentences N       of one worker (64)\n";

const char *dg_sim_command_help(void)
{
    return help;
}

static const struct {
    const char *name;
    size_t offset;
    double min, max;
} numbers[] = {
#define NUMBER(name, field, min, max)                                                              \
    {                                                                                              \
        name, offsetof(struct dg_sim_command, field), min, max                                     \
    }
    NUMBER("beam", beam, 1, 32),
    NUMBER("threads", threads, 1, 256),
    NUMBER("repeats", repeats, 1, 100),
    NUMBER("phase", phase, 0, 255),
    NUMBER("speed", speed, 1e-6, 1e6),
    NUMBER("rate", rate, 1e-6, 1e9),
    NUMBER("load", load, 1e-6, 1000),
    NUMBER("capacity", capacity, 1e-6, 1e9),
    NUMBER("requests", requests, 1, 10e6),
    NUMBER("workers", workers, 1, 4096),
    NUMBER("queue-tokens", queue_tokens, 0, 1e12),
    NUMBER("queue-seconds", queue_seconds, 0, 1e9),
    NUMBER("encode-tokens", encode_tokens, 0, 4e9),
    NUMBER("outside-us", outside_us, 0, 1e9),
    NUMBER("request-us", request_us, 0, 1e9),
    NUMBER("seed", seed, 0, 9e15),
    NUMBER("rows", rows, 1, 1e6),
    NUMBER("sentences", sentences, 1, 1e6),
#undef NUMBER
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const char *const texts[] = {
    "model", "items", "out", "cost", "trace", "only", "bulk", "share", "batching"};

enum { TEXTS = sizeof texts / sizeof *texts };

static int take_batching(struct dg_sim_command *o, const char *text, struct dg_error *err)
{
    o->all = strcmp(text, "all") == 0;
    for (int i = 0; i < DG_SIM_BATCHINGS; i++)
        if (strcmp(text, dg_sim_batching_name((enum dg_sim_batching)i)) == 0) {
            o->batching = (enum dg_sim_batching)i;
            return DG_OK;
        }
    return o->all ? DG_OK
                  : dg_error_set(err, DG_EINVAL, "--batching %s is not known (see --help)", text);
}

static int take_text(struct dg_sim_command *o, int at, const char *text, struct dg_error *err)
{
    const char **const fields[] = {
        &o->model, &o->items, &o->out, &o->cost, &o->trace, &o->only, &o->bulk};
    if (at < 7) {
        *fields[at] = text;
        return DG_OK;
    }
    if (at == 8)
        return take_batching(o, text, err);
    if (o->n_share == DG_SIM_CLASSES || !strchr(text, '='))
        return dg_error_set(err, DG_EINVAL, "--share %s: CLASS=W is expected", text);
    o->share[o->n_share++] = text;
    return DG_OK;
}

static int take_number(struct dg_sim_command *o, int at, const char *text, struct dg_error *err)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || !(v >= numbers[at].min && v <= numbers[at].max))
        return dg_error_set(err, DG_EINVAL, "--%s is \"%s\", expected a number in %g..%g",
            numbers[at].name, text, numbers[at].min, numbers[at].max);
    memcpy((char *)o + numbers[at].offset, &v, sizeof v);
    return DG_OK;
}

int dg_sim_command_read(int argc, char *argv[], struct dg_sim_command *o, struct dg_error *err)
{
    struct option longs[NUMBERS + TEXTS + 2] = {{0}};
    int at, rc = DG_OK;
    *o = (struct dg_sim_command){.threads = 1,
        .repeats = 5,
        .phase = -1,
        .speed = 1,
        .requests = 20000,
        .workers = 1,
        .queue_seconds = 2,
        .encode_tokens = -1,
        .outside_us = -1,
        .request_us = -1,
        .seed = 1,
        .rows = 128,
        .sentences = 64};
    o->measure = strcmp(argv[1], "measure") == 0;
    if (!o->measure && strcmp(argv[1], "run") != 0)
        return dg_error_set(err, DG_EINVAL, "no verb \"%s\": measure or run (see --help)", argv[1]);
    for (int i = 0; i < NUMBERS; i++)
        longs[i] = (struct option){numbers[i].name, required_argument, NULL, i + 1};
    for (int i = 0; i < TEXTS; i++)
        longs[NUMBERS + i] = (struct option){texts[i], required_argument, NULL, NUMBERS + i + 1};
    longs[NUMBERS + TEXTS] = (struct option){"json", no_argument, NULL, NUMBERS + TEXTS + 1};
    opterr = 0;
    optind = 2;
    while (rc == DG_OK && (at = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (at < 1 || at > NUMBERS + TEXTS + 1)
            rc = dg_error_set(err, DG_EINVAL, "%s is no option, or lacks its value (see --help)",
                argv[optind - 1]);
        else if (at == NUMBERS + TEXTS + 1)
            o->json = true;
        else if (at > NUMBERS)
            rc = take_text(o, at - NUMBERS - 1, optarg, err);
        else
            rc = take_number(o, at - 1, optarg, err);
    }
    if (rc == DG_OK && o->measure && !o->model)
        rc = dg_error_set(err, DG_EINVAL, "measure needs --model");
    if (rc == DG_OK && !o->measure &&
        (!o->cost || (o->trace != NULL) + (o->rate > 0) + (o->load > 0) != 1))
        rc =
            dg_error_set(err, DG_EINVAL, "run needs --cost, and one of --trace, --rate and --load");
    return rc;
}
