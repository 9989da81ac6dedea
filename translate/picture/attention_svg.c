#include "translate/picture/attention_svg.h"

#include "base/svg.h"
#include "text/utf8.h"

#include <string.h>

/* In pixels. A letter's width is a guess: text is anchored so that a wrong one costs white space
 * only. */
enum {
    LETTER = 9,
    MARGIN = 12,
    LINE = 22,
    CELL = 20,
    HEAD = 64,
    GAP = 180,
    LABEL_MIN = 60,
    LABEL_MAX = 420
};

static bool is_utf8(const char *s)
{
    return dg_utf8_check(s, strlen(s), NULL) == 0;
}

static void add_text(struct dg_buffer *b, const char *s)
{
    dg_svg_text(b, s, is_utf8(s));
}

static size_t width_of(char *const *labels, uint32_t n)
{
    size_t most = LABEL_MIN;
    for (uint32_t i = 0; i < n; i++) {
        size_t w = LETTER * (is_utf8(labels[i]) ? dg_utf8_count(labels[i], strlen(labels[i]))
                                                : strlen(labels[i]));
        most = w > most ? w : most;
    }
    return most < LABEL_MAX ? most : LABEL_MAX;
}

static bool is_shown(
    const struct dg_attention_view *v, const struct dg_attention_svg *o, uint32_t row)
{
    return !o->word || strcmp(v->row_labels[row], o->word) == 0;
}

static float weight(const struct dg_attention_view *v, uint32_t head, uint32_t row, uint32_t column)
{
    return v->weights[((size_t)head * v->rows + row) * v->columns + column];
}

static void add_title(const struct dg_attention_view *v, struct dg_buffer *b)
{
    static const char *const kinds[] = {
        "encoder self-attention", "decoder self-attention", "attention to the source"};
    dg_buffer_addf(b, "%s, layer %u of %u", kinds[v->kind], v->layer + 1, v->n_layers);
}

/* The picture's head: its size, title, and each head's number in its colour. */
static void begin(
    const struct dg_attention_view *v, size_t width, size_t height, struct dg_buffer *b)
{
    size_t legend = MARGIN + (size_t)v->n_heads * 34;
    width = width > legend ? width : legend;
    width = width > 360 ? width : 360;
    dg_svg_begin(b, width, height, 14);
    dg_buffer_adds(b, "<title>");
    add_title(v, b);
    dg_buffer_adds(b, "</title>\n");
    dg_buffer_addf(b, "<text x=\"%d\" y=\"22\">", MARGIN);
    add_title(v, b);
    dg_buffer_adds(b, "</text>\n");
    for (uint32_t h = 0; h < v->n_heads; h++)
        dg_buffer_addf(b,
            "<rect x=\"%u\" y=\"34\" width=\"12\" height=\"12\" fill=\"%s\"/>"
            "<text x=\"%u\" y=\"45\" font-size=\"12\">%u</text>\n",
            MARGIN + h * 34, dg_svg_colour(h), MARGIN + h * 34 + 15, v->heads[h] + 1);
}

static void add_label(
    struct dg_buffer *b, size_t x, size_t y, const char *anchor, bool dim, const char *s)
{
    dg_buffer_addf(b, "<text x=\"%zu\" y=\"%zu\"%s%s>", x, y, anchor, dim ? " class=\"soft\"" : "");
    add_text(b, s);
    dg_buffer_adds(b, "</text>\n");
}

static void write_lines(
    const struct dg_attention_view *v, const struct dg_attention_svg *o, struct dg_buffer *b)
{
    size_t left = MARGIN + width_of(v->row_labels, v->rows), right = left + GAP;
    size_t most = v->rows > v->columns ? v->rows : v->columns;
    begin(
        v, right + width_of(v->column_labels, v->columns) + MARGIN, HEAD + most * LINE + MARGIN, b);
    for (uint32_t h = 0; h < v->n_heads; h++) {
        dg_buffer_addf(b, "<g stroke=\"%s\" stroke-width=\"2\">\n", dg_svg_colour(h));
        for (uint32_t r = 0; r < v->rows; r++) {
            for (uint32_t c = 0; is_shown(v, o, r) && c < v->columns; c++) {
                float w = weight(v, h, r, c);
                if (w >= DG_ATTENTION_FAINT)
                    dg_buffer_addf(b,
                        "<line x1=\"%zu\" y1=\"%u\" x2=\"%zu\" y2=\"%u\" "
                        "stroke-opacity=\"%.3f\"/>\n",
                        left + 6, HEAD + r * LINE + LINE / 2, right - 6, HEAD + c * LINE + LINE / 2,
                        (double)w);
            }
        }
        dg_buffer_adds(b, "</g>\n");
    }
    for (uint32_t r = 0; r < v->rows; r++)
        add_label(b, left, HEAD + r * LINE + LINE / 2 + 5, " text-anchor=\"end\"",
            !is_shown(v, o, r), v->row_labels[r]);
    for (uint32_t c = 0; c < v->columns; c++)
        add_label(b, right, HEAD + c * LINE + LINE / 2 + 5, "", false, v->column_labels[c]);
}

/* Add one head's grid with its upper left corner at x, y. */
static void add_grid(const struct dg_attention_view *v, const struct dg_attention_svg *o,
    uint32_t h, size_t x, size_t y, struct dg_buffer *b)
{
    dg_buffer_addf(b, "<g fill=\"%s\">\n", dg_svg_colour(h));
    for (uint32_t r = 0; r < v->rows; r++) {
        for (uint32_t c = 0; is_shown(v, o, r) && c < v->columns; c++) {
            dg_buffer_addf(b,
                "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" "
                "fill-opacity=\"%.3f\"><title>",
                x + c * CELL, y + r * CELL, CELL, CELL, (double)weight(v, h, r, c));
            add_text(b, v->row_labels[r]);
            dg_buffer_adds(b, " \xE2\x86\x92 ");
            add_text(b, v->column_labels[c]);
            dg_buffer_addf(
                b, ", head %u: %.3f</title></rect>\n", v->heads[h] + 1, (double)weight(v, h, r, c));
        }
    }
    dg_buffer_addf(b,
        "</g>\n<rect x=\"%zu\" y=\"%zu\" width=\"%u\" height=\"%u\" fill=\"none\" "
        "stroke=\"#999\"/>\n",
        x, y, v->columns * CELL, v->rows * CELL);
    for (uint32_t r = 0; r < v->rows; r++)
        add_label(b, x - 6, y + r * CELL + CELL / 2 + 5, " text-anchor=\"end\"", !is_shown(v, o, r),
            v->row_labels[r]);
    for (uint32_t c = 0; c < v->columns; c++) {
        size_t at = x + c * CELL + CELL / 2 + 5;
        dg_buffer_addf(b, "<g transform=\"rotate(-90 %zu %zu)\">", at, y - 6);
        add_label(b, at, y - 6, "", false, v->column_labels[c]);
        dg_buffer_adds(b, "</g>\n");
    }
}

/* Up to four grids side by side. */
static void write_grids(
    const struct dg_attention_view *v, const struct dg_attention_svg *o, struct dg_buffer *b)
{
    size_t side = width_of(v->row_labels, v->rows) + 6,
           top = width_of(v->column_labels, v->columns) + 6;
    size_t width = side + (size_t)v->columns * CELL + MARGIN,
           height = top + (size_t)v->rows * CELL + MARGIN;
    size_t across = v->n_heads < 4 ? v->n_heads : 4, down = (v->n_heads + 3) / 4;
    begin(v, MARGIN + across * width, HEAD + down * height, b);
    for (uint32_t h = 0; h < v->n_heads; h++)
        add_grid(v, o, h, MARGIN + (h % 4) * width + side, HEAD + (h / 4) * height + top, b);
}

/* Fails because no row is labelled `word`; the message lists the labels. */
static int refuse_word(const struct dg_attention_view *v, const char *word, struct dg_error *err)
{
    struct dg_buffer words = {0};
    for (uint32_t r = 0; r < v->rows; r++)
        dg_buffer_addf(&words, "%s%s", r ? " " : "", v->row_labels[r]);
    int rc = dg_error_field(err, DG_ENOTFOUND, "word",
        "there is no word \"%.60s\" in the sentence that attends: %.400s", word,
        words.data ? words.data : "");
    dg_buffer_deinit(&words);
    return rc;
}

int dg_attention_svg_write(const struct dg_attention_view *v, const struct dg_attention_svg *o,
    struct dg_buffer *out, struct dg_error *err)
{
    bool any = false;
    for (uint32_t r = 0; r < v->rows; r++)
        any = any || is_shown(v, o, r);
    if (!any)
        return refuse_word(v, o->word, err);
    if (o->heat_map)
        write_grids(v, o, out);
    else
        write_lines(v, o, out);
    dg_svg_end(out);
    return out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for the picture") : 0;
}
