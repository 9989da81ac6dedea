/* dragoman convert: another program's model as a bundle. */
#include "cli/cli.h"
#include "weights/convert/marian.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: dragoman convert marian --model M.npz --vocab SRC.(yml|spm) [--vocab TGT.(yml|spm)]\n"
    "           [--spm SRC.spm [--spm TGT.spm]] --source-lang CODE --target-lang CODE --out BUNDLE [options]\n\n"
    "  --model FILE         Marian's weights (.npz)\n"
    "  --vocab FILE         source, then target vocabulary; once when they are one\n"
    "  --spm FILE           SentencePiece models in the same order; without them a bundle made from .yml\n"
    "                       vocabularies takes --pieces only\n"
    "  --source-lang CODE   such as en\n"
    "  --target-lang CODE   such as de\n"
    "  --out DIR            the bundle\n"
    "  --positions KIND     marian (10000^(i/(d/2-1)), default) or halves (10000^(2i/d), what CTranslate2 and\n"
    "                       Hugging Face read Marian models with)\n"
    "  --norm-eps X         LayerNorm's epsilon (default: 1e-6 for marian, 1e-5 for halves)\n"
    "  --type TYPE          f32 (default), f16 or bf16 for the matrices\n"
    "  --name NAME          (default: SOURCE-TARGET)\n"
    "  --licence TEXT       kept in the manifest\n";

struct convert {
    struct dg_convert_marian o;
    const char *vocabs[2], *spms[2];
    int n_vocabs, n_spms;
};

static int take_type(const char *arg, enum dg_type *out, struct dg_error *err)
{
    static const struct {
        const char *name;
        enum dg_type type;
    } types[] = {{"f32", DG_F32}, {"f16", DG_F16}, {"bf16", DG_BF16}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!strcmp(arg, types[i].name)) {
            *out = types[i].type;
            return 0;
        }
    }
    return dg_error_set(err, DG_EINVAL, "--type takes f32, f16 or bf16, not \"%.40s\"", arg);
}

static int take_twice(const char *option, const char *arg, const char **list, int *n, struct dg_error *err)
{
    if (*n == 2)
        return dg_error_set(err, DG_EINVAL, "%s can be given twice at most", option);
    list[(*n)++] = arg;
    return 0;
}

static int take(struct convert *c, int option, const char *arg, struct dg_error *err)
{
    switch (option) {
    case 'm': c->o.model = arg; return 0;
    case 'v': return take_twice("--vocab", arg, c->vocabs, &c->n_vocabs, err);
    case 's': return take_twice("--spm", arg, c->spms, &c->n_spms, err);
    case 'S': c->o.source_lang = arg; return 0;
    case 'T': c->o.target_lang = arg; return 0;
    case 'o': c->o.out = arg; return 0;
    case 'n': c->o.name = arg; return 0;
    case 'l': c->o.licence = arg; return 0;
    case 't': return take_type(arg, &c->o.type, err);
    case 'e': return dg_cli_number("--norm-eps", arg, 1e-12, 1e-1, &c->o.norm_eps, err);
    case 'p':
        if (strcmp(arg, "marian") && strcmp(arg, "halves"))
            return dg_error_set(err, DG_EINVAL, "--positions takes marian or halves, not \"%.40s\"", arg);
        c->o.positions = strcmp(arg, "marian") ? DG_POS_HALVES : DG_POS_MARIAN;
        return 0;
    default: return dg_error_set(err, DG_EINVAL, "unknown option");
    }
}

int dg_cli_convert(int argc, char **argv)
{
    static const struct option options[] = {{"model", 1, NULL, 'm'}, {"vocab", 1, NULL, 'v'}, {"spm", 1, NULL, 's'},
        {"source-lang", 1, NULL, 'S'}, {"target-lang", 1, NULL, 'T'}, {"out", 1, NULL, 'o'},
        {"positions", 1, NULL, 'p'}, {"norm-eps", 1, NULL, 'e'}, {"type", 1, NULL, 't'}, {"name", 1, NULL, 'n'},
        {"licence", 1, NULL, 'l'}, {"help", 0, NULL, 'h'}, {0}};
    struct convert c = {.o.positions = DG_POS_MARIAN};
    struct dg_error err = {0};
    for (int opt; (opt = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (opt == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (opt == '?')
            return 2;
        if (take(&c, opt, optarg, &err))
            return dg_cli_usage("convert", "%s", err.message);
    }
    if (optind != argc - 1 || strcmp(argv[optind], "marian"))
        return dg_cli_usage("convert", "the kind of model is needed: marian");
    if (!c.o.model || !c.n_vocabs || !c.o.source_lang || !c.o.target_lang || !c.o.out)
        return dg_cli_usage("convert", "--model, --vocab, --source-lang, --target-lang and --out are needed");
    c.o.source_vocab = c.vocabs[0];
    c.o.target_vocab = c.vocabs[1];
    c.o.source_spm = c.spms[0];
    c.o.target_spm = c.n_spms == 2 ? c.spms[1] : c.spms[0];
    if (dg_convert_marian(&c.o, &err))
        return dg_cli_fail("convert", &err);
    printf("wrote %s\n", c.o.out);
    return 0;
}
