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

/* Check that each DG_FIELD_REQUIRED string has a value. DG_EINVAL names the first option without
 * one. */
int dg_options_required(const struct dg_fields *groups, size_t n_groups, struct dg_error *err);

/* Append usage, a list of the options with range and default, and the text `after` (NULL: none). */
void dg_options_help(const char *usage, const struct dg_fields *groups, size_t n_groups,
    const char *after, struct dg_buffer *b);

/* Append a line for each option that --help shows, for shells: its name, its argument ("" when it
 * takes none), its allowed words separated by spaces, and its help, all separated by tabs. */
void dg_options_complete(const struct dg_fields *groups, size_t n_groups, struct dg_buffer *b);

/* Append, separated by commas, the names of the DRAGOMAN_* variables in `environment` (as environ)
 * that no row of the groups reads and that are not in `others` (NULL-ended). */
void dg_options_unknown_variables(const struct dg_fields *groups, size_t n_groups,
    const char *const *others, char *const *environment, struct dg_buffer *b);

#endif
