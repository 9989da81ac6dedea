/* libFuzzer target for manifest -> config -> open: the input is the manifest of a small bundle
 * whose other files are sound. Property: it is refused with a message, or the bundle opens and a
 * sentence passes through its engine. */
#include "tests/fuzz/cpu.h"
#include "translate/translate.h"

#include <string.h>

#define BUNDLE "tests/golden/data/paper"

static struct dg_backend *be;

static void link_in(const char *name)
{
    char to[192], from[1024], here[768];
    require(getcwd(here, sizeof here) != NULL);
    snprintf(to, sizeof to, "%s/%s", fuzz_dir(), name);
    snprintf(from, sizeof from, "%s/%s/%s", here, BUNDLE, name);
    require(symlink(from, to) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    be = fuzz_cpu();
    link_in("joint.vocab");
    link_in("weights.dgw");
    return 0;
}

/* Runs two steps of a sentence, by which every size of the model has been used. */
static void run_steps(const struct dg_translator *t)
{
    static const int32_t source[] = {5, 6, 7, 0};
    const struct dg_engine_limits limits = {
        .max_rows = 32, .max_sentences = 2, .max_source = 16, .max_target = 32};
    const struct dg_sentence s = {
        .source = source, .n_source = 4, .search = {.beam = 2, .alpha = -1, .max_len = 4}};
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    if (dg_engine_open(dg_translator_model(t), be, &limits, &e, &err) == DG_OK &&
        dg_engine_admit(e, 1, &s, &err) == DG_OK)
        for (int i = 0; i < 2; i++)
            dg_engine_step(e);
    dg_engine_close(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_translator *t = NULL;
    struct dg_error err = {0};
    fuzz_file("manifest.json", data, size);
    int rc = dg_translator_open(fuzz_dir(), be, 64, &t, &err);
    require((rc == DG_OK) == (t != NULL) && (rc == DG_OK || err.message[0] != '\0'));
    if (t)
        run_steps(t);
    dg_translator_close(t);
    return 0;
}
