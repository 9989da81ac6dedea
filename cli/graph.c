/* DESIGN. Boxes are added in the order of the data flow, each with the names of its inputs; two
 * writers print the list. A layer is drawn once with its count, as in the paper. */
#include "cli/graph.h"

#include "model/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BOXES = 48, MAX_READS = 3 };

struct box {
    const char *name;
    char label[160];
    /* names of its inputs; NULL: no more */
    const char *reads[MAX_READS];
    /* heading of the frame around it */
    const char *frame;
};

struct graph {
    const struct dg_config *config;
    struct box boxes[MAX_BOXES];
    size_t n;
    /* frame of the boxes added next */
    const char *frame;
    char encoder_frame[48], decoder_frame[48];
};

static const char *add(struct graph *g, const char *name, const char *a, const char *b,
    const char *label, ...) __attribute__((format(printf, 5, 6)));

/* Add a box that reads a and b (NULL: nothing). Returns its name. */
static const char *add(
    struct graph *g, const char *name, const char *a, const char *b, const char *label, ...)
{
    struct box *box = &g->boxes[g->n++];
    va_list args;
    *box = (struct box){.name = name, .reads = {a, b}, .frame = g->frame};
    va_start(args, label);
    vsnprintf(box->label, sizeof box->label, label, args);
    va_end(args);
    return name;
}

/* Names of a sublayer's boxes; `sum` is used only where the norms come first. */
struct sublayer {
    const char *name, *norm, *sum;
};

/* Add LayerNorm(x + f(x)), or x + f(LayerNorm(x)) where the norms come first. memory: a second
 * input of f, or NULL. Returns the name of the last box. */
static const char *add_sublayer(
    struct graph *g, const struct sublayer *s, const char *x, const char *memory, const char *label)
{
    if (g->config->pre_norm) {
        add(g, s->norm, x, NULL, "norm");
        add(g, s->name, s->norm, memory, "%s", label);
        return add(g, s->sum, s->name, x, "add");
    }
    add(g, s->name, x, memory, "%s", label);
    return add(g, s->norm, s->name, x, "add & norm");
}

/* Append ", NAME [N,K]" for each of layer 0's tensors whose names begin with `part`, except biases
 * and norms; the layer's number is written as i. */
static void add_shapes(const struct dg_config *c, const char *part, char *out, size_t size)
{
    size_t at = strlen(out);
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info p;
        dg_params_info(c, i, &p);
        if (strncmp(p.name, part, strlen(part)) != 0 || p.N == 1 || strstr(p.name, ".norm."))
            continue;
        int n = snprintf(
            out + at, size - at, ", %.4si%s [%u,%u]", p.name, p.name + strlen("enc.0"), p.N, p.K);
        if (n < 0 || (size_t)n >= size - at)
            return;
        at += (size_t)n;
    }
}

static const char *attention_label(
    const struct dg_config *c, const char *kind, const char *part, char *out, size_t size)
{
    uint32_t H = part[0] == 'd' ? dg_config_dec_H(c) : c->H;
    snprintf(out, size, "%smulti-head attention, %u heads of %u/%u", kind, H, c->H * c->Dk / H,
        c->H * c->Dv / H);
    add_shapes(c, part, out, size);
    return out;
}

static const char *ffn_label(
    const struct dg_config *c, const char *part, char *out, size_t size, uint32_t F)
{
    static const char *const acts[] = {[DG_ACT_NONE] = "no activation",
        [DG_ACT_RELU] = "ReLU",
        [DG_ACT_SWISH] = "swish",
        [DG_ACT_GELU] = "GELU"};
    snprintf(out, size, "feed forward, %u, %s", F, acts[c->act]);
    add_shapes(c, part, out, size);
    return out;
}

/* Add the boxes that turn pieces into vectors: the table's rows, scaled, with positions added. */
static const char *add_embedding(struct graph *g, bool source)
{
    static const char *const positions[] = {[DG_POS_PAPER] = "sinusoids",
        [DG_POS_MARIAN] = "sinusoids, Marian's order",
        [DG_POS_HALVES] = "sinusoids, sines before cosines",
        [DG_POS_LEARNED] = "learned positions"};
    const struct dg_config *c = g->config;
    const char *embedding = source ? "source_embedding" : "target_embedding";
    const char *table = source || c->tied_embeddings ? "src.embed" : "tgt.embed";
    const char *input = source ? add(g, "inputs", NULL, NULL, "source pieces")
                               : add(g, "outputs", NULL, NULL, "target pieces, shifted right");
    add(g, embedding, input, NULL, "embedding, %s [%u,%u] times %.4g", table,
        source ? c->source_vocab : c->target_vocab, c->D, (double)c->embed_scale);
    return add(g, source ? "source_positions" : "target_positions", embedding, NULL, "add %s",
        positions[c->positions]);
}

static const char *add_encoder(struct graph *g)
{
    static const struct sublayer self = {"enc_self", "enc_self_norm", "enc_self_sum"};
    static const struct sublayer ffn = {"enc_ffn", "enc_ffn_norm", "enc_ffn_sum"};
    const struct dg_config *c = g->config;
    char label[160];
    g->frame = "encoder";
    const char *x = add_embedding(g, true);
    snprintf(g->encoder_frame, sizeof g->encoder_frame, "encoder layer, %u times", c->enc_layers);
    g->frame = g->encoder_frame;
    x = add_sublayer(g, &self, x, NULL, attention_label(c, "", "enc.0.self", label, sizeof label));
    x = add_sublayer(g, &ffn, x, NULL, ffn_label(c, "enc.0.ffn", label, sizeof label, c->F));
    g->frame = "encoder";
    return c->pre_norm ? add(g, "enc_norm", x, NULL, "norm") : x;
}

static const char *add_decoder(struct graph *g, const char *memory)
{
    static const struct sublayer self = {"dec_self", "dec_self_norm", "dec_self_sum"};
    static const struct sublayer cross = {"dec_cross", "dec_cross_norm", "dec_cross_sum"};
    static const struct sublayer ffn = {"dec_ffn", "dec_ffn_norm", "dec_ffn_sum"};
    const struct dg_config *c = g->config;
    char label[160] = "SSRU";
    g->frame = "decoder";
    const char *x = add_embedding(g, false);
    snprintf(g->decoder_frame, sizeof g->decoder_frame, "decoder layer, %u times", c->dec_layers);
    g->frame = g->decoder_frame;
    if (c->decoder == DG_DECODER_SSRU)
        add_shapes(c, "dec.0.ssru", label, sizeof label);
    else
        attention_label(c, "masked ", "dec.0.self", label, sizeof label);
    x = add_sublayer(g, &self, x, NULL, label);
    x = add_sublayer(
        g, &cross, x, memory, attention_label(c, "", "dec.0.cross", label, sizeof label));
    x = add_sublayer(
        g, &ffn, x, NULL, ffn_label(c, "dec.0.ffn", label, sizeof label, dg_config_dec_F(c)));
    g->frame = "decoder";
    return c->pre_norm ? add(g, "dec_norm", x, NULL, "norm") : x;
}

static void add_output(struct graph *g, const char *x)
{
    const struct dg_config *c = g->config;
    const char *matrix = !c->tied_output      ? "out.w"
                         : c->tied_embeddings ? "src.embed, the embeddings' table"
                                              : "tgt.embed, the embeddings' table";
    g->frame = "output";
    add(g, "linear", x, NULL, "linear, %s [%u,%u]%s", matrix, c->target_vocab, c->D,
        c->output_bias ? " with a bias" : "");
    add(g, "softmax", "linear", NULL, "softmax: output probabilities");
}

/* Figure 2: one head on the left, all of them on the right. */
static void add_attention(struct graph *g)
{
    const struct dg_config *c = g->config;
    const char *bias = c->attention_bias ? " with biases" : "";
    g->frame = "multi-head attention";
    add(g, "V", NULL, NULL, "V [.,%u]", c->D);
    add(g, "K", NULL, NULL, "K [.,%u]", c->D);
    add(g, "Q", NULL, NULL, "Q [.,%u]", c->D);
    add(g, "v", "V", NULL, "linear to %u heads of %u%s", c->H, c->Dv, bias);
    add(g, "k", "K", NULL, "linear to %u heads of %u%s", c->H, c->Dk, bias);
    add(g, "q", "Q", NULL, "linear to %u heads of %u%s", c->H, c->Dk, bias);
    g->frame = "scaled dot-product attention of a head";
    add(g, "scores", "q", "k", "matrix product q k^T");
    add(g, "scale", "scores", NULL, "scale by 1/sqrt(%u)", c->Dk);
    add(g, "mask", "scale", NULL, "mask (the decoder's own pieces)");
    add(g, "weights", "mask", NULL, "softmax");
    add(g, "sum", "weights", "v", "matrix product with v");
    g->frame = "multi-head attention";
    add(g, "concat", "sum", NULL, "concatenate %u heads: [.,%u]", c->H, c->H * c->Dv);
    add(g, "project", "concat", NULL, "linear [%u,%u]%s", c->D, c->H * c->Dv, bias);
}

static void write_text(const struct graph *g, struct dg_buffer *out)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct box *b = &g->boxes[i];
        if (i == 0 || strcmp(b->frame, g->boxes[i - 1].frame) != 0)
            dg_buffer_addf(out, "%s\n", b->frame);
        dg_buffer_addf(out, "  %-17s %s", b->name, b->label);
        for (int r = 0; r < MAX_READS && b->reads[r]; r++)
            dg_buffer_addf(out, "%s%s", r ? ", " : "  <- ", b->reads[r]);
        dg_buffer_adds(out, "\n");
    }
}

/* Write each frame as one cluster, wherever in the list its boxes are. `prefix` keeps the names of
 * the two figures apart. */
static void write_dot(const struct graph *g, const char *prefix, struct dg_buffer *out)
{
    for (size_t i = 0; i < g->n; i++) {
        size_t first = 0;
        while (strcmp(g->boxes[first].frame, g->boxes[i].frame) != 0)
            first++;
        if (first != i)
            continue;
        dg_buffer_addf(out, "  subgraph \"cluster_%s%zu\" {\n    label=\"%s\";\n", prefix, i,
            g->boxes[i].frame);
        for (size_t k = i; k < g->n; k++)
            if (strcmp(g->boxes[k].frame, g->boxes[i].frame) == 0)
                dg_buffer_addf(
                    out, "    %s%s [label=\"%s\"];\n", prefix, g->boxes[k].name, g->boxes[k].label);
        dg_buffer_adds(out, "  }\n");
    }
    for (size_t i = 0; i < g->n; i++)
        for (int r = 0; r < MAX_READS && g->boxes[i].reads[r]; r++)
            dg_buffer_addf(
                out, "  %s%s -> %s%s;\n", prefix, g->boxes[i].reads[r], prefix, g->boxes[i].name);
}

void dg_graph_write(const struct dg_config *c, enum dg_graph_form form, struct dg_buffer *out)
{
    struct graph model = {.config = c}, attention = {.config = c};
    add_output(&model, add_decoder(&model, add_encoder(&model)));
    add_attention(&attention);
    if (form == DG_GRAPH_TEXT) {
        dg_buffer_adds(out, "Figure 1: the model\n\n");
        write_text(&model, out);
        dg_buffer_adds(out, "\nFigure 2: the encoder's attention\n\n");
        write_text(&attention, out);
        return;
    }
    dg_buffer_adds(out, "digraph model {\n  rankdir=BT;\n  node [shape=box];\n");
    write_dot(&model, "", out);
    write_dot(&attention, "head_", out);
    dg_buffer_adds(out, "}\n");
}
