/* dragoman-train: from text files to a model that dragoman-server loads. */
#include "base/command.h"
#include "kernels/train.h"
#include "trainer/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct dg_verb verbs[] = {
    {"run", "RECIPE --out DIR",
        "train a bundle from text files: prepare, train, validate, average, score", 1, 1,
        "out! data set init prepared threads device precision no_scores tensorboard quiet",
        dg_verb_run},
    {"resume", "DIR", "continue a run, bit for bit", 1, 1,
        "set prepared threads device precision no_scores tensorboard quiet", dg_verb_resume},
    {"average", "DIR [--out BUNDLE]", "average a run's checkpoints into a bundle", 1, 1,
        "out last best no_scores quiet", dg_verb_average},
    {"evaluate", "BUNDLE SOURCE TARGET",
        "print a bundle's perplexity, BLEU and chrF on a text and its translation", 3, 3,
        "from to beam_size length_penalty lines threads json", dg_verb_evaluate},
    {"calibrate", "BUNDLE FROM:TO:SOURCE:TARGET...",
        "choose a bundle's length penalty, beam size and low-confidence threshold", 2, -1,
        "lines threads quiet", dg_verb_calibrate},
    {"distill", "TEACHER TEXT [RECIPE] --out DIR",
        "train a small model on a large one's translations of TEXT, line by line", 2, 3,
        "from to out! set beam_size length_penalty lines threads device precision no_scores quiet",
        dg_verb_distill},
    {"backtranslate", "BUNDLE TEXT --out PREFIX",
        "make pairs from target-language text: BUNDLE translates it back", 2, 2,
        "from to out! beam_size length_penalty lines threads quiet", dg_verb_backtranslate},
    {"filter", "BUNDLE SOURCE TARGET --out PREFIX",
        "keep the share of a file's pairs that a model scores best", 3, 3,
        "from to out! keep threads quiet", dg_verb_filter},
    {"prepare", "RECIPE --out DIR", "prepare data only: clean it, train the vocabulary, encode", 1,
        1, "out! data set init threads force quiet", dg_verb_prepare},
    {"plan", "RECIPE --out DIR", "print the memory that a run needs (prepares its data)", 1, 1,
        "out! data set init prepared threads device precision quiet", dg_verb_plan},
    {"recipe", "RECIPE", "print a recipe with every default", 1, 1,
        "data set init threads describe", dg_verb_recipe},
    {"plot", "LOG... --out FILE", "draw the curves of one or more log.jsonl as SVG", 1, -1, "out!",
        dg_verb_plot},
    {"bleu", "HYPOTHESES REFERENCES [OTHERS]",
        "compute BLEU and chrF as sacreBLEU does; test whether two translations differ", 2, 3, "",
        dg_verb_bleu},
    {"treebank", "TREES --out PREFIX",
        "make PREFIX.words, .parse and .gold from a treebank of bracketed trees", 1, 1,
        "out! lines", dg_verb_treebank},
    {"evalb", "GOLD PARSED", "score the labelled brackets of parsed trees as EVALB does", 2, 2,
        "json", dg_verb_evalb},
    {"languages", "CODE=FILE... --out FILE",
        "train a language detection model on plain texts (CODE: en, de ...)", 1, -1, "out!",
        dg_verb_languages},
    {"shortlist", "BUNDLE [FROM:TO:SOURCE:TARGET...]",
        "add a vocabulary shortlist to a bundle, and use it where it keeps the quality", 1, -1,
        "text prepared lines best frequent threads quiet", dg_verb_shortlist},
    {"batches", "RECIPE --prepared DIR --lines N",
        "print the first --lines N batches as JSON, to compare with other trainers", 1, 1,
        "prepared! data set lines", dg_verb_batches},
};

static const char after[] =
    "\n"
    "RECIPE is a file or a preset: small, base, big, paper-base-ende, "
    "paper-big-ende, paper-big-enfr.\n"
    "On SIGTERM and SIGINT, a run (also that of distill) saves a checkpoint and exits "
    "with status 0.\n"
    "Other work ends with status 1; backtranslate, filter and distill continue with "
    "the same command.\n"
    "mpirun -n N dragoman-train run ... splits every batch over N processes. With "
    "--device cuda, each has\n"
    "its own GPU. SIGUSR1 to mpirun makes them save and exit.\n"
    "dragoman-train VERB --help prints a verb's options, dragoman-train --version "
    "the version.\n";

static void help(FILE *to)
{
    fprintf(to, "usage: dragoman-train VERB [options]\n\nTrains the Transformer of \"Attention Is "
                "All You Need\".\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        fprintf(to, "  %-13s %s\n", verbs[i].name, verbs[i].what);
    fputs(after, to);
}

/* The exit status, or 1 if part of the output could not be written. */
static int finish(const char *verb, int status)
{
    struct dg_error err = {0};
    if (status != 0 || !dg_command_flush(&err))
        return status;
    fprintf(stderr, "dragoman-train %s: %s\n", verb, err.message);
    return 1;
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

/* OpenBLAS chose its kernels before main began. On a processor that it does not know, it chooses
 * some that take three times as long: the program then executes itself again and names the
 * kernels. */
static void choose_kernels(char **argv)
{
    static const char told[] = "DRAGOMAN_TRAIN_TOLD_OPENBLAS";
    const char *overruled_by, *core = dg_cpu_train_core(dg_cpu_train_library(&overruled_by));
    if (getenv(told)) { /* second start: children must not inherit these */
        unsetenv(told);
        unsetenv("OPENBLAS_CORETYPE");
    } else if (core && !overruled_by && setenv(told, "1", 1) == 0 &&
               setenv("OPENBLAS_CORETYPE", core, 1) == 0) {
        execv("/proc/self/exe", argv);
        unsetenv(told); /* exec failed: continue with the slow kernels */
        unsetenv("OPENBLAS_CORETYPE");
    }
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc < 2 || !strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help")) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : finish(verb, 0);
    }
    if (!strcmp(verb, "--version")) {
        puts("dragoman-train " DG_VERSION);
        return finish(verb, 0);
    }
    choose_kernels(argv);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(verbs[i].name, verb))
            return finish(verb, run(&verbs[i], argc - 1, argv + 1));
    return dg_command_refuse("dragoman-train", "there is no verb \"%s\"", verb);
}
