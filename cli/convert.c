/* dragoman convert: converts another program's model to a bundle. */
#include "base/command.h"
#include "cli/cli.h"
#include "convert/bergamot/bergamot.h"
#include "convert/ctranslate2/argos.h"
#include "convert/huggingface/huggingface.h"
#include "convert/marian/marian.h"
#include "translate/run/check.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct convert {
    struct dg_convert_marian marian;
    struct dg_field_list vocabs, spms;
    /* index into `scales` below */
    unsigned scales;
};

static const char *const types[] = {"f32", "f16", "bf16", NULL};
static const char *const positions[] = {"marian", "halves", NULL};
static_assert(DG_F16 == DG_F32 + 1 && DG_BF16 == DG_F32 + 2, "the order of `types`");
static_assert(DG_POS_HALVES == DG_POS_MARIAN + 1, "the order of `positions`");

static const char *const scales[] = {"dynamic", "stored", NULL};

enum { TYPE_ROW = 3, SPM_ROW = 2, SCALES_ROW = 4 }; /* row of `both`; rows of `marian_only` */

#define AT(member) DG_FIELD_AT(struct convert, member)

static const struct dg_field both[] = {
    {"out", DG_FIELD_STRING, AT(marian.to.out), .flags = DG_FIELD_REQUIRED, .argument = "DIR",
        .help = "output directory: the bundle"},
    {"source_lang", DG_FIELD_STRING, AT(marian.to.source_lang), .argument = "CODE",
        .help = "source language, such as en; huggingface: a list separated by commas "
                "(default: the model's)"},
    {"target_lang", DG_FIELD_STRING, AT(marian.to.target_lang), .argument = "CODE",
        .help = "target language, such as de; a list for huggingface and for models with "
                "language tags (default: all)"},
    {"type", DG_FIELD_WORD, AT(marian.to.type), DG_F32, DG_BF16, .words = types, .fallback = "f32",
        .argument = "TYPE",
        .help = "type of the matrices (without this option, a Marian file's int8 matrices stay "
                "int8)"},
    {"name", DG_FIELD_STRING, AT(marian.to.name), .argument = "NAME",
        .help = "name of the bundle (default: SOURCE-TARGET, or the directory's name)"},
    {"licence", DG_FIELD_STRING, AT(marian.to.licence), .argument = "TEXT",
        .help = "licence to record in the manifest"},
};

/* Options of Marian's own files. `options` in struct kind says which of them another kind has. */
static const struct dg_field marian_only[] = {
    {"model", DG_FIELD_STRING, AT(marian.model), .argument = "FILE",
        .help = "weights file (.npz, or .bin of Bergamot and Firefox)"},
    {"vocab", DG_FIELD_LIST, AT(vocabs), 0, 2, .argument = "FILE",
        .help = "source, then target vocabulary (.yml or .spm); once for a joint vocabulary"},
    {"spm", DG_FIELD_LIST, AT(spms), 0, 2, .argument = "FILE",
        .help = "SentencePiece models in the same order; without them, a bundle with .yml "
                "vocabularies takes --tokens only"},
    {"shortlist", DG_FIELD_STRING, AT(marian.shortlist), .argument = "FILE",
        .help = "Marian's binary lexical shortlist"},
    {"activation_scales", DG_FIELD_WORD, AT(scales), 0, 1, .words = scales, .fallback = "dynamic",
        .argument = "KIND",
        .help = "int8 files: dynamic (one scale per row), or stored (the file's scales, "
                "computed in fp32, for comparisons with Bergamot)"},
    {"positions", DG_FIELD_WORD, AT(marian.positions), DG_POS_MARIAN, DG_POS_HALVES,
        .words = positions, .fallback = "marian", .argument = "KIND",
        .help = "position encoding: marian (10000^(i/(d/2-1))) or halves (10000^(2i/d), as "
                "CTranslate2 and Hugging Face read Marian models)"},
    {"norm_eps", DG_FIELD_REAL, AT(marian.norm_eps), 1e-12, 0.1, .argument = "X",
        .help = "LayerNorm's epsilon (default: 1e-6 for marian, 1e-5 for halves)"},
};

static int convert_marian(struct convert *c, const char *none, struct dg_error *err)
{
    (void)none;
    struct dg_convert_marian *m = &c->marian;
    m->source_vocab = c->vocabs.items[0];
    m->target_vocab = c->vocabs.n == 2 ? c->vocabs.items[1] : NULL;
    m->source_spm = c->spms.items[0];
    m->target_spm = c->spms.n == 2 ? c->spms.items[1] : c->spms.items[0];
    return dg_convert_marian(m, err);
}

static int convert_bergamot(struct convert *c, const char *dir, struct dg_error *err)
{
    return dg_convert_bergamot(dir, &c->marian, err);
}

/* Options for the CTranslate2 model at path, or for the one in an Argos package. */
static struct dg_convert_ctranslate2 ctranslate2_of(const struct convert *c, const char *path)
{
    return (struct dg_convert_ctranslate2){.dir = path,
        .source_spm = c->spms.items[0],
        .target_spm = c->spms.n == 2 ? c->spms.items[1] : NULL,
        .to = c->marian.to};
}

static int convert_ctranslate2(struct convert *c, const char *dir, struct dg_error *err)
{
    const struct dg_convert_ctranslate2 o = ctranslate2_of(c, dir);
    return dg_convert_ctranslate2(&o, err);
}

static int convert_argos(struct convert *c, const char *file, struct dg_error *err)
{
    const struct dg_convert_ctranslate2 o = ctranslate2_of(c, file);
    return dg_convert_argos(file, &o, err);
}

static int convert_huggingface(struct convert *c, const char *dir, struct dg_error *err)
{
    const struct dg_convert_huggingface o = {.dir = dir, .to = c->marian.to};
    return dg_convert_huggingface(&o, err);
}

/* Kinds of model, with their converters and the options of `marian_only` that they have. */
static const struct kind {
    const char *name;
    int (*convert)(struct convert *c, const char *path, struct dg_error *err);
    /* number of words after the kind, and a name for them */
    int n_words;
    const char *words;
    /* one bit per row */
    unsigned options;
} kinds[] = {
    {"marian", convert_marian, 0, "no directory, but --model and --vocab", ~0U},
    {"bergamot", convert_bergamot, 1, "one directory", 1U << SCALES_ROW},
    {"ctranslate2", convert_ctranslate2, 1, "one directory", 1U << SPM_ROW},
    {"argos", convert_argos, 1, "one file", 0},
    {"huggingface", convert_huggingface, 1, "one directory", 0},
};

/* Find the kind `name` and check that it has as many words as it takes and no option of another
 * kind. NULL: *status is the exit status. */
static const struct kind *kind_of(const char *name, int n, const unsigned char given[], int *status)
{
    const struct kind *k = kinds;
    while (k < kinds + DG_FIELD_COUNT(kinds) && strcmp(name, k->name))
        k++;
    if (k == kinds + DG_FIELD_COUNT(kinds)) {
        *status = dg_command_refuse("dragoman convert",
            "expected the kind of model: marian, bergamot, ctranslate2, argos or "
            "huggingface");
        return NULL;
    }
    if (n != 1 + k->n_words) {
        *status = dg_command_refuse("dragoman convert", "%s takes %s", name, k->words);
        return NULL;
    }
    char option[64];
    for (size_t i = 0; i < DG_FIELD_COUNT(marian_only); i++)
        if (given[i] != DG_FROM_DEFAULT && !(k->options & 1U << i)) {
            *status =
                dg_command_refuse("dragoman convert", "%s is for Marian's own files, not for %s",
                    dg_field_option(&marian_only[i], option), name);
            return NULL;
        }
    return k;
}

static const char usage[] =
    "usage: dragoman convert marian --model M.npz|M.bin --vocab SRC [--vocab TGT]\n"
    "           [--spm SRC.spm [--spm TGT.spm]] [--shortlist LEX.bin] --source-lang CODE\n"
    "           --target-lang CODE --out DIR [options]\n"
    "       dragoman convert bergamot DIR --out BUNDLE [options]\n"
    "       dragoman convert ctranslate2 DIR [--spm SRC.spm [--spm TGT.spm]] --source-lang CODE\n"
    "           --target-lang CODE --out BUNDLE [options]\n"
    "       dragoman convert argos FILE.argosmodel --out BUNDLE [options]\n"
    "       dragoman convert huggingface DIR --out BUNDLE [options]\n\n"
    "Converts another program's model to a bundle.\n";

static const char after[] =
    "bergamot: DIR is an unpacked student model of Firefox, Bergamot or "
    "translateLocally: an int8 model\n"
    "(.bin), SentencePiece vocabularies, a lexical shortlist, optionally "
    "config*.yml. Default languages\n"
    "come from file names such as model.ende.bin.\n\n"
    "huggingface: DIR is a MarianMT model (such as OPUS-MT) with config.json, "
    "model.safetensors or\n"
    "pytorch_model.bin (whole or in shards; no code in a pickle is run), "
    "vocab.json, source.spm and\n"
    "target.spm. Default languages come from tokenizer_config.json and, for "
    "several target\n"
    "languages, from the tags in the vocabulary (>>deu<< is called de). M2M-100 "
    "and NLLB-200 have\n"
    "sentencepiece.bpe.model; their default is all languages.\n\n"
    "From text and its translation, the trainer adds a vocabulary shortlist to a bundle "
    "and measures\n"
    "whether it may be used:\n"
    "  dragoman-train shortlist BUNDLE --text en:de:train.en:train.de --prepared DIR \\\n"
    "      en:de:dev.en:dev.de\n";

int dg_cli_convert(int argc, char **argv)
{
    struct convert c = {.vocabs.n = 0};
    unsigned char given[DG_FIELD_COUNT(marian_only)], given_both[DG_FIELD_COUNT(both)];
    const struct dg_fields groups[] = {{both, DG_FIELD_COUNT(both), &c, given_both, NULL},
        {marian_only, DG_FIELD_COUNT(marian_only), &c, given, "marian:"}};
    const struct dg_command command = {.name = "dragoman convert",
        .usage = usage,
        .after = after,
        .groups = groups,
        .n_groups = DG_FIELD_COUNT(groups),
        .min_words = 1,
        .max_words = 2,
        .words = "the kind of model: marian, bergamot, ctranslate2, argos or huggingface"};
    struct dg_error err = {0};
    int n = 0;
    dg_fields_default(&groups[0]);
    dg_fields_default(&groups[1]);
    int status = dg_command_read(&command, argc, argv, &n);
    if (status >= 0)
        return status;
    c.marian.input_scales = c.scales == 1;
    c.marian.to.keep_int8 = given_both[TYPE_ROW] == DG_FROM_DEFAULT && !c.marian.input_scales;
    const struct kind *kind = kind_of(argv[1], n, given, &status);
    if (!kind)
        return status;
    const struct dg_convert_marian *m = &c.marian;
    if (kind->convert == convert_marian &&
        (!m->model || !c.vocabs.n || !m->to.source_lang || !m->to.target_lang))
        return dg_command_refuse(
            command.name, "marian needs --model, --vocab, --source-lang and --target-lang");
    if (kind->convert(&c, argv[2], &err) || dg_check_write(m->to.out, &err))
        return dg_cli_fail("convert", &err);
    printf("wrote %s\n", m->to.out);
    return 0;
}
