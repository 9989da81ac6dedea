/* dragoman inspect: describes a bundle. --verify also checks every byte, --tensors also lists every
 * tensor; --graph and --dot draw its boxes instead. */
#include "base/command.h"
#include "cli/cli.h"
#include "cli/graph.h"
#include "model/params.h"
#include "translate/installed.h"
#include "weights/bundle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_PAIRS = 60 };

struct inspect {
    bool verify, tensors, graph, dot;
};

static const struct dg_field rows[] = {
    {"verify", DG_FIELD_BOOL, DG_FIELD_AT(struct inspect, verify),
        .help = "check every checksum and the bundle's version"},
    {"tensors", DG_FIELD_BOOL, DG_FIELD_AT(struct inspect, tensors), .help = "list every tensor"},
    {"graph", DG_FIELD_BOOL, DG_FIELD_AT(struct inspect, graph),
        .help = "print the model's boxes as in Figures 1 and 2 of the paper: name, shapes and "
                "inputs of each"},
    {"dot", DG_FIELD_BOOL, DG_FIELD_AT(struct inspect, dot),
        .help = "print the same graph for Graphviz; dot -Tsvg draws it"},
};

static void print_tensors(const struct dg_weights *w)
{
    for (size_t i = 0; i < dg_weights_count(w); i++) {
        const struct dg_tensor *t = dg_weights_at(w, i);
        printf("  %-28s [%llu,%llu]", t->name, (unsigned long long)t->shape[0],
            (unsigned long long)t->shape[1]);
        for (size_t f = 0; f < t->n_stored; f++)
            printf(" %s/%s", dg_weights_type_name(t->stored[f].type),
                t->stored[f].layout == DG_LAYOUT_ROWS ? "rows" : "packed");
        printf("\n");
    }
}

/* The pairs of a multilingual model would fill pages, so only its source languages are printed. */
static void print_pairs(const struct dg_bundle *b)
{
    const char *s, *t;
    const size_t n = dg_bundle_pairs(b);
    if (n > SHOWN_PAIRS) {
        printf("%zu pairs, from", n);
        for (size_t i = 0; i < n; i++) {
            const char *before = NULL;
            if (i > 0)
                dg_bundle_pair(b, i - 1, &before, &t);
            dg_bundle_pair(b, i, &s, &t);
            if (!before || strcmp(before, s) != 0)
                printf(" %s", s);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        dg_bundle_pair(b, i, &s, &t);
        printf("%s%s-%s", i ? " " : "", s, t);
    }
}

/* Print the pairs that have search settings of their own. */
static void print_pair_decoding(const struct dg_json *all)
{
    for (const char *k = dg_json_next_key(all, NULL); k; k = dg_json_next_key(all, k)) {
        const struct dg_json *of = dg_json_get(all, k);
        char pair[80];
        dg_error_plain(k, pair, sizeof pair);
        const double cap = dg_json_number(dg_json_get(of, "length_penalty_cap"));
        printf("            %s: length_penalty %g", pair,
            dg_json_number(dg_json_get(of, "length_penalty")));
        if (cap > 0)
            printf(", counting at most %g x input", cap);
        printf("\n");
    }
}

static void print_decoding(const struct dg_config *c)
{
    printf("decoding    beam_size %u, length_penalty %g, output <= ", c->beam, (double)c->alpha);
    if (c->length_factor > 0)
        printf("%g x input", (double)c->length_factor);
    else
        printf("input + %u", c->extra_length);
    if (c->max_source)
        printf(", sentences <= %u tokens", c->max_source);
    putchar('\n');
}

/* Names DRAGOMAN_SHORTLIST if that variable is the reason. */
static void print_use(const struct dg_bundle *b, const struct dg_json *decision)
{
    const struct dg_json *use = dg_json_get(decision, "use");
    const bool used = dg_bundle_shortlist(b)[0] != '\0', wanted = !use || dg_json_bool(use);
    const struct dg_json *pairs = dg_json_get(decision, "use_for");
    const char *why = dg_json_length(dg_json_get(decision, "measured")) == 0
                          ? "it was never measured"
                      : wanted ? "it keeps BLEU and chrF2"
                               : "it costs BLEU or chrF2";
    printf("shortlist   %s", used ? "used" : "not used");
    for (size_t i = 0; used == wanted && i < dg_json_length(pairs); i++)
        printf("%s%s-%s", i ? ", " : " for ",
            dg_json_string(dg_json_at(dg_json_at(pairs, i), 0), NULL),
            dg_json_string(dg_json_at(dg_json_at(pairs, i), 1), NULL));
    printf(": ");
    if (used == wanted)
        printf("%s\n", why);
    else
        printf("DRAGOMAN_SHORTLIST says so; without it, it is %s: %s\n",
            wanted ? "used" : "not used", why);
}

static void language(const struct dg_json *code, char out[40])
{
    const char *s = dg_json_string(code, NULL);
    dg_error_plain(s ? s : "?", out, 40);
}

/* Print whether there is a shortlist, whether it is used, and what was measured with and without
 * it. */
static void print_shortlist(const struct dg_bundle *b)
{
    const struct dg_json *decision = dg_json_get(dg_bundle_manifest(b), "shortlist"),
                         *measured = dg_json_get(decision, "measured");
    if (!dg_bundle_has_shortlist(b)) {
        printf("shortlist   none\n");
        return;
    }
    print_use(b, decision);
    for (size_t i = 0; i < dg_json_length(measured); i++) {
        const struct dg_json *m = dg_json_at(measured, i), *pair = dg_json_get(m, "pair");
        char from[40], to[40];
        language(dg_json_at(pair, 0), from);
        language(dg_json_at(pair, 1), to);
        printf("            %s-%s, beam %lld, %lld lines: BLEU %.2f (%.2f without), chrF2 %.2f "
               "(%.2f)\n",
            from, to, (long long)dg_json_int(dg_json_get(m, "beam_size")),
            (long long)dg_json_int(dg_json_get(m, "lines")), dg_json_number(dg_json_get(m, "bleu")),
            dg_json_number(dg_json_get(m, "bleu_full")), dg_json_number(dg_json_get(m, "chrf")),
            dg_json_number(dg_json_get(m, "chrf_full")));
    }
}

static void print_bundle(const struct dg_bundle *b, const struct dg_config *c)
{
    const struct dg_weights *w = dg_bundle_weights(b);
    const char *licence = "not stated";
    dg_json_field_string(dg_bundle_manifest(b), NULL, "licence", &licence, NULL);
    printf("name        %s\nversion     %s\npairs       ", dg_bundle_name(b), dg_bundle_version(b));
    print_pairs(b);
    printf("\nmodel       encoder %u + decoder %u layers, d_model %u, d_ff %u, %u heads of %u/%u\n",
        c->enc_layers, c->dec_layers, c->D, c->F, c->H, c->Dk, c->Dv);
    if (c->dec_F || c->dec_H)
        printf("            decoder: d_ff %u, %u heads\n", dg_config_dec_F(c), dg_config_dec_H(c));
    if (c->decoder == DG_DECODER_SSRU || c->pre_norm)
        printf("            not the paper's: %s%s%s\n",
            c->decoder == DG_DECODER_SSRU ? "SSRU decoder" : "",
            c->decoder == DG_DECODER_SSRU && c->pre_norm ? ", " : "",
            c->pre_norm ? "norms before the sublayers" : "");
    printf("vocabulary  %u source, %u target%s%s\n", c->source_vocab, c->target_vocab,
        c->tied_embeddings ? ", one table" : "", c->tied_output ? ", tied to the output" : "");
    printf("parameters  %llu\n", (unsigned long long)dg_params_elements(c));
    printf("weights     %zu tensors, %.1f MB\n", dg_weights_count(w),
        (double)dg_weights_bytes(w) / 1e6);
    print_decoding(c);
    print_pair_decoding(dg_json_get(dg_bundle_manifest(b), "pair_decoding"));
    print_shortlist(b);
    printf("text        %s\nlicence     %s\n",
        dg_bundle_source_spm(b)[0] ? "SentencePiece" : "none: takes --tokens only", licence);
    if (dg_bundle_is_non_commercial(b))
        printf("            NON-COMMERCIAL: this licence forbids commercial use\n");
}

static int print_graph(const struct dg_config *c, enum dg_graph_form form, struct dg_error *err)
{
    struct dg_buffer out;
    dg_buffer_init(&out);
    dg_graph_write(c, form, &out);
    int rc = out.failed ? dg_error_set(err, DG_ENOMEM, "no memory for the graph") : 0;
    if (!rc)
        fputs(out.data, stdout);
    dg_buffer_deinit(&out);
    return rc;
}

int dg_cli_inspect(int argc, char **argv)
{
    struct inspect o = {0};
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &o, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman inspect",
        .usage = "usage: dragoman inspect BUNDLE [--verify] [--tensors | --graph | --dot]\n\n"
                 "Describes a bundle: languages, model, search settings.\n"
                 "BUNDLE is a bundle's directory, or the name of an installed one.\n",
        .groups = groups,
        .n_groups = 1,
        .min_words = 1,
        .max_words = 1,
        .words = "one bundle"};
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    if (o.tensors + o.graph + o.dot > 1)
        return dg_command_refuse(command.name, "--tensors, --graph and --dot exclude one another");
    struct dg_error err = {0};
    struct dg_bundle *b = NULL;
    struct dg_config config;
    char dir[4400];
    int rc = dg_installed_named(argv[1], dir, sizeof dir, &err);
    if (!rc)
        rc = dg_bundle_open(dir, &b, &err);
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(b), &config, &err);
    const bool draws = o.graph || o.dot;
    if (!rc && draws)
        rc = print_graph(&config, o.dot ? DG_GRAPH_DOT : DG_GRAPH_TEXT, &err);
    if (!rc && !draws)
        print_bundle(b, &config);
    if (!rc && o.tensors)
        print_tensors(dg_bundle_weights(b));
    if (!rc && o.verify) {
        rc = dg_bundle_verify(b, &err);
        if (!rc && !draws)
            printf("verified    every checksum and the version\n");
    }
    dg_bundle_close(b);
    return rc ? dg_cli_fail("inspect", &err) : 0;
}
