#include "base/command.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} verbs[] = {
    {"translate", dg_cli_translate, "translate files or standard input"},
    {"score", dg_cli_score, "print log-probabilities of given translations"},
    {"pull", dg_cli_pull, "fetch and install a model of Firefox, OPUS-MT, Argos or Hugging Face"},
    {"list", dg_cli_list, "list installed models"},
    {"remove", dg_cli_remove, "remove pulled models"},
    {"parse", dg_cli_parse, "parse sentences into trees, with a parsing model"},
    {"convert", dg_cli_convert, "convert another program's model to a bundle"},
    {"attention", dg_cli_attention, "draw attention weights as SVG"},
    {"inspect", dg_cli_inspect, "describe and verify a bundle"},
    {"seal", dg_cli_seal, "change settings in a bundle's manifest and update its version"},
    {"quantize", dg_cli_quantize, "convert a bundle to int8 and report the errors"},
    {"doctor", dg_cli_doctor, "check whether a server can run on this machine"},
    {"keys", dg_cli_keys, "create, list, change and revoke a server's API keys"},
    {"bench", dg_cli_bench, "measure speed with forced output lengths"},
};

int dg_cli_fail(const char *verb, const struct dg_error *err)
{
    char field[sizeof err->field], message[sizeof err->message];
    dg_error_plain(err->field, field, sizeof field);
    dg_error_plain(err->message, message, sizeof message);
    /* Most messages already name the field. */
    const bool named = !field[0] || strstr(message, field);
    fprintf(stderr, "dragoman %s: %s%s%s\n", verb, named ? "" : field, named ? "" : ": ", message);
    return 1;
}

/* The exit status, or 1 if part of the output could not be written. */
static int finish(const char *verb, int status)
{
    struct dg_error err = {0};
    return status == 0 && dg_command_flush(&err) ? dg_cli_fail(verb, &err) : status;
}

static void help(FILE *to)
{
    fprintf(to, "usage: dragoman VERB [options]\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].what);
    fprintf(to, "\n"
                "dragoman VERB --help prints a verb's options, dragoman --version the "
                "version.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help")) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : finish(argv[1], 0);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("dragoman %s\n", DG_VERSION);
        return finish(argv[1], 0);
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(argv[1], verbs[i].name))
            return finish(verbs[i].name, verbs[i].run(argc - 1, argv + 1));
    return dg_command_refuse("dragoman", "there is no verb \"%s\"", argv[1]);
}
