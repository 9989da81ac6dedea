#include "documents/strings/yaml_plural.h"

#include "documents/strings/plural_forms.h"

#include <string.h>

void dg_yaml_plural_read_key(struct dg_yaml_plural *f, const char *key, size_t n, size_t at)
{
    const unsigned i = dg_plural_category(key, n);
    f->at_other = i == DG_PLURAL_OTHER;
    if (f->at_other) {
        f->key = at;
        f->other = (struct dg_plural_copy){0}; /* the last of two keys counts */
    }
    if (i < DG_PLURAL_CATEGORIES)
        f->seen |= 1u << i;
    else
        f->other_keys = true;
}

/* True if there are forms, and `other` is a string in its line. */
static bool has_forms(const struct dg_yaml_plural *f)
{
    return !f->other_keys && dg_plural_has_forms(f->seen) && f->other.value.end > 0 &&
           f->style < DG_YAML_LITERAL && f->style != DG_YAML_FLOW;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Finds where the line of the key begins, in *line, and where that of its value ends, in *end.
 * False: more than a list's sign is before the key, or a sign that is a line end in YAML alone ends
 * one of the lines. */
static bool find_lines(
    const struct dg_extract_part *p, const struct dg_yaml_plural *f, size_t *line, size_t *end)
{
    *line = f->key;
    while (*line > 0 && (p->s[*line - 1] == ' ' || p->s[*line - 1] == '-'))
        --*line;
    if (*line > 0 && !is_line_end(p->s[*line - 1]))
        return false; /* the end is not looked for: all may be on one line */
    *end = f->other.value.end;
    while (*end < p->n && !is_line_end(p->s[*end]))
        ++*end;
    return !dg_yaml_has_own_line_end(p->s + f->other.value.end, *end - f->other.value.end);
}

/* The line end that is written at byte `at`: that of the line, or of the one before `line`. */
static const char *line_end_at(const struct dg_extract_part *p, size_t line, size_t at)
{
    const char *s = p->s;
    if (at == p->n && line > 0)
        at = line - 1 - (line > 1 && s[line - 1] == '\n' && s[line - 2] == '\r');
    if (at == p->n || s[at] == '\n')
        return "\n";
    return at + 1 < p->n && s[at + 1] == '\n' ? "\r\n" : "\r";
}

int dg_yaml_plural_add(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_yaml_plural *f, struct dg_error *err)
{
    int rc = DG_OK;
    size_t line, at;
    if (!has_forms(f) || f->other.value.end > p->n || !find_lines(p, f, &line, &at))
        return DG_OK;
    for (const struct dg_plural_sample *sample = dg_plural_samples(x->target);
         sample->category && rc == DG_OK; sample++) {
        struct dg_buffer before = {0};
        if (!dg_plural_lacks(f->seen, sample->category))
            continue;
        dg_buffer_adds(&before, line_end_at(p, line, at));
        for (size_t i = line; i < f->key; i++)
            dg_buffer_adds(&before, " ");
        dg_buffer_addf(&before, "%s: ", sample->category);
        rc = dg_plural_copy_add(x, p, &f->other, at, &before, "", err);
        dg_buffer_deinit(&before);
    }
    return rc;
}
