#include "documents/strings/forms/sections.h"

#include <stdlib.h>
#include <string.h>

/* Finds the sentences of the message, in which an argument is a word. */
static int split(
    const struct dg_pattern *p, struct dg_span **sentences, size_t *n, struct dg_error *err)
{
    char *words = strndup(p->s, p->n);
    if (!words)
        return dg_error_set(err, DG_ENOMEM, "no memory for a message");
    for (size_t k = 1; p->parts[k].kind != DG_PATTERN_MESSAGE_END; k = p->parts[k].partner + 1)
        if (p->parts[k].kind == DG_PATTERN_ARGUMENT)
            memset(words + p->parts[k].begin, 'x',
                p->parts[p->parts[k].partner].end - p->parts[k].begin);
    const int rc = dg_split_sentences(words, p->n, "", sentences, n, err);
    free(words);
    return rc;
}

/* Moves *part past the message's own parts before byte `end`; true: an argument with branches is
 * among them. */
static bool skip_parts(const struct dg_pattern *p, size_t *part, size_t end)
{
    bool branches = false;
    for (; p->parts[*part].begin < end; *part = p->parts[*part].partner + 1)
        branches = branches || (p->parts[*part].kind == DG_PATTERN_ARGUMENT &&
                                   p->parts[*part].type != DG_PATTERN_SIMPLE);
    return branches;
}

int dg_sections_find(
    const struct dg_pattern *p, struct dg_span **sections, size_t *n, struct dg_error *err)
{
    size_t count = 0, part = 1;
    bool joins = false; /* the last section has no branches */
    *sections = NULL;
    *n = 0;
    if (p->n > 0 && !memchr(p->s, '<', p->n) && !memmem(p->s, p->n, "'{", 2) &&
        !memmem(p->s, p->n, "'}", 2)) {
        const int rc = split(p, sections, &count, err);
        if (rc != DG_OK)
            return rc;
    }
    for (size_t i = 0; i < count; i++) {
        const bool branches = skip_parts(p, &part, (*sections)[i].end);
        if (joins && !branches)
            (*sections)[*n - 1].end = (*sections)[i].end;
        else
            (*sections)[(*n)++] = (*sections)[i];
        joins = !branches;
    }
    if (count > 0)
        return DG_OK;
    free(*sections);
    *sections = malloc(sizeof **sections);
    if (!*sections)
        return dg_error_set(err, DG_ENOMEM, "no memory for a message");
    (*sections)[(*n)++] = (struct dg_span){0, p->n};
    return DG_OK;
}
