/* Command lines from tables of fields: reading and --help. An option is written in full
 * (--beam-size 4 or --beam-size=4), never abbreviated; -h is --help, -o is --output; "--" ends the
 * options. Any thread. */
#ifndef DG_BASE_OPTIONS_H
#define DG_BASE_OPTIONS_H

#include "base/fields.h"

/* Read argv[1..] into the groups, an option's last value winning. Other words are moved to the
 * front of argv, in order, and *n_words is their number (argv[1..n_words]); with n_words NULL they
 * are refused. Strings are borrowed. DG_EINVAL names the option. */
int dg_options_read(const struct dg_fields *groups, size_t n_groups, int argc, char *argv[],
    int *n_words, struct dg_error *err);

/* Has each DG_FIELD_REQUIRED string a value? DG_EINVAL names the first option without one. */
int dg_options_required(const struct dg_fields *groups, size_t n_groups, struct dg_error *err);

/* Append usage, a list of the options with range and default, and the text `after` (NULL: none). */
void dg_options_help(const char *usage, const struct dg_fields *groups, size_t n_groups,
    const char *after, struct dg_buffer *b);

/* A line for each option that --help shows: its name, its argument ("" when it takes none), the
 * words that it may be with spaces between, and its help, with tabs between: for shells. */
void dg_options_complete(const struct dg_fields *groups, size_t n_groups, struct dg_buffer *b);

/* Append the names of DRAGOMAN_* variables in `environment` (as environ) that no row of the groups
 * reads and `others` (NULL-ended) does not have, with commas between. */
void dg_options_unknown_variables(const struct dg_fields *groups, size_t n_groups,
    const char *const *others, char *const *environment, struct dg_buffer *b);

#endif
