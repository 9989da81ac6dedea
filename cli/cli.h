/* The verbs of the `dragoman` program, one file each. Each takes its own argc/argv (argv[0] is the
 * verb) and returns the exit status: 0, 1 after a failure that was explained on stderr, 2 for wrong
 * usage. One thread, main's. */
#ifndef DG_CLI_CLI_H
#define DG_CLI_CLI_H

#include "base/error.h"

#include <stddef.h>

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

/* Copy what may hold names from a file or an index to out[cap] (it may be the same), with '?' for
 * control characters: they must not control a terminal. */
void dg_cli_plain(const char *text, char *out, size_t cap);

/* Explain an error, plainly: "dragoman VERB: message". Returns 1. */
int dg_cli_fail(const char *verb, const struct dg_error *err);

#endif
