/* dragoman convert: another program's model as a bundle. */
#include "cli/cli.h"
#include "convert/huggingface/huggingface.h"
#include "convert/marian/marian.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: dragoman convert marian --model M.npz --vocab SRC.(yml|spm) [--vocab TGT.(yml|spm)]\n"
    "           [--spm SRC.spm [--spm TGT.spm]] --source-lang CODE --target-lang CODE --out BUNDLE "
    "[options]\n"
    "       dragoman convert huggingface DIR --out BUNDLE [options]\n\n"
    "Of both:\n"
    "  --out DIR            the bundle\n"
    "  --source-lang CODE   such as en\n"
    "  --target-lang CODE   such as de\n"
    "  --type TYPE          f32 (default), f16 or bf16 for the matrices\n"
    "  --name NAME          (default: SOURCE-TARGET, or the directory's name)\n"
    "  --licence TEXT       kept in the manifest\n\n"
    "marian:\n"
    "  --model FILE         Marian's weights (.npz)\n"
    "  --vocab FILE         source, then target vocabulary; once when they are one\n"
    "  --spm FILE           SentencePiece models in the same order; without them a bundle made "
    "from .yml\n"
    "                       vocabularies takes --pieces only\n"
    "  --positions KIND     marian (10000^(i/(d/2-1)), default) or halves (10000^(2i/d), what "
    "CTranslate2 and\n"
    "                       Hugging Face read Marian models with)\n"
    "  --norm-eps X         LayerNorm's epsilon (default: 1e-6 for marian, 1e-5 for halves)\n\n"
    "huggingface: DIR is a MarianMT model (such as OPUS-MT) with config.json, model.safetensors, "
    "vocab.json,\n"
    "source.spm and target.spm; languages that are not given come from tokenizer_config.json and, "
    "for models of\n"
    "many target languages, from the tags in the vocabulary (>>deu<< is called de).\n"
    "  --source-lang CODES  several with commas between\n"
    "  --target-lang CODES  likewise; with tags: those that are wanted (default: all)\n";

struct convert {
    struct dg_convert_marian marian;
    const char *vocabs[2], *spms[2];
    int n_vocabs, n_spms;
    const char *marian_only; /* the last option given that Hugging Face's models do not have */
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

static int take_twice(
    const char *option, const char *arg, const char **list, int *n, struct dg_error *err)
{
    if (*n == 2)
        return dg_error_set(err, DG_EINVAL, "%s can be given twice at most", option);
    list[(*n)++] = arg;
    return 0;
}

static int take_positions(const char *arg, enum dg_positions *out, struct dg_error *err)
{
    if (strcmp(arg, "marian") && strcmp(arg, "halves"))
        return dg_error_set(
            err, DG_EINVAL, "--positions takes marian or halves, not \"%.40s\"", arg);
    *out = strcmp(arg, "marian") ? DG_POS_HALVES : DG_POS_MARIAN;
    return 0;
}

/* Options that only Marian's models have are in capitals. */
static int take(
    struct convert *c, int option, const char *name, const char *arg, struct dg_error *err)
{
    struct dg_convert_marian *m = &c->marian;
    if (option >= 'A' && option <= 'Z')
        c->marian_only = name;
    switch (option) {
    case 'M': m->model = arg; return 0;
    case 'V': return take_twice("--vocab", arg, c->vocabs, &c->n_vocabs, err);
    case 'S': return take_twice("--spm", arg, c->spms, &c->n_spms, err);
    case 'E': return dg_cli_number("--norm-eps", arg, 1e-12, 1e-1, &m->norm_eps, err);
    case 'P': return take_positions(arg, &m->positions, err);
    case 's': m->source_lang = arg; return 0;
    case 't': m->target_lang = arg; return 0;
    case 'o': m->out = arg; return 0;
    case 'n': m->name = arg; return 0;
    case 'l': m->licence = arg; return 0;
    case 'y': return take_type(arg, &m->type, err);
    default: return dg_error_set(err, DG_EINVAL, "unknown option");
    }
}

static int convert_marian(struct convert *c)
{
    struct dg_convert_marian *m = &c->marian;
    struct dg_error err = {0};
    if (!m->model || !c->n_vocabs || !m->source_lang || !m->target_lang || !m->out)
        return dg_cli_usage(
            "convert", "--model, --vocab, --source-lang, --target-lang and --out are needed");
    m->source_vocab = c->vocabs[0];
    m->target_vocab = c->vocabs[1];
    m->source_spm = c->spms[0];
    m->target_spm = c->n_spms == 2 ? c->spms[1] : c->spms[0];
    return dg_convert_marian(m, &err) ? dg_cli_fail("convert", &err) : 0;
}

static int convert_huggingface(const struct convert *c, const char *dir)
{
    const struct dg_convert_marian *m = &c->marian;
    const struct dg_convert_huggingface o = {.dir = dir,
        .source_lang = m->source_lang,
        .target_lang = m->target_lang,
        .out = m->out,
        .name = m->name,
        .licence = m->licence,
        .type = m->type};
    struct dg_error err = {0};
    if (c->marian_only)
        return dg_cli_usage(
            "convert", "--%s is for Marian's own files, not for huggingface", c->marian_only);
    if (!o.out)
        return dg_cli_usage("convert", "--out is needed");
    return dg_convert_huggingface(&o, &err) ? dg_cli_fail("convert", &err) : 0;
}

int dg_cli_convert(int argc, char **argv)
{
    static const struct option options[] = {{"model", 1, NULL, 'M'}, {"vocab", 1, NULL, 'V'},
        {"spm", 1, NULL, 'S'}, {"positions", 1, NULL, 'P'}, {"norm-eps", 1, NULL, 'E'},
        {"source-lang", 1, NULL, 's'}, {"target-lang", 1, NULL, 't'}, {"out", 1, NULL, 'o'},
        {"type", 1, NULL, 'y'}, {"name", 1, NULL, 'n'}, {"licence", 1, NULL, 'l'},
        {"help", 0, NULL, 'h'}, {0}};
    struct convert c = {.marian.positions = DG_POS_MARIAN};
    struct dg_error err = {0};
    for (int opt, at = 0; (opt = getopt_long(argc, argv, "h", options, &at)) != -1;) {
        if (opt == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (opt == '?')
            return 2;
        if (take(&c, opt, options[at].name, optarg, &err))
            return dg_cli_usage("convert", "%s", err.message);
    }
    const char *kind = optind < argc ? argv[optind] : "";
    int rc;
    if (!strcmp(kind, "marian") && optind == argc - 1)
        rc = convert_marian(&c);
    else if (!strcmp(kind, "huggingface") && optind == argc - 2)
        rc = convert_huggingface(&c, argv[optind + 1]);
    else if (!strcmp(kind, "huggingface"))
        return dg_cli_usage("convert", "huggingface takes one directory");
    else
        return dg_cli_usage("convert", "the kind of model is needed: marian or huggingface");
    if (!rc)
        printf("wrote %s\n", c.marian.out);
    return rc;
}
