#include "bench/load/options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: dragoman-load VERB --port N --items FILE [options]\n\n"
    "Loads a dragoman-server on 127.0.0.1 and says, as JSON, how it stood it. Every answer is "
    "compared\n"
    "with the one in FILE: {\"class\":\"short\",\"body\":{...},\"answer\":{...}} a line.\n\n"
    "verbs\n"
    "  learn               ask for each item alone, one after another; write FILE with answers to "
    "--out\n"
    "  run                 open loop: Poisson arrivals; latency counts from when a request was "
    "due\n"
    "  closed              so many requests at a time: what the server can do at most\n\n"
    "options\n"
    "  --out FILE          where learn writes\n"
    "  --path PATH         what is asked (/v1/translate)\n"
    "  --share CLASS=W     weight of a class in the mix (1 each); may be repeated\n"
    "  --only CLASS        the same arrivals, but those of other classes left out\n"
    "  --fields CLASS=JSON put these fields into each body of the class; \"\" for every class\n"
    "  --connections N     most connections (1024)\n"
    "  --seed N            another seed, other arrivals (1)\n"
    "  --grace SECONDS     wait this long for the last answers (60)\n"
    "  --trace FILE        write one line a request\n"
    "  --term PID@SECONDS  send SIGTERM to the server then, and say what became of requests sent "
    "before\n"
    "run\n"
    "  --phase RATE:SECONDS  requests a second, for how long; repeated: one phase after another\n"
    "  --vanish SHARE:SECONDS  this share of the clients goes away within that time\n"
    "  --idle N            connections that ask once, stay silent, and ask again at the end\n"
    "  --slow N            slow-loris connections\n"
    "  --slow-interval S   seconds between two of their bytes (1)\n"
    "closed\n"
    "  --concurrency N     requests at a time (64)\n"
    "  --seconds S         how long (0: until --requests)\n"
    "  --warm-up S         not counted in throughput (0)\n"
    "  --requests N        at most so many (1000000)\n";

const char *dg_load_options_help(void)
{
    return help;
}

enum kind { TEXT, WHOLE, REAL, PHASE, NAMED, VANISH, TERM };

struct row {
    const char *name;
    enum kind kind;
    size_t offset;
    double min, max;
};

#define AT(field) offsetof(struct dg_load_options, field)

/* Everything is bounded: this is for loading one's own machine. */
static const struct row table[] = {
    {"items", TEXT, AT(items), 0, 0},
    {"out", TEXT, AT(out), 0, 0},
    {"trace", TEXT, AT(trace), 0, 0},
    {"path", TEXT, AT(path), 0, 0},
    {"only", TEXT, AT(only), 0, 0},
    {"port", WHOLE, AT(port), 1, 65535},
    {"requests", WHOLE, AT(requests), 1, 10e6},
    {"connections", WHOLE, AT(connections), 1, 20000},
    {"concurrency", WHOLE, AT(concurrency), 1, 20000},
    {"idle", WHOLE, AT(idle), 0, 20000},
    {"slow", WHOLE, AT(slow), 0, 20000},
    {"seed", WHOLE, AT(seed), 0, 9e15},
    {"seconds", REAL, AT(seconds), 0, 3600},
    {"warm-up", REAL, AT(warm_up), 0, 3600},
    {"grace", REAL, AT(grace), 0, 600},
    {"slow-interval", REAL, AT(slow_interval), 0.01, 60},
    {"phase", PHASE, 0, 0, 0},
    {"share", NAMED, AT(share), 0, 0},
    {"fields", NAMED, AT(fields), 0, 0},
    {"vanish", VANISH, 0, 0, 0},
    {"term", TERM, 0, 0, 0},
};

enum { ROWS = sizeof table / sizeof *table };

static int number(const char *option, const char *text, double min, double max, char **end,
    double *out, struct dg_error *err)
{
    errno = 0;
    double v = strtod(text, end);
    if (*end == text || errno != 0 || !(v >= min && v <= max))
        return dg_error_set(
            err, DG_EINVAL, "--%s is \"%s\", expected a number in %g..%g", option, text, min, max);
    *out = v;
    return DG_OK;
}

/* "A<separator>B", two numbers. */
static int pair(const char *option, const char *text, char separator, const double max[2],
    double out[2], struct dg_error *err)
{
    char *end;
    int rc = number(option, text, 0, max[0], &end, &out[0], err);
    if (rc == DG_OK && *end != separator)
        rc = dg_error_set(err, DG_EINVAL, "--%s is \"%s\", expected A%cB", option, text, separator);
    if (rc == DG_OK)
        rc = number(option, end + 1, 0, max[1], &end, &out[1], err);
    if (rc == DG_OK && *end != '\0')
        rc = dg_error_set(err, DG_EINVAL, "--%s is \"%s\": what is behind?", option, text);
    return rc;
}

static int named(struct dg_load_named *list, size_t *n, const char *option, const char *text,
    struct dg_error *err)
{
    const char *eq = strchr(text, '=');
    if (!eq || *n == DG_LOAD_CLASSES)
        return dg_error_set(err, DG_EINVAL,
            "--%s is \"%s\", expected CLASS=VALUE, %d of them at most", option, text,
            DG_LOAD_CLASSES);
    list[(*n)++] = (struct dg_load_named){text, (size_t)(eq - text), eq + 1};
    return DG_OK;
}

static int take_phase(struct dg_load_options *o, const char *text, struct dg_error *err)
{
    static const double max[2] = {1e6, 3600};
    double v[2];
    int rc = pair("phase", text, ':', max, v, err);
    if (rc == DG_OK && (o->n_phases == DG_LOAD_PHASES || v[0] <= 0))
        rc = dg_error_set(err, DG_EINVAL,
            "--phase %s: the rate is to be above 0, and %d phases are the most", text,
            DG_LOAD_PHASES);
    if (rc == DG_OK)
        o->phases[o->n_phases++] = (struct dg_load_phase){v[0], v[1]};
    return rc;
}

static int take(
    struct dg_load_options *o, const struct row *row, const char *text, struct dg_error *err)
{
    static const double vanish_max[2] = {1, 3600}, term_max[2] = {1e9, 3600};
    char *end = NULL, *field = (char *)o + row->offset;
    double v[2];
    int rc;
    switch (row->kind) {
    case TEXT: memcpy(field, &text, sizeof text); return DG_OK;
    case WHOLE:
    case REAL:
        rc = number(row->name, text, row->min, row->max, &end, v, err);
        if (rc == DG_OK && (*end != '\0' || (row->kind == WHOLE && v[0] != (double)(int64_t)v[0])))
            return dg_error_set(
                err, DG_EINVAL, "--%s is \"%s\", expected a number", row->name, text);
        if (rc == DG_OK && row->kind == REAL)
            memcpy(field, &v[0], sizeof v[0]);
        else if (rc == DG_OK)
            *(int64_t *)(void *)field = (int64_t)v[0];
        return rc;
    case PHASE: return take_phase(o, text, err);
    case NAMED:
        return named((struct dg_load_named *)(void *)field,
            row->offset == AT(share) ? &o->n_share : &o->n_fields, row->name, text, err);
    case VANISH:
        if ((rc = pair("vanish", text, ':', vanish_max, v, err)) == DG_OK) {
            o->vanish = v[0];
            o->vanish_seconds = v[1];
        }
        return rc;
    case TERM:
        if ((rc = pair("term", text, '@', term_max, v, err)) == DG_OK) {
            o->term_pid = (int64_t)v[0];
            o->term_after = v[1];
        }
        return rc;
    }
    return DG_EINTERNAL;
}

static int check(const struct dg_load_options *o, struct dg_error *err)
{
    if (o->verb == DG_LOAD_HELP)
        return DG_OK;
    if (!o->items || o->port == 0)
        return dg_error_set(err, DG_EINVAL, "--port and --items are needed");
    if (o->verb == DG_LOAD_LEARN && !o->out)
        return dg_error_set(err, DG_EINVAL, "learn needs --out");
    if (o->verb == DG_LOAD_OPEN && o->n_phases == 0)
        return dg_error_set(err, DG_EINVAL, "run needs --phase");
    if (o->verb == DG_LOAD_CLOSED && o->vanish > 0)
        return dg_error_set(err, DG_EINVAL, "--vanish belongs to run");
    /* 0 and 1 are no processes of ours. */
    if (o->term_after > 0 && o->term_pid < 2)
        return dg_error_set(err, DG_EINVAL, "--term needs a process and a time");
    return DG_OK;
}

int dg_load_options_read(
    int argc, char *const argv[], struct dg_load_options *out, struct dg_error *err)
{
    struct option longs[ROWS + 2] = {{0}};
    int rc = DG_OK, at;
    *out = (struct dg_load_options){.path = "/v1/translate",
        .requests = 1000000,
        .connections = 1024,
        .concurrency = 64,
        .seed = 1,
        .grace = 60,
        .slow_interval = 1,
        .verb = DG_LOAD_HELP};
    if (argc < 2)
        return dg_error_set(err, DG_EINVAL, "a verb is needed: learn, run or closed (see --help)");
    if (strcmp(argv[1], "--help") == 0)
        return DG_OK;
    if (strcmp(argv[1], "learn") == 0)
        out->verb = DG_LOAD_LEARN;
    else if (strcmp(argv[1], "run") == 0)
        out->verb = DG_LOAD_OPEN;
    else if (strcmp(argv[1], "closed") == 0)
        out->verb = DG_LOAD_CLOSED;
    else
        return dg_error_set(
            err, DG_EINVAL, "no verb \"%s\": learn, run or closed (see --help)", argv[1]);
    for (int i = 0; i < ROWS; i++)
        longs[i] = (struct option){table[i].name, required_argument, NULL, i + 1};
    longs[ROWS] = (struct option){"help", no_argument, NULL, ROWS + 1};
    opterr = 0;
    optind = 2;
    while (rc == DG_OK && (at = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (at == ROWS + 1)
            out->verb = DG_LOAD_HELP;
        else if (at < 1)
            rc = dg_error_set(err, DG_EINVAL, "%s is no option, or lacks its value (see --help)",
                argv[optind - 1]);
        else
            rc = take(out, &table[at - 1], optarg, err);
    }
    if (rc == DG_OK && optind < argc)
        rc = dg_error_set(err, DG_EINVAL, "\"%s\" is no option (see --help)", argv[optind]);
    return rc == DG_OK ? check(out, err) : rc;
}
