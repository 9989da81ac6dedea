#include "base/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct dg_field help_row[] = {
    {"help", DG_FIELD_BOOL, 0, sizeof(bool), .help = "print this text"}};

int dg_command_refuse(const char *name, const char *format, ...)
{
    va_list ap;
    fprintf(stderr, "%s: ", name);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fprintf(stderr, "\ntry: %s --help\n", name);
    return 2;
}

int dg_command_flush(struct dg_error *err)
{
    if (fflush(stdout) || ferror(stdout))
        return dg_error_set(err, DG_EIO, "standard output cannot be written");
    return DG_OK;
}

/* Print --help, or (for the files of packaging/completion) the options in machine-readable form. */
static int print_help(
    const struct dg_command *c, const struct dg_fields *groups, size_t n, bool complete)
{
    struct dg_buffer b = {0};
    if (complete)
        dg_options_complete(groups, n, &b);
    else
        dg_options_help(c->usage, groups, n, c->after, &b);
    if (b.data && !b.failed)
        fputs(b.data, stdout);
    dg_buffer_deinit(&b);
    return 0;
}

int dg_command_read(const struct dg_command *c, int argc, char **argv, int *n_words)
{
    struct dg_fields groups[DG_COMMAND_GROUPS];
    struct dg_error err = {0};
    bool help = false;
    int n = 0;
    if (c->n_groups >= DG_COMMAND_GROUPS) {
        fprintf(stderr, "%s: %zu tables of options; at most %d have room\n", c->name, c->n_groups,
            DG_COMMAND_GROUPS - 1);
        return DG_COMMAND_BROKEN;
    }
    memcpy(groups, c->groups, c->n_groups * sizeof *groups);
    groups[c->n_groups] = (struct dg_fields){help_row, 1, &help, NULL, NULL};
    if (argc == 2 && strcmp(argv[1], "--complete") == 0)
        return print_help(c, groups, c->n_groups + 1, true);
    int rc = dg_options_read(groups, c->n_groups + 1, argc, argv, &n, &err);
    if (rc == DG_OK && help)
        return print_help(c, groups, c->n_groups + 1, false);
    if (rc == DG_OK && n >= c->min_words)
        rc = dg_options_required(groups, c->n_groups, &err);
    if (rc != DG_OK)
        return dg_command_refuse(c->name, "%s", err.message);
    if (c->max_words >= 0 && n > c->max_words)
        return dg_command_refuse(c->name, "unexpected \"%.60s\"", argv[1 + c->max_words]);
    if (n < c->min_words)
        return dg_command_refuse(c->name, "expected %s", c->words);
    if (n_words)
        *n_words = n;
    return -1;
}
