#include "bench/verb.h"

#include <assert.h>
#include <string.h>

enum { ROWS_MAX = 32 }; /* of a group */

/* Refuse options of groups that belong to another verb. Returns -1 if there are none. */
static int refuse_others(const struct dg_command *c, const char *verb)
{
    char option[64];
    for (const struct dg_fields *g = c->groups; g < c->groups + c->n_groups; g++) {
        const size_t len = g->title ? strcspn(g->title, ":") : 0;
        if (!len || (len == strlen(verb) && strncmp(g->title, verb, len) == 0))
            continue;
        for (size_t i = 0; i < g->n; i++)
            if (g->given[i] == DG_FROM_OPTION)
                return dg_command_refuse(c->name, "%s belongs to %.*s",
                    dg_field_option(&g->rows[i], option), (int)len, g->title);
    }
    return -1;
}

int dg_bench_verb(const struct dg_command *c, const char *const *verbs, size_t n, int argc,
    char **argv, size_t *verb)
{
    struct dg_fields groups[DG_COMMAND_GROUPS];
    unsigned char given[DG_COMMAND_GROUPS][ROWS_MAX];
    struct dg_command command = *c;
    command.groups = groups;
    for (size_t i = 0; i < c->n_groups; i++) {
        assert(c->groups[i].n <= ROWS_MAX);
        groups[i] = c->groups[i];
        groups[i].given = given[i];
        dg_fields_default(&groups[i]);
    }
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    for (*verb = 0; *verb < n; (*verb)++)
        if (strcmp(argv[1], verbs[*verb]) == 0)
            return refuse_others(&command, argv[1]);
    return dg_command_refuse(c->name, "\"%.40s\" is not %s", argv[1], c->words);
}
