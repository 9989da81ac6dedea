/* dragoman attention: attention weights of a sentence, drawn as SVG or as JSON. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/decode_options.h"
#include "cli/json_line.h"
#include "translate/picture/attention.h"
#include "translate/picture/attention_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attention {
    struct dg_decode_options o;
    const char *source, *target, *out, *heads;
    struct dg_attention_svg svg;
    enum dg_attention_kind kind;
    /* 0: not chosen */
    int64_t layer;
    struct dragoman_model *model;
    struct dg_attention_map map;
};

static const char *const kinds[] = {"encoder", "decoder", "cross", NULL};

#define AT(member) DG_FIELD_AT(struct attention, member)

static const struct dg_field options[] = {
    {"source", DG_FIELD_STRING, AT(source), .flags = DG_FIELD_REQUIRED, .argument = "TEXT",
        .help = "one sentence"},
    {"target", DG_FIELD_STRING, AT(target), .argument = "TEXT",
        .help = "its translation (default: the model's own)"},
    {"kind", DG_FIELD_WORD, AT(kind), 0, 0, .words = kinds, .fallback = "cross", .argument = "KIND",
        .help = "encoder, decoder or cross (from the translation's words to the source)"},
    {"layer", DG_FIELD_INT, AT(layer), 1, 64, .help = "layer, counted from 1 (default: the last)"},
    {"heads", DG_FIELD_STRING, AT(heads), .fallback = "all", .argument = "LIST",
        .help = "all, or head numbers from 1, separated by commas"},
    {"word", DG_FIELD_STRING, AT(svg.word), .argument = "WORD",
        .help = "draw only the attention of this word"},
    {"heatmap", DG_FIELD_BOOL, AT(svg.heat_map),
        .help = "draw a grid per head instead of lines between two columns of words"},
    {"out", DG_FIELD_STRING, AT(out), .argument = "FILE",
        .help = "file for the picture (SVG); optional with --json"},
};

/* Parse --heads into *list, which is malloc'd; the numbers in it count from 0. */
static int take_heads(
    const char *text, uint32_t H, uint32_t **list, uint32_t *n, struct dg_error *err)
{
    bool all = !text || !strcmp(text, "all");
    *n = 0;
    *list = dg_alloc(H, sizeof **list, "heads");
    for (; all && *n < H; (*n)++)
        (*list)[*n] = *n;
    for (const char *p = text; !all && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        const struct dg_field row = {"heads", DG_FIELD_INT, 0, sizeof(int64_t), .min = 1, .max = H};
        char number[16];
        int64_t head;
        snprintf(number, sizeof number, "%.*s", (int)strcspn(p, ","), p);
        int rc = dg_field_set(&row, "--heads", number, &head, err);
        if (!rc && *n == H)
            rc = dg_error_set(err, DG_EINVAL, "--heads lists more heads than the model's %u", H);
        if (rc)
            return rc;
        (*list)[(*n)++] = (uint32_t)head - 1;
    }
    return 0;
}

static struct dg_json *tokens_json(const char *const *tokens, uint32_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t i = 0; i < n; i++)
        dg_json_append_take(list, dg_json_new_string(tokens[i], strlen(tokens[i])));
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
    dg_json_set_take(o, "source_tokens", tokens_json(a->map.source, a->map.trace.S));
    dg_json_set_take(o, "target_tokens", tokens_json(a->map.target, a->map.trace.T));
    for (uint32_t l = first; l < end; l++) {
        struct dg_json *layer = dg_json_new_object(), *list = dg_json_new_array();
        for (uint32_t h = 0; h < n_heads; h++)
            dg_json_append_take(list, head_json(a, l, heads[h]));
        dg_json_set_take(layer, "heads", list);
        dg_json_append_take(layers, layer);
    }
    dg_json_set_take(o, "layers", layers);
    return dg_json_line_write(o, false, err);
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

/* Check that the model has this kind of attention and these heads. */
static int check_model(const struct attention *a, const struct dg_config *c, uint32_t **heads,
    uint32_t *n_heads, struct dg_error *err)
{
    const bool encoder = a->kind == DG_ATTENTION_ENCODER;
    int rc = dg_attention_check(c, a->kind, err);
    return rc ? rc : take_heads(a->heads, encoder ? c->H : dg_config_dec_H(c), heads, n_heads, err);
}

static int run(struct attention *a, struct dg_error *err)
{
    uint32_t *heads = NULL, n_heads = 0;
    a->o.workers = 1;
    int rc = dg_decode_options_open(&a->o, &a->model, err);
    if (!rc)
        rc = check_model(
            a, dg_model_config(dg_translator_model(a->model->translator)), &heads, &n_heads, err);
    if (!rc)
        rc = dg_attention_map_open(a->model->translator, a->model->be, a->source, a->target,
            &a->o.translate, &a->map, err);
    if (!rc && a->layer > dg_attention_layers(&a->map, a->kind))
        rc = dg_error_set(err, DG_EINVAL, "--layer is %d, the model has %u", (int)a->layer,
            dg_attention_layers(&a->map, a->kind));
    if (!rc && a->o.json)
        rc = write_json(a, heads, n_heads, err);
    if (!rc && a->out)
        rc = write_picture(a, heads, n_heads, err);
    free(heads);
    dg_attention_map_close(&a->map);
    dragoman_close(a->model);
    return rc;
}

/* Refuse options without effect: those of the search if the answer is given, and those of the
 * picture without one. */
static int check(struct attention *a, struct dg_error *err)
{
    const char *option = a->target ? dg_decode_options_given(&a->o) : NULL;
    if (option)
        return dg_error_set(err, DG_EINVAL, "%s has no effect with --target", option);
    if (!a->out && (a->svg.word || a->svg.heat_map))
        return dg_error_set(err, DG_EINVAL, "%s affects the picture only: it needs --out",
            a->svg.word ? "--word" : "--heatmap");
    return dg_decode_options_check(&a->o, err);
}

int dg_cli_attention(int argc, char **argv)
{
    struct attention a = {.source = NULL};
    struct dg_error err = {0};
    dg_decode_options_init(&a.o);
    struct dg_fields groups[3 + DG_DECODE_SEARCH] = {
        {options, DG_FIELD_COUNT(options), &a, NULL, NULL}, dg_decode_options_model(&a.o),
        dg_decode_options_tokens(&a.o)};
    dg_decode_options_search(&a.o, groups + 3);
    groups[3].title = "Without --target:";
    dg_fields_default(&groups[0]);
    const struct dg_command command = {.name = "dragoman attention",
        .usage =
            "usage: dragoman attention --source TEXT [--target TEXT] --out "
            "FILE.svg [options]\n\n"
            "Draws the attention weights between the words of a sentence and its translation.\n",
        .after = "--json writes the weights to standard output as [layers][heads][row][column], "
                 "one row and column per\n"
                 "token, for all layers unless --layer chooses one. The decoder's rows and "
                 "columns are its inputs: the\n"
                 "start symbol, then the target's tokens except the last. --tokens keeps tokens "
                 "instead of words.\n",
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups)};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    if (!a.out && !a.o.json)
        return dg_command_refuse("dragoman attention", "--out or --json is needed");
    if (check(&a, &err))
        return dg_command_refuse("dragoman attention", "%s", err.message);
    return run(&a, &err) ? dg_cli_fail("attention", &err) : 0;
}
