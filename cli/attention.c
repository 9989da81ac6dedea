/* dragoman attention: who looks at whom in a sentence, as a picture or as JSON. */
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "kernels/device.h"
#include "translate/picture/attention.h"
#include "translate/picture/attention_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: dragoman attention --model BUNDLE --source TEXT [--target TEXT] --out FILE.svg "
    "[options]\n\n"
    "  --source TEXT        one sentence\n"
    "  --target TEXT        its translation (default: the one that the model finds)\n"
    "  --kind KIND          encoder, decoder or cross (default cross: what the answer's words look "
    "at in the source)\n"
    "  --layer N            counted from 1 (default: the last)\n"
    "  --heads LIST         all (default), or numbers from 1 with commas between\n"
    "  --word WORD          of the picture: only what this word looks at\n"
    "  --heatmap            of the picture: a grid a head instead of lines between two columns of "
    "words\n"
    "  --out FILE           the picture (SVG); with --json not needed\n"
    "  --json               write the weights to standard output: [layers][heads][row][column] by "
    "pieces, of all layers\n"
    "                       unless one is chosen; the decoder's rows and columns are what it "
    "reads: the start, then the\n"
    "                       target's pieces but the last\n"
    "  --pieces             the texts are vocabulary pieces; nothing is merged to words\n"
    "  --source-lang CODE   (default: the bundle's first pair)\n"
    "  --target-lang CODE\n"
    "Without --target:\n" DG_SEARCH_HELP "  --help               this text\n";

struct attention {
    struct dg_decode_options o;
    const char *source, *target, *out, *heads;
    struct dg_attention_svg svg;
    enum dg_attention_kind kind;
    int64_t layer; /* 0: not chosen */
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_attention_map map;
};

static int take_kind(const char *arg, enum dg_attention_kind *out, struct dg_error *err)
{
    static const char *const names[] = {"encoder", "decoder", "cross"};
    for (int i = 0; i < 3; i++) {
        if (!strcmp(arg, names[i])) {
            *out = (enum dg_attention_kind)i;
            return 0;
        }
    }
    return dg_error_set(
        err, DG_EINVAL, "--kind takes encoder, decoder or cross, not \"%.40s\"", arg);
}

/* *list is malloc'd; heads count from 0. */
static int take_heads(
    const char *text, uint32_t H, uint32_t **list, uint32_t *n, struct dg_error *err)
{
    bool all = !text || !strcmp(text, "all");
    *n = 0;
    *list = calloc(H, sizeof **list);
    if (!*list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u heads", H);
    for (; all && *n < H; (*n)++)
        (*list)[*n] = *n;
    for (const char *p = text; !all && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        char number[16];
        int64_t head;
        snprintf(number, sizeof number, "%.*s", (int)strcspn(p, ","), p);
        int rc = dg_cli_int("--heads", number, 1, H, &head, err);
        if (!rc && *n == H)
            rc = dg_error_set(err, DG_EINVAL, "--heads has more than the model's %u", H);
        if (rc)
            return rc;
        (*list)[(*n)++] = (uint32_t)head - 1;
    }
    return 0;
}

static struct dg_json *pieces_json(const char *const *pieces, uint32_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t i = 0; i < n; i++)
        dg_json_append_take(list, dg_json_new_string(pieces[i], strlen(pieces[i])));
    return list;
}

static struct dg_json *head_json(const struct attention *a, uint32_t layer, uint32_t head)
{
    uint32_t rows, columns;
    const float *w = dg_attention_weights(&a->map, a->kind, layer, head, &rows, &columns);
    struct dg_json *table = dg_json_new_array();
    for (uint32_t r = 0; r < rows; r++) {
        struct dg_json *row = dg_json_new_array();
        for (uint32_t c = 0; c < columns; c++)
            dg_json_append_take(row, dg_json_new_real((double)w[(size_t)r * columns + c]));
        dg_json_append_take(table, row);
    }
    return table;
}

static int write_json(
    const struct attention *a, const uint32_t *heads, uint32_t n_heads, struct dg_error *err)
{
    uint32_t first = a->layer ? (uint32_t)a->layer - 1 : 0;
    uint32_t end = a->layer ? first + 1 : dg_attention_layers(&a->map, a->kind);
    struct dg_json *o = dg_json_new_object(), *layers = dg_json_new_array();
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_json_set_take(o, "source_pieces", pieces_json(a->map.source, a->map.trace.S));
    dg_json_set_take(o, "target_pieces", pieces_json(a->map.target, a->map.trace.T));
    for (uint32_t l = first; l < end; l++) {
        struct dg_json *layer = dg_json_new_object(), *list = dg_json_new_array();
        for (uint32_t h = 0; h < n_heads; h++)
            dg_json_append_take(list, head_json(a, l, heads[h]));
        dg_json_set_take(layer, "heads", list);
        dg_json_append_take(layers, layer);
    }
    dg_json_set_take(o, "layers", layers);
    int rc = dg_json_write(o, 0, &text);
    dg_json_free(o);
    if (rc || text.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the weights as JSON");
    else
        printf("%s\n", text.data);
    dg_buffer_deinit(&text);
    return rc;
}

static int write_picture(
    const struct attention *a, const uint32_t *heads, uint32_t n_heads, struct dg_error *err)
{
    uint32_t layer = a->layer ? (uint32_t)a->layer - 1 : dg_attention_layers(&a->map, a->kind) - 1;
    struct dg_attention_view view;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = dg_attention_view_open(&a->map, a->kind, layer, heads, n_heads, &view, err);
    if (!rc)
        rc = dg_attention_svg_write(&view, &a->svg, &text, err);
    if (!rc)
        rc = dg_file_write(a->out, text.data, text.len, err);
    dg_attention_view_close(&view);
    dg_buffer_deinit(&text);
    return rc;
}

static int run(struct attention *a, struct dg_error *err)
{
    const struct dg_device_options wish = {a->o.device, a->o.precision, a->o.threads};
    struct dg_device device;
    uint32_t *heads = NULL, n_heads = 0;
    int rc = dg_device_choose(&wish, &device, err);
    if (!rc)
        rc = dg_device_open(&device, &a->be, err);
    if (!rc)
        rc = dg_translator_open(a->o.model, a->be, 0, &a->translator, err);
    if (!rc)
        rc = take_heads(a->heads, dg_model_config(dg_translator_model(a->translator))->H, &heads,
            &n_heads, err);
    if (!rc)
        rc = dg_attention_map_open(
            a->translator, a->be, a->source, a->target, &a->o.translate, &a->map, err);
    if (!rc && a->layer > dg_attention_layers(&a->map, a->kind))
        rc = dg_error_set(err, DG_EINVAL, "--layer is %d, the model has %u there", (int)a->layer,
            dg_attention_layers(&a->map, a->kind));
    if (!rc && a->o.json)
        rc = write_json(a, heads, n_heads, err);
    if (!rc && a->out)
        rc = write_picture(a, heads, n_heads, err);
    free(heads);
    dg_attention_map_close(&a->map);
    dg_translator_close(a->translator);
    dg_device_close(a->be);
    return rc;
}

static int take(struct attention *a, int option, const char *arg, struct dg_error *err)
{
    switch (option) {
    case 's': a->source = arg; return 0;
    case 't': a->target = arg; return 0;
    case 'o': a->out = arg; return 0;
    case 'H': a->heads = arg; return 0;
    case 'w': a->svg.word = arg; return 0;
    case 'm': a->svg.heat_map = true; return 0;
    case 'k': return take_kind(arg, &a->kind, err);
    case 'l': return dg_cli_int("--layer", arg, 1, 64, &a->layer, err);
    default: return dg_decode_options_take(&a->o, option, arg, err);
    }
}

/* What there is no use for: a search where the answer is given, a picture's looks without one. */
static int check(const struct attention *a, struct dg_error *err)
{
    const char *option = a->target ? dg_decode_options_search(&a->o) : NULL;
    if (option)
        return dg_error_set(
            err, DG_EINVAL, "%s has no effect with --target: nothing is searched for", option);
    if (!a->out && (a->svg.word || a->svg.heat_map))
        return dg_error_set(err, DG_EINVAL, "%s is of the picture: it needs --out",
            a->svg.word ? "--word" : "--heatmap");
    return dg_decode_options_check(&a->o, err);
}

int dg_cli_attention(int argc, char **argv)
{
    static const struct option options[] = {DG_DECODE_OPTIONS, DG_SEARCH_OPTIONS,
        {"source", 1, NULL, 's'}, {"target", 1, NULL, 't'}, {"kind", 1, NULL, 'k'},
        {"layer", 1, NULL, 'l'}, {"heads", 1, NULL, 'H'}, {"word", 1, NULL, 'w'},
        {"heatmap", 0, NULL, 'm'}, {"out", 1, NULL, 'o'}, {"help", 0, NULL, 'h'}, {0}};
    struct attention a = {.kind = DG_ATTENTION_CROSS};
    struct dg_error err = {0};
    dg_decode_options_init(&a.o);
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (c == '?')
            return 2;
        if (take(&a, c, optarg, &err))
            return dg_cli_usage("attention", "%s", err.message);
    }
    if (optind < argc)
        return dg_cli_usage("attention", "unexpected \"%s\"", argv[optind]);
    if (!a.o.model || !a.source || (!a.out && !a.o.json))
        return dg_cli_usage("attention", "--model, --source and --out (or --json) are needed");
    if (check(&a, &err))
        return dg_cli_usage("attention", "%s", err.message);
    return run(&a, &err) ? dg_cli_fail("attention", &err) : 0;
}
