/* dragoman quantize: converts a bundle to int8 and reports what that costs in accuracy. */
#include "base/command.h"

#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/layer_errors.h"
#include "convert/int8.h"
#include "translate/run/check.h"
#include "translate/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct quantize {
    struct dg_quantize o;
    char *sentences;
    bool report;
    int64_t worst;
    struct dg_config config;
    struct row {
        char name[64];
        size_t N, K;
        /* relative errors; outputs < 0: not a matrix */
        double weights, outputs;
    } * rows;
    /* number of rows; number of tensors that were s8 already */
    size_t n, n_before;
};

#define AT(member) DG_FIELD_AT(struct quantize, member)

static const struct dg_field options[] = {
    {"out", DG_FIELD_STRING, AT(o.out), .flags = DG_FIELD_REQUIRED, .argument = "DIR",
        .help = "output bundle in int8; it takes a quarter of the size of fp32"},
    {"packed", DG_FIELD_BOOL, AT(o.packed),
        .help = "also store packed matrices: loads faster, but takes twice the size"},
    {"report", DG_FIELD_BOOL, AT(report),
        .help = "list the layers with the largest errors in their weights, and in their "
                "outputs on random activations"},
    {"sentences", DG_FIELD_STRING, AT(sentences), .argument = "FILE",
        .help = "report output errors on these sentences instead (one per line, a hundred are "
                "enough; tokens if the bundle has no SentencePiece model)"},
    {"worst", DG_FIELD_INT, AT(worst), 0, 100000, .fallback = "12",
        .help = "number of layers that the report lists; 0: all"},
};

static enum dg_quantize_as choose(void *arg, const char *name)
{
    const struct quantize *q = arg;
    return dg_convert_int8_choose(&q->config, name);
}

static int keep_row(void *arg, const struct dg_quantized *t, struct dg_error *err)
{
    struct quantize *q = arg;
    (void)err;
    if (!t->rows) {
        q->n_before++;
        return 0;
    }
    q->rows = dg_alloc_more(q->rows, q->n + 1, sizeof *q->rows, "a report");
    q->rows[q->n] = (struct row){.N = t->N, .K = t->K, .weights = t->error, .outputs = -1};
    snprintf(q->rows[q->n].name, sizeof q->rows[0].name, "%s", t->name);
    q->n++;
    return 0;
}

/* Worst outputs first; then tables, by the errors of their weights. */
static int by_error(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->outputs != y->outputs)
        return x->outputs < y->outputs ? 1 : -1;
    return (x->weights < y->weights) - (x->weights > y->weights);
}

static void print_report(struct quantize *q)
{
    double weights = 0, outputs = 0;
    size_t matrices = 0;
    for (size_t i = 0; i < q->n; i++) {
        weights += q->rows[i].weights;
        if (q->rows[i].outputs >= 0) {
            outputs += q->rows[i].outputs;
            matrices++;
        }
    }
    qsort(q->rows, q->n, sizeof *q->rows, by_error);
    size_t n = q->worst && (size_t)q->worst < q->n ? (size_t)q->worst : q->n;
    printf("\nrelative errors (root of summed squares), worst of %zu tensors%s\n", q->n,
        q->sentences ? "; outputs: on the sentences" : "; outputs: on random activations");
    printf("%-24s %14s %9s %9s\n", "tensor", "shape", "weights", "outputs");
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &q->rows[i];
        char shape[32];
        snprintf(shape, sizeof shape, "[%zu,%zu]", r->N, r->K);
        printf("%-24s %14s %8.3f%%", r->name, shape, 100 * r->weights);
        if (r->outputs >= 0)
            printf(" %8.3f%%", 100 * r->outputs);
        printf("\n");
    }
    printf("%-24s %14s %8.3f%% %8.3f%%\n", "mean", "", q->n ? 100 * weights / (double)q->n : 0,
        matrices ? 100 * outputs / (double)matrices : 0);
}

static int report(struct quantize *q, struct dg_error *err)
{
    struct dg_layer_errors errors = {0};
    int rc = dg_layer_errors_measure(q->o.bundle, q->o.out, q->sentences, &errors, err);
    for (size_t l = 0; l < errors.n && !rc; l++)
        for (size_t i = 0; i < q->n; i++)
            if (strcmp(q->rows[i].name, errors.layers[l].name) == 0)
                q->rows[i].outputs = dg_layer_error_relative(&errors.layers[l]);
    dg_layer_errors_free(&errors);
    if (!rc)
        print_report(q);
    return rc;
}

static int print_sizes(const struct quantize *q, struct dg_error *err)
{
    struct dg_bundle *before = NULL, *after = NULL;
    int rc = dg_bundle_open(q->o.bundle, &before, err);
    if (!rc)
        rc = dg_bundle_open(q->o.out, &after, err);
    if (!rc)
        printf("wrote %s: %zu tensors in int8, weights %.1f MB (before: %.1f MB), version %s\n",
            q->o.out, q->n + q->n_before, (double)dg_weights_bytes(dg_bundle_weights(after)) / 1e6,
            (double)dg_weights_bytes(dg_bundle_weights(before)) / 1e6, dg_bundle_version(after));
    dg_bundle_close(before);
    dg_bundle_close(after);
    return rc;
}

static int run(struct quantize *q, struct dg_error *err)
{
    int rc = dg_config_load(q->o.bundle, &q->config, err);
    if (!rc)
        rc = dg_quantize_bundle(&q->o, err);
    if (!rc)
        rc = dg_check_write(q->o.out, err);
    if (!rc)
        rc = print_sizes(q, err);
    if (!rc && q->report && !q->n)
        printf("nothing to report: every matrix was in int8 before\n");
    else if (!rc && q->report)
        rc = report(q, err);
    return rc;
}

int dg_cli_quantize(int argc, char **argv)
{
    struct quantize q = {.o = {.choose = choose, .done = keep_row}};
    struct dg_error err = {0};
    const struct dg_fields groups[] = {{options, DG_FIELD_COUNT(options), &q, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman quantize",
        .usage = "usage: dragoman quantize BUNDLE --out DIR [options]\n\n"
                 "Makes a bundle whose matrices are 8-bit integers.\n"
                 "BUNDLE is a bundle's directory, or the name of an installed one.\n",
        .after = "To compare translations before and after, translate a test set with both "
                 "bundles and run\n"
                 "`dragoman-train bleu`.\n",
        .groups = groups,
        .n_groups = 1,
        .min_words = 1,
        .max_words = 1,
        .words = "one bundle"};
    dg_fields_default(groups);
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    q.o.arg = &q;
    char dir[4400];
    q.o.bundle = dir;
    q.report = q.report || q.sentences;
    int rc = dg_installed_named(argv[1], dir, sizeof dir, &err);
    if (!rc)
        rc = run(&q, &err);
    free(q.rows);
    return rc ? dg_cli_fail("quantize", &err) : 0;
}
