#include "bench/load/options.h"

#include "bench/verb.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *option, const char *text, double min, double max, char **end,
    double *out, struct dg_error *err)
{
    errno = 0;
    double v = strtod(text, end);
    if (*end == text || errno != 0 || !(v >= min && v <= max))
        return dg_error_set(
            err, DG_EINVAL, "%s is \"%s\", must be a number from %g to %g", option, text, min, max);
    *out = v;
    return DG_OK;
}

/* Read "A<separator>B", two numbers. */
static int pair(const char *option, const char *text, char separator, const double max[2],
    double out[2], struct dg_error *err)
{
    char *end;
    int rc = number(option, text, 0, max[0], &end, &out[0], err);
    if (rc == DG_OK && *end != separator)
        rc = dg_error_set(err, DG_EINVAL, "%s is \"%s\", must be A%cB", option, text, separator);
    if (rc == DG_OK)
        rc = number(option, end + 1, 0, max[1], &end, &out[1], err);
    if (rc == DG_OK && *end != '\0')
        rc = dg_error_set(err, DG_EINVAL, "%s is \"%s\", must be two numbers", option, text);
    return rc;
}

static int named(struct dg_load_named *list, size_t *n, const char *option, const char *text,
    struct dg_error *err)
{
    const char *eq = strchr(text, '=');
    struct dg_load_named *out = &list[*n];
    if (!eq || *n == DG_LOAD_CLASSES || (size_t)(eq - text) >= sizeof out->class)
        return dg_error_set(err, DG_EINVAL,
            "%s is \"%s\", must be CLASS=VALUE, %d of them at most, a class of at most %zu bytes",
            option, text, DG_LOAD_CLASSES, sizeof out->class - 1);
    memcpy(out->class, text, (size_t)(eq - text));
    out->value = eq + 1;
    ++*n;
    return DG_OK;
}

static int take_share(const char *name, const char *text, void *out, struct dg_error *err)
{
    struct dg_load_options *o = out;
    return named(o->share, &o->n_share, name, text, err);
}

static int take_fields(const char *name, const char *text, void *out, struct dg_error *err)
{
    struct dg_load_options *o = out;
    return named(o->fields, &o->n_fields, name, text, err);
}

static int take_phase(const char *name, const char *text, void *out, struct dg_error *err)
{
    static const double max[2] = {1e6, 3600};
    struct dg_load_options *o = out;
    double v[2] = {0, 0};
    int rc = pair(name, text, ':', max, v, err);
    if (rc == DG_OK && (o->plan.n_phases == DG_LOAD_PHASES || v[0] <= 0))
        rc = dg_error_set(err, DG_EINVAL,
            "%s is \"%s\", must have a rate above 0, %d of them at most", name, text,
            DG_LOAD_PHASES);
    if (rc == DG_OK)
        o->plan.phases[o->plan.n_phases++] = (struct dg_load_phase){v[0], v[1]};
    return rc;
}

static int take_vanish(const char *name, const char *text, void *out, struct dg_error *err)
{
    static const double max[2] = {1, 3600};
    struct dg_load_options *o = out;
    double v[2] = {0, 0};
    int rc = pair(name, text, ':', max, v, err);
    o->plan.vanish = v[0];
    o->plan.vanish_seconds = v[1];
    return rc;
}

static int take_term(const char *name, const char *text, void *out, struct dg_error *err)
{
    static const double max[2] = {1e9, 3600};
    struct dg_load_options *o = out;
    double v[2] = {0, 0};
    int rc = pair(name, text, '@', max, v, err);
    o->term_pid = (int64_t)v[0];
    o->term_after = v[1];
    return rc;
}

#define AT(member) DG_FIELD_AT(struct dg_load_options, member)
#define TEXT(member) DG_FIELD_STRING, AT(member), .argument = "FILE"
#define WHOLE(member, min, max) DG_FIELD_INT, AT(member), min, max
#define REAL(member, min, max) DG_FIELD_REAL, AT(member), min, max

/* Everything is bounded: this is for loading one's own machine. */
static const struct dg_field both[] = {
    {"port", WHOLE(port, 1, 65535), .help = "port of the server on 127.0.0.1"},
    {"items", TEXT(items), .flags = DG_FIELD_REQUIRED,
        .help = "file of items, one per line: "
                "{\"class\":\"short\",\"body\":{...},\"answer\":{...}}"},
    {"path", DG_FIELD_STRING, AT(path), .argument = "PATH", .fallback = "/v1/translate",
        .help = "path to request"},
    {"share", DG_FIELD_CUSTOM, .take = take_share, .argument = "CLASS=W",
        .help = "weight of a class in the mix (1 each); may be repeated"},
    {"only", DG_FIELD_STRING, AT(only), .argument = "CLASS",
        .help = "send only the arrivals of this class"},
    {"fields", DG_FIELD_CUSTOM, .take = take_fields, .argument = "CLASS=JSON",
        .help = "put these fields into each body of the class; \"\" for every class"},
    {"connections", WHOLE(connections, 1, 20000), .fallback = "1024",
        .help = "maximum connections"},
    {"seed", WHOLE(plan.seed, 0, 9e15), .fallback = "1", .help = "seed of the arrivals"},
    {"grace", REAL(grace, 0, 600), .fallback = "60", .argument = "SECONDS",
        .help = "wait this long for the last answers"},
    {"trace", TEXT(trace), .help = "write one line for each request"},
    {"term", DG_FIELD_CUSTOM, .take = take_term, .argument = "PID@SECONDS",
        .help = "send SIGTERM to process PID at this time and report the requests sent before"},
};

static const struct dg_field of_learn[] = {
    {"out", TEXT(out), .help = "output file"},
};

static const struct dg_field of_run[] = {
    {"phase", DG_FIELD_CUSTOM, .take = take_phase, .argument = "RATE:SECONDS",
        .help = "requests per second, for this long; may be repeated for more phases"},
    {"vanish", DG_FIELD_CUSTOM, .take = take_vanish, .argument = "SHARE:SECONDS",
        .help = "share of the clients that disconnect within this time"},
    {"idle", WHOLE(idle, 0, 20000), .fallback = "0",
        .help = "connections that send one request, stay idle, and send another at the end"},
    {"slow", WHOLE(slow, 0, 20000), .fallback = "0", .help = "slow-loris connections"},
    {"slow_interval", REAL(slow_interval, 0.01, 60), .fallback = "1", .argument = "SECONDS",
        .help = "time between two bytes of a slow-loris connection"},
};

static const struct dg_field of_closed[] = {
    {"concurrency", WHOLE(concurrency, 1, 20000), .fallback = "64", .help = "concurrent requests"},
    {"seconds", REAL(seconds, 0, 3600), .fallback = "0", .argument = "SECONDS",
        .help = "duration; 0: until --requests are done"},
    {"warm_up", REAL(warm_up, 0, 3600), .fallback = "0", .argument = "SECONDS",
        .help = "warm-up time, not counted in throughput and latencies"},
    {"requests", WHOLE(plan.max_records, 1, 10e6), .fallback = "1000000",
        .help = "maximum number of requests"},
};

static int check(const struct dg_load_options *o, struct dg_error *err)
{
    if (o->port == 0)
        return dg_error_set(err, DG_EINVAL, "--port is missing");
    if (o->verb == DG_LOAD_LEARN && !o->out)
        return dg_error_set(err, DG_EINVAL, "learn needs --out");
    if (o->verb == DG_LOAD_OPEN && o->plan.n_phases == 0)
        return dg_error_set(err, DG_EINVAL, "run needs --phase");
    /* Processes 0 and 1 are never ours. */
    if (o->term_after > 0 && o->term_pid < 2)
        return dg_error_set(err, DG_EINVAL, "--term needs a process and a time");
    return DG_OK;
}

static const char *const verbs[] = {
    [DG_LOAD_LEARN] = "learn", [DG_LOAD_OPEN] = "run", [DG_LOAD_CLOSED] = "closed"};

int dg_load_options_read(int argc, char *argv[], struct dg_load_options *out)
{
    const struct dg_fields groups[] = {{both, DG_FIELD_COUNT(both), out, NULL, NULL},
        {of_learn, DG_FIELD_COUNT(of_learn), out, NULL, "learn:"},
        {of_run, DG_FIELD_COUNT(of_run), out, NULL, "run:"},
        {of_closed, DG_FIELD_COUNT(of_closed), out, NULL, "closed:"}};
    const struct dg_command command = {.name = "dragoman-load",
        .usage = "usage: dragoman-load VERB --port N --items FILE [options]\n\n"
                 "Puts load on a dragoman-server on 127.0.0.1 and reports the result as JSON. "
                 "Every answer is compared\n"
                 "with its item's.\n\n"
                 "  learn   send the items one at a time; write them with their answers to "
                 "--out\n"
                 "  run     open loop: Poisson arrivals; latency counts from the scheduled "
                 "arrival\n"
                 "  closed  closed loop: a fixed number of concurrent requests; measures the "
                 "maximum throughput\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups),
        .min_words = 1,
        .max_words = 1,
        .words = "a verb: learn, run or closed"};
    struct dg_error err = {0};
    size_t verb;
    memset(out, 0, sizeof *out);
    int status = dg_bench_verb(&command, verbs, DG_FIELD_COUNT(verbs), argc, argv, &verb);
    if (status >= 0)
        return status;
    out->verb = (enum dg_load_verb)verb;
    return check(out, &err) ? dg_command_refuse(command.name, "%s", err.message) : -1;
}
