#include "cli/command.h"

#include "cli/cli.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct dg_field help_row[] = {
    {"help", DG_FIELD_BOOL, 0, sizeof(bool), .help = "print this text"}};

static int print_help(const struct dg_cli_command *c, const struct dg_fields *groups, size_t n)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_options_help(c->usage, groups, n, c->after, &b);
    if (b.data && !b.failed)
        fputs(b.data, stdout);
    dg_buffer_deinit(&b);
    return 0;
}

int dg_cli_command_read(const struct dg_cli_command *c, int argc, char **argv, int *n_words)
{
    struct dg_fields groups[DG_CLI_GROUPS];
    struct dg_error err = {0};
    bool help = false;
    int n = 0;
    assert(c->n_groups < DG_CLI_GROUPS);
    memcpy(groups, c->groups, c->n_groups * sizeof *groups);
    groups[c->n_groups] = (struct dg_fields){help_row, 1, &help, NULL, NULL};
    int rc = dg_options_read(groups, c->n_groups + 1, argc, argv, &n, &err);
    if (rc == DG_OK && help)
        return print_help(c, groups, c->n_groups + 1);
    if (rc == DG_OK)
        rc = dg_options_required(groups, c->n_groups, &err);
    if (rc != DG_OK)
        return dg_cli_usage(c->verb, "%s", err.message);
    if (n > c->max_words)
        return dg_cli_usage(c->verb, "unexpected \"%.60s\"", argv[1 + c->max_words]);
    if (n < c->min_words)
        return dg_cli_usage(c->verb, "%s needed", c->words);
    if (n_words)
        *n_words = n;
    return -1;
}
