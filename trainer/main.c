/* dragoman-train: from text files to a model that dragoman-server loads. */
#include "trainer/verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static const struct dg_verb verbs[] = {
    {"run", "RECIPE --out DIR", "text files to a bundle: prepare, train, validate, average, score",
        1, 1, "out! data set init prepared threads device precision no_scores tensorboard quiet",
        dg_verb_run},
    {"resume", "DIR", "go on with a run, bit for bit", 1, 1,
        "set prepared threads device precision no_scores tensorboard quiet", dg_verb_resume},
    {"average", "DIR [--out BUNDLE]", "average a run's checkpoints into a bundle", 1, 1,
        "out last best no_scores quiet", dg_verb_average},
    {"evaluate", "BUNDLE SOURCE TARGET",
        "perplexity, BLEU and chrF of a bundle on a text and its translation", 3, 3,
        "from to beam_size length_penalty lines threads json", dg_verb_evaluate},
    {"calibrate", "BUNDLE FROM:TO:SOURCE:TARGET...",
        "length penalty, beam and threshold of low confidence by development sets, into the bundle",
        2, -1, "lines threads quiet", dg_verb_calibrate},
    {"distill", "TEACHER TEXT [RECIPE] --out DIR",
        "a small model that learns from a large one's translations of TEXT, a line each", 2, 3,
        "from to out! set beam_size length_penalty lines threads device precision no_scores quiet",
        dg_verb_distill},
    {"backtranslate", "BUNDLE TEXT --out PREFIX",
        "pairs from text in the target language: BUNDLE, which translates back, makes the sources",
        2, 2, "from to out! beam_size length_penalty lines threads quiet", dg_verb_backtranslate},
    {"filter", "BUNDLE SOURCE TARGET --out PREFIX",
        "the share of a file of pairs that a model finds best", 3, 3,
        "from to out! keep threads quiet", dg_verb_filter},
    {"prepare", "RECIPE --out DIR", "clean, train the vocabulary and encode, and no more", 1, 1,
        "out! data set init threads force quiet", dg_verb_prepare},
    {"plan", "RECIPE --out DIR", "what a run will need of memory (prepares its data)", 1, 1,
        "out! data set init prepared threads device precision quiet", dg_verb_plan},
    {"recipe", "RECIPE", "print a recipe with every default", 1, 1,
        "data set init threads describe", dg_verb_recipe},
    {"plot", "LOG... --out FILE", "curves of one or more log.jsonl, as SVG", 1, -1, "out!",
        dg_verb_plot},
    {"bleu", "HYPOTHESES REFERENCES [OTHERS]",
        "BLEU and chrF as sacreBLEU counts them; of two translations, whether chance parts them", 2,
        3, "", dg_verb_bleu},
    {"treebank", "TREES --out PREFIX",
        "of a treebank, a tree a line: PREFIX.words and .parse to train a parser on, .gold to score it",
        1, 1, "out! lines", dg_verb_treebank},
    {"evalb", "GOLD PARSED", "labelled brackets of parsed trees, as EVALB counts them", 2, 2,
        "json", dg_verb_evalb},
    {"languages", "CODE=FILE... --out FILE",
        "a model that tells languages, of plain texts (CODE: en, de ...)", 1, -1, "out!",
        dg_verb_languages},
    {"shortlist", "BUNDLE --prepared DIR",
        "which target tokens come from which source tokens, into the bundle: faster output layer",
        1, 1, "prepared! lines best frequent", dg_verb_shortlist},
    {"batches", "RECIPE --prepared DIR",
        "the first --lines N batches as JSON, for comparing with other trainers", 1, 1,
        "prepared! data set lines", dg_verb_batches},
};

static const char after[] =
    "\nRECIPE is a file or a preset: small, base, big, paper-base-ende, paper-big-ende, "
    "paper-big-enfr.\n"
    "SIGTERM and SIGINT save a checkpoint and end the program with exit code 0.\n"
    "mpirun -n N dragoman-train run ... shares every batch among N processes, each with a GPU of "
    "its\nown under --device cuda; SIGUSR1 to mpirun saves and ends them.\n"
    "dragoman-train VERB --help tells a verb's options; dragoman-train --version the version.\n";

static void help(FILE *to)
{
    fprintf(to, "usage: dragoman-train VERB [options]\n\nTrains the Transformer of \"Attention Is "
                "All You Need\".\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        fprintf(to, "  %-13s %s\n", verbs[i].name, verbs[i].what);
    fputs(after, to);
}

static int run(const struct dg_verb *verb, int argc, char **argv)
{
    struct dg_args a;
    struct dg_error err = {0};
    int status = dg_args_read(verb, argc, argv, &a);
    if (status >= 0)
        return status;
    int rc = verb->run(&a, &err);
    if (rc)
        fprintf(stderr, "dragoman-train %s: %s\n", verb->name, err.message);
    return !rc ? 0 : rc == DG_EINVAL ? 2 : 1;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc < 2 || !strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help")) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    if (!strcmp(verb, "--version")) {
        puts("dragoman-train " DG_VERSION);
        return 0;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(verbs[i].name, verb))
            return run(&verbs[i], argc - 1, argv + 1);
    fprintf(stderr, "dragoman-train: there is no verb \"%s\"; see --help\n", verb);
    return 2;
}
