/* The verbs of the `dragoman` program, one file each. Each takes its own argc/argv (argv[0] is the
 * verb) and returns the exit status: 0, 1 after a failure that was explained on stderr, 2 for wrong
 * usage. One thread, main's. */
#ifndef DG_CLI_CLI_H
#define DG_CLI_CLI_H

#include "base/error.h"

int dg_cli_attention(int argc, char **argv);
int dg_cli_convert(int argc, char **argv);
int dg_cli_inspect(int argc, char **argv);
int dg_cli_seal(int argc, char **argv);
int dg_cli_translate(int argc, char **argv);
int dg_cli_score(int argc, char **argv);
int dg_cli_parse(int argc, char **argv);
int dg_cli_bench(int argc, char **argv);
int dg_cli_quantize(int argc, char **argv);
int dg_cli_doctor(int argc, char **argv);
int dg_cli_keys(int argc, char **argv);
int dg_cli_pull(int argc, char **argv);
int dg_cli_list(int argc, char **argv);
int dg_cli_remove(int argc, char **argv);

/* Print an error without control characters: "dragoman VERB: message". Returns 1. */
int dg_cli_fail(const char *verb, const struct dg_error *err);

#endif
