/* libFuzzer target for every converter, end to end. An input is a family's number, a byte of
 * options, and files: the number of a name, two bytes of length, the content. They are written into
 * a folder beside a sound SentencePiece model and converted. Property: the folder is refused with a
 * message and no manifest is left, or the bundle is opened as the server opens it, which may report
 * that vocabulary and SentencePiece model do not belong together. */
#include "convert/bergamot/bergamot.h"
#include "convert/ctranslate2/argos.h"
#include "convert/huggingface/huggingface.h"
#include "tests/fuzz/cpu.h"
#include "translate/translate.h"

#include <string.h>
#include <sys/stat.h>

/* Same order as in make_convert.py. */
enum family { MARIAN, BERGAMOT, CTRANSLATE2, ARGOS, HUGGINGFACE, FAMILIES };
static const char *const names[] = {"config.json", "generation_config.json",
    "tokenizer_config.json", "vocab.json", "target_vocab.json", "model.safetensors",
    "pytorch_model.bin", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors", "model.bin", "shared_vocabulary.json",
    "source_vocabulary.json", "target_vocabulary.json", "shared_vocabulary.txt", "model.npz",
    "source.yml", "target.yml", "model.ende.bin", "lex.bin", "config.yml", "metadata.json",
    "package.argosmodel", "sentencepiece.bpe.model"};
enum { NAMES = sizeof names / sizeof *names, MULTILINGUAL_SPM = NAMES - 1 };
/* Bits of the options byte; the lowest two are the type of the matrices. */
enum { KEEP_INT8 = 2, PACKAGE = 4, TWO_VOCABULARIES = 8, STORED_SCALES = 16 };

#define SPM "tests/fuzz/six.spm"
#define MULTILINGUAL "tests/data/convert/m2m100/m2m/sentencepiece.bpe.model"

static struct dg_backend *be;
static char in[96], out[96], home[768];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    be = fuzz_cpu();
    require(getcwd(home, sizeof home) != NULL);
    snprintf(in, sizeof in, "%s/in", fuzz_dir());
    snprintf(out, sizeof out, "%s/out", fuzz_dir());
    /* packages are unpacked there, too */
    require(setenv("TMPDIR", fuzz_dir(), 1) == 0);
    return 0;
}

static const char *path_of(const char *name)
{
    static char path[4][160];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", in, name);
    return p;
}

static void link_in(const char *from, const char *name)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "%s/%s", home, from);
    require(symlink(whole, path_of(name)) == 0);
}

/* Links the sound SentencePiece model under the names that a family looks for. */
static void link_spm(enum family family)
{
    if (family == BERGAMOT)
        link_in(SPM, "vocab.ende.spm");
    if (family == ARGOS)
        link_in(SPM, "sentencepiece.model");
    if (family == CTRANSLATE2 || family == MARIAN || family == HUGGINGFACE)
        link_in(SPM, "source.spm");
    if (family == HUGGINGFACE)
        link_in(SPM, "target.spm");
}

static void put_file(enum family family, size_t name, const uint8_t *data, size_t n)
{
    char inner[128];
    const bool in_model = family == ARGOS && strcmp(names[name], "metadata.json") != 0 &&
                          strcmp(names[name], "package.argosmodel") != 0;
    snprintf(inner, sizeof inner, "%s%s", in_model ? "model/" : "", names[name]);
    if (name == MULTILINGUAL_SPM) { /* not fuzzed: the library's own reader */
        unlink(path_of(inner));
        if (!in_model)
            link_in(MULTILINGUAL, inner);
        return;
    }
    FILE *f = fopen(path_of(inner), "wb");
    require(f != NULL && fwrite(data, 1, n, f) == n);
    require(fclose(f) == 0);
}

static void make_folder(enum family family, const uint8_t *data, size_t n)
{
    nftw(in, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
    nftw(out, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
    require(mkdir(in, 0700) == 0 && mkdir(path_of("model"), 0700) == 0);
    link_spm(family);
    while (n >= 3) {
        const size_t name = data[0] % NAMES, said = data[1] | (size_t)data[2] << 8;
        const size_t len = said < n - 3 ? said : n - 3;
        put_file(family, name, data + 3, len);
        data += 3 + len;
        n -= 3 + len;
    }
}

static int convert_marian(
    enum family family, unsigned options, const struct dg_convert_to *to, struct dg_error *err)
{
    static char model[160], source[160], target[160], spm[160];
    struct dg_convert_marian o = {.to = *to,
        .positions = DG_POS_MARIAN,
        .input_scales = (options & STORED_SCALES) && !(options & 3)};
    if (family == BERGAMOT)
        return dg_convert_bergamot(in, &o, err);
    snprintf(model, sizeof model, "%s/model.npz", in);
    snprintf(source, sizeof source, "%s/source.yml", in);
    snprintf(target, sizeof target, "%s/target.yml", in);
    snprintf(spm, sizeof spm, "%s/source.spm", in);
    o.model = model;
    o.source_vocab = source;
    o.target_vocab = options & TWO_VOCABULARIES ? target : NULL;
    o.source_spm = o.target_spm = options & PACKAGE ? spm : NULL;
    o.to.source_lang = "en";
    o.to.target_lang = "de";
    return dg_convert_marian(&o, err);
}

static int convert(enum family family, unsigned options, struct dg_error *err)
{
    const struct dg_convert_to to = {.out = out,
        .type = (enum dg_type)(DG_F32 + options % 4 % 3),
        .keep_int8 = options & KEEP_INT8};
    struct dg_convert_ctranslate2 ct2 = {.dir = in, .source_spm = path_of("source.spm"), .to = to};
    const struct dg_convert_huggingface hf = {.dir = in, .to = to};
    ct2.to.source_lang = family == ARGOS ? NULL : "en";
    ct2.to.target_lang = family == ARGOS ? NULL : "de";
    switch (family) {
    case MARIAN:
    case BERGAMOT: return convert_marian(family, options, &to, err);
    case CTRANSLATE2: return dg_convert_ctranslate2(&ct2, err);
    case ARGOS:
        return dg_convert_argos(options & PACKAGE ? path_of("package.argosmodel") : in, &ct2, err);
    default: return dg_convert_huggingface(&hf, err);
    }
}

static void check_bundle(int rc, const struct dg_error *why)
{
    char manifest[128];
    struct dg_translator *t = NULL;
    struct dg_error err = {0};
    snprintf(manifest, sizeof manifest, "%s/manifest.json", out);
    require((access(manifest, F_OK) == 0) == (rc == DG_OK));
    if (getenv("FUZZ_SAY"))
        fprintf(stderr, "%d %s\n", rc, rc ? why->message : "converted");
    require(rc == DG_OK || why->message[0] != '\0');
    if (rc != DG_OK)
        return;
    rc = dg_translator_open(out, be, 64, &t, &err);
    if (getenv("FUZZ_SAY") && rc != DG_OK)
        fprintf(stderr, "does not open: %s\n", err.message);
    require(rc == DG_OK || err.message[0] != '\0');
    dg_translator_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_error err = {0};
    if (size < 2)
        return 0;
    const enum family family = (enum family)(data[0] % FAMILIES);
    make_folder(family, data + 2, size - 2);
    const int rc = convert(family, data[1], &err);
    require(rc == DG_OK || rc == err.code);
    check_bundle(rc, &err);
    return 0;
}
