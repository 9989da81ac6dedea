#include "bench/sim/arrivals.h"

#include "base/file.h"
#include "bench/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVENTED 256 /* requests of each class */
#define BLOCK 16     /* positions of a cache block, for invented sentences */

int dg_sim_items_class(const struct dg_sim_items *items, const char *name)
{
    for (size_t i = 0; i < items->n_classes; i++)
        if (strcmp(items->classes[i], name) == 0)
            return (int)i;
    return -1;
}

static int class_add(struct dg_sim_items *items, const char *name, struct dg_error *err)
{
    int c = dg_sim_items_class(items, name);
    if (c < 0 && (items->n_classes == DG_SIM_CLASSES || strlen(name) >= sizeof items->classes[0]))
        return dg_error_set(err, DG_ELIMIT, "class \"%.40s\": too many, or too long a name", name);
    if (c < 0) {
        c = (int)items->n_classes++;
        strcpy(items->classes[c], name);
    }
    return c;
}

static int items_open(struct dg_sim_items *out, size_t n, size_t n_sentences, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    out->list = calloc(n ? n : 1, sizeof *out->list);
    out->sentences = calloc(n_sentences ? n_sentences : 1, sizeof *out->sentences);
    return out->list && out->sentences ? DG_OK
                                       : dg_error_set(err, DG_ENOMEM, "no memory for %zu items", n);
}

static int read_item(struct dg_sim_items *out, const struct dg_json *o, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(o, "sentences");
    const char *name = NULL;
    int c = dg_json_field_string(o, "items", "class", &name, err);
    if (c == DG_OK)
        c = name ? class_add(out, name, err)
                 : dg_error_set(err, DG_EFORMAT, "an item without class");
    if (c < 0)
        return c;
    out->list[out->n++] = (struct dg_sim_item){
        (uint32_t)c, (uint32_t)out->n_sentences, (uint32_t)dg_json_length(list)};
    for (size_t i = 0; i < dg_json_length(list); i++) {
        const struct dg_json *x = dg_json_at(list, i);
        if (dg_json_length(x) != 6)
            return dg_error_set(err, DG_EFORMAT, "a sentence of the items has %zu figures, not 6",
                dg_json_length(x));
        out->sentences[out->n_sentences++] = (struct dg_sim_sentence){
            .source_tokens = (uint32_t)dg_json_int(dg_json_at(x, 0)),
            .max_target_tokens = (uint32_t)dg_json_int(dg_json_at(x, 1)),
            .rows = (uint32_t)dg_json_int(dg_json_at(x, 2)),
            .steps = (uint32_t)dg_json_int(dg_json_at(x, 3)),
            .blocks = (uint32_t)dg_json_int(dg_json_at(x, 4)),
            .again = (uint32_t)dg_json_int(dg_json_at(x, 5)),
        };
    }
    return DG_OK;
}

int dg_sim_items_read(const struct dg_json *list, struct dg_sim_items *out, struct dg_error *err)
{
    size_t n = dg_json_length(list), n_sentences = 0;
    for (size_t i = 0; i < n; i++)
        n_sentences += dg_json_length(dg_json_get(dg_json_at(list, i), "sentences"));
    int rc = items_open(out, n, n_sentences, err);
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = read_item(out, dg_json_at(list, i), err);
    return rc;
}

int dg_sim_items_invent(uint32_t beam, struct dg_sim_items *out, struct dg_error *err)
{
    static const struct {
        const char *name;
        uint32_t min, max;
    } kinds[] = {{"short", 5, 30}, {"long", 100, 200}};
    uint64_t state = 1;
    int rc = items_open(out, 2 * INVENTED, 2 * INVENTED, err);
    for (size_t k = 0; k < 2 && rc == DG_OK; k++) {
        uint32_t c = (uint32_t)class_add(out, kinds[k].name, err);
        for (size_t i = 0; i < INVENTED; i++) {
            uint32_t S = kinds[k].min +
                         (uint32_t)(dg_bench_bits(&state) % (kinds[k].max - kinds[k].min + 1));
            out->sentences[out->n_sentences] = (struct dg_sim_sentence){.source_tokens = S,
                .max_target_tokens = S + 50,
                .rows = beam,
                .steps = S,
                .blocks = (S + BLOCK - 1) / BLOCK + beam * ((S + 50 + BLOCK - 1) / BLOCK)};
            out->list[out->n++] = (struct dg_sim_item){c, (uint32_t)out->n_sentences++, 1};
        }
    }
    return rc;
}

void dg_sim_items_free(struct dg_sim_items *items)
{
    free(items->sentences);
    free(items->list);
    memset(items, 0, sizeof *items);
}

/* The next item of a class, in a cycle; their order does not matter. */
static const struct dg_sim_item *item_of(
    const struct dg_sim_items *items, uint32_t class, size_t *next)
{
    for (;; (*next)++) {
        const struct dg_sim_item *item = &items->list[*next % items->n];
        if (item->class == class) {
            (*next)++;
            return item;
        }
    }
}

int dg_sim_arrivals_poisson(const struct dg_sim_items *items, const struct dg_sim_poisson *o,
    struct dg_sim_arrivals *out, struct dg_error *err)
{
    const double *share = o->share;
    const size_t n = o->n;
    uint64_t seed = o->seed;
    size_t next[DG_SIM_CLASSES] = {0};
    double total = 0, t = 0;
    memset(out, 0, sizeof *out);
    for (size_t c = 0; c < items->n_classes; c++)
        total += share[c];
    if (!(total > 0))
        return dg_error_set(err, DG_EINVAL, "no class has a share");
    if (!(out->list = calloc(n, sizeof *out->list)))
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu arrivals", n);
    for (size_t i = 0; i < n; i++) {
        t += o->rate > 0 ? -log(dg_bench_unit(&seed)) / o->rate : 0;
        double at = dg_bench_unit(&seed) * total;
        uint32_t c = 0;
        while (c + 1 < items->n_classes && at > share[c])
            at -= share[c++];
        const struct dg_sim_item *item = item_of(items, c, &next[c]);
        if (o->only < 0 || (uint32_t)o->only == c)
            out->list[out->n++] = (struct dg_sim_request){
                .at_ns = (uint64_t)(t * 1e9), .class = c, .first = item->first, .n = item->n};
    }
    return DG_OK;
}

/* Read one line as dg_load_report_trace writes it; 1: taken, 0: left out (another phase, or the
 * client vanished). */
static int read_line(const struct dg_sim_items *items, const char *line, double speed, int phase,
    struct dg_sim_request *out, double *real_ms, struct dg_error *err)
{
    unsigned ph, item;
    char class[32], outcome[16];
    unsigned long long due, sent, done;
    if (sscanf(line, "%u\t%31[^\t]\t%u\t%llu\t%llu\t%llu\t%15[^\t]", &ph, class, &item, &due, &sent,
            &done, outcome) != 7)
        return dg_error_set(err, DG_EFORMAT, "not a line of a trace");
    if (item >= items->n || dg_sim_items_class(items, class) != (int)items->list[item].class)
        return dg_error_set(err, DG_EFORMAT, "item %u of class %s is not among the %zu measured",
            item, class, items->n);
    if ((phase >= 0 && (int)ph != phase) || strcmp(outcome, "vanished") == 0)
        return 0;
    const struct dg_sim_item *x = &items->list[item];
    *out = (struct dg_sim_request){
        .at_ns = (uint64_t)((double)due / speed), .class = x->class, .first = x->first, .n = x->n};
    *real_ms = strcmp(outcome, "ok") == 0 ? (double)(done - due) / 1e6 : -1;
    return 1;
}

int dg_sim_arrivals_trace(const struct dg_sim_items *items, const char *path, double speed,
    int phase, struct dg_sim_arrivals *out, struct dg_error *err)
{
    struct dg_buffer b;
    size_t lines = 0, number = 1;
    memset(out, 0, sizeof *out);
    dg_buffer_init(&b);
    int rc = dg_file_read(path, &b, err);
    for (size_t i = 0; i < b.len; i++)
        lines += b.data[i] == '\n';
    out->list = calloc(lines ? lines : 1, sizeof *out->list);
    out->real_ms = calloc(lines ? lines : 1, sizeof *out->real_ms);
    if (rc == DG_OK && (!out->list || !out->real_ms))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu arrivals", lines);
    const char *line =
        rc == DG_OK && b.len > 0 ? strchr(b.data, '\n') : NULL; /* after the header */
    while (rc == DG_OK && line && line[1] != '\0') {
        number++;
        int got = read_line(
            items, line + 1, speed, phase, &out->list[out->n], &out->real_ms[out->n], err);
        if (got < 0)
            rc = dg_error_prefix(err, "%s:%zu", path, number);
        out->n += got > 0;
        line = strchr(line + 1, '\n');
    }
    dg_buffer_deinit(&b);
    if (rc == DG_OK && out->n == 0)
        rc = dg_error_set(err, DG_EFORMAT, "%s holds no arrivals", path);
    return rc;
}

void dg_sim_arrivals_free(struct dg_sim_arrivals *a)
{
    free(a->list);
    free(a->real_ms);
    memset(a, 0, sizeof *a);
}
