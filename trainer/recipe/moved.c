/* Recipes that were shipped in other places: their former paths still work. */
#include "trainer/recipe/internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Former and current places of shipped recipes within trainer/recipes/. */
static const struct {
    const char *was, *is;
} moves[] = {
    {"paper-base-ende.json", "paper/base-ende.json"},
    {"paper-big-ende.json", "paper/big-ende.json"},
    {"paper-big-enfr.json", "paper/big-enfr.json"},
    {"table3/", "paper/table3/"},
};

/* Returns where `was` begins in path as a whole name (a folder's ends in '/'); NULL: nowhere. */
static const char *find(const char *path, const char *was)
{
    const bool folder = was[strlen(was) - 1] == '/';
    for (const char *at = strstr(path, was); at; at = strstr(at + 1, was)) {
        const char *rest = at + strlen(was);
        bool begins = at == path || at[-1] == '/';
        bool ends = folder ? *rest && !strchr(rest, '/') : !*rest;
        if (begins && ends)
            return at;
    }
    return NULL;
}

char *dg_recipe_moved(const char *path)
{
    const bool exists = access(path, F_OK) == 0;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0] && !exists; i++) {
        const char *at = find(path, moves[i].was);
        if (!at)
            continue;
        char *is = dg_alloc_print(
            "%.*s%s%s", (int)(at - path), path, moves[i].is, at + strlen(moves[i].was));
        if (access(is, F_OK) == 0)
            return is;
        free(is);
        break; /* the message names the requested file */
    }
    return dg_alloc_string(path);
}
