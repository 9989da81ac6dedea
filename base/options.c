#include "base/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 100, MAX_HEAD = 30 };

/* Do the first n bytes of `text` match those of the name, with '-' for '_'? */
static bool begins(const char *name, const char *text, size_t n)
{
    if (!name || strlen(name) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] != (name[i] == '_' ? '-' : name[i]))
            return false;
    return true;
}

static bool is_name(const char *name, const char *text, size_t n)
{
    return begins(name, text, n) && name[n] == '\0';
}

/* Find the row of option text[n] and its group; NULL if there is none. `whole`: the full name must
 * match, not only its beginning. */
static const struct dg_field *find(const struct dg_fields *groups, size_t n_groups,
    const char *text, size_t n, bool whole, const struct dg_fields **group)
{
    for (size_t g = 0; g < n_groups; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            const struct dg_field *f = &groups[g].rows[i];
            bool same = is_name(f->name, text, n) || is_name(f->old, text, n);
            if (f->kind == DG_FIELD_OTHER || !(same || (!whole && begins(f->name, text, n))))
                continue;
            *group = &groups[g];
            return f;
        }
    return NULL;
}

/* Abbreviations are refused too: a new option could change what they mean. */
static int refuse(const struct dg_fields *groups, size_t n_groups, const char *arg, size_t n,
    struct dg_error *err)
{
    const struct dg_fields *group;
    const struct dg_field *meant = NULL;
    char given[64], whole[64];
    snprintf(given, sizeof given, "%.*s", (int)(n > 60 ? 60 : n), arg);
    dg_error_trim_utf8(given);
    if (n > 3 && arg[1] == '-')
        meant = find(groups, n_groups, arg + 2, n - 2, false, &group);
    if (meant)
        return dg_error_field(err, DG_EINVAL, given,
            "there is no option %s: options are written in full (%s)", given,
            dg_field_option(meant, whole));
    return dg_error_field(err, DG_EINVAL, given, "there is no option %s", given);
}

/* Read option argv[*i] and its value, which may be the next word. */
static int take(const struct dg_fields *groups, size_t n_groups, int argc, char *argv[], int *i,
    struct dg_error *err)
{
    const char *arg = strcmp(argv[*i], "-h") == 0   ? "--help"
                      : strcmp(argv[*i], "-o") == 0 ? "--output"
                                                    : argv[*i];
    const size_t n = strcspn(arg, "=");
    const char *text = arg[n] ? arg + n + 1 : NULL;
    const struct dg_fields *group = NULL;
    const struct dg_field *f =
        arg[1] == '-' ? find(groups, n_groups, arg + 2, n - 2, true, &group) : NULL;
    char name[64];
    if (!f)
        return refuse(groups, n_groups, arg, n, err);
    dg_field_option(f, name);
    if (f->kind == DG_FIELD_BOOL || f->kind == DG_FIELD_MARK) {
        if (text)
            return dg_error_field(err, DG_EINVAL, name, "%s takes no value", name);
        text = "true";
    } else if (!text) {
        if (*i + 1 == argc)
            return dg_error_field(err, DG_EINVAL, name, "%s needs a value", name);
        text = argv[++*i];
    }
    int rc = dg_field_set(f, name, text, group->out, err);
    if (rc == DG_OK && group->given)
        group->given[f - group->rows] = DG_FROM_OPTION;
    return rc;
}

int dg_options_required(const struct dg_fields *groups, size_t n_groups, struct dg_error *err)
{
    for (size_t g = 0; g < n_groups; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            const struct dg_field *f = &groups[g].rows[i];
            const char *text;
            char name[64];
            if (!(f->flags & DG_FIELD_REQUIRED) || f->kind != DG_FIELD_STRING)
                continue;
            memcpy(&text, (const char *)groups[g].out + f->offset, sizeof text);
            if (!text || !text[0])
                return dg_error_field(err, DG_EINVAL, dg_field_option(f, name), "%s %s is missing",
                    dg_field_option(f, name), f->argument);
        }
    return DG_OK;
}

int dg_options_read(const struct dg_fields *groups, size_t n_groups, int argc, char *argv[],
    int *n_words, struct dg_error *err)
{
    bool options = true;
    int n = 0, rc = DG_OK;
    for (int i = 1; i < argc && rc == DG_OK; i++) {
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1])
            rc = take(groups, n_groups, argc, argv, &i, err);
        else if (n_words)
            argv[1 + n++] = argv[i];
        else
            rc = dg_error_field(err, DG_EINVAL, argv[i], "unexpected \"%.60s\"", argv[i]);
    }
    if (n_words)
        *n_words = n;
    return rc;
}

/* Does the help text already mention every word? */
static bool says_words(const struct dg_field *f)
{
    for (size_t i = 0; f->words[i]; i++)
        if (!strstr(f->help, f->words[i]))
            return false;
    return true;
}

/* Append the help text, the words it does not mention, and default and range in brackets. */
static void describe(const struct dg_field *f, struct dg_buffer *b)
{
    const bool number =
        f->kind == DG_FIELD_INT || f->kind == DG_FIELD_REAL || f->kind == DG_FIELD_SECONDS;
    const bool bounded = number && f->max < 1e15;
    const bool shown = f->fallback && f->fallback[0] && f->kind != DG_FIELD_BOOL;
    dg_buffer_adds(b, f->help);
    if (f->words && !says_words(f)) {
        dg_buffer_adds(b, ":");
        for (size_t i = 0; f->words[i]; i++)
            dg_buffer_addf(b, "%s %s", i ? "," : "", f->words[i]);
    }
    if (!shown && !bounded)
        return;
    dg_buffer_addf(b, " [%s", shown ? f->fallback : "");
    if (bounded)
        dg_buffer_addf(b, "%s%.15g to %.15g", shown ? "; " : "", f->min, f->max);
    dg_buffer_adds(b, "]");
}

/* Append text that starts at column `at`, wrapped at spaces but not within brackets at its end;
 * further lines begin at column `indent`. */
static void wrap(const char *text, size_t at, size_t indent, struct dg_buffer *b)
{
    for (bool first = true; *text; first = false) {
        const bool last = text[0] == '[' && text[strlen(text) - 1] == ']' && !strchr(text + 1, '[');
        const size_t n = last ? strlen(text) : strcspn(text, " ");
        if (!first && at + 1 + n > COLUMNS) {
            dg_buffer_addf(b, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            dg_buffer_adds(b, " ");
            at++;
        }
        dg_buffer_add(b, text, n);
        at += n;
        text += n + (text[n] == ' ');
    }
    dg_buffer_adds(b, "\n");
}

/* "--name ARGUMENT" */
static const char *head(const struct dg_field *f, char out[96])
{
    char name[64];
    const bool value = f->kind != DG_FIELD_BOOL && f->kind != DG_FIELD_MARK;
    snprintf(out, 96, "%s%s%s", dg_field_option(f, name), value ? " " : "",
        value ? (f->argument ? f->argument : "N") : "");
    return out;
}

static bool is_shown(const struct dg_field *f)
{
    return f->help && f->kind != DG_FIELD_OTHER;
}

static void help_row(const struct dg_field *f, size_t width, struct dg_buffer *b)
{
    char left[96];
    struct dg_buffer text = {0};
    describe(f, &text);
    dg_buffer_addf(b, "  %-*s", (int)width, head(f, left));
    if (strlen(left) >= width)
        dg_buffer_addf(b, "\n%*s", (int)width + 2, "");
    if (text.failed)
        b->failed = true;
    else
        wrap(text.data, width + 2, width + 2, b);
    dg_buffer_deinit(&text);
}

void dg_options_help(const char *usage, const struct dg_fields *groups, size_t n_groups,
    const char *after, struct dg_buffer *b)
{
    char left[96];
    size_t width = 0;
    for (size_t g = 0; g < n_groups; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            const size_t n = strlen(head(&groups[g].rows[i], left)) + 2;
            if (is_shown(&groups[g].rows[i]) && n > width && n <= MAX_HEAD)
                width = n;
        }
    dg_buffer_adds(b, usage);
    for (size_t g = 0; g < n_groups; g++) {
        if (groups[g].title)
            dg_buffer_addf(b, "\n%s\n", groups[g].title);
        else if (g == 0)
            dg_buffer_adds(b, "\n");
        for (size_t i = 0; i < groups[g].n; i++)
            if (is_shown(&groups[g].rows[i]))
                help_row(&groups[g].rows[i], width, b);
    }
    if (after)
        dg_buffer_addf(b, "\n%s", after);
}

void dg_options_complete(const struct dg_fields *groups, size_t n_groups, struct dg_buffer *b)
{
    for (size_t g = 0; g < n_groups; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            const struct dg_field *f = &groups[g].rows[i];
            char left[96];
            if (!is_shown(f))
                continue;
            const char *argument = strchr(head(f, left), ' ');
            dg_buffer_addf(
                b, "%.*s\t%s\t", (int)strcspn(left, " "), left, argument ? argument + 1 : "");
            for (size_t w = 0; f->words && f->words[w]; w++)
                dg_buffer_addf(b, "%s%s", w ? " " : "", f->words[w]);
            dg_buffer_addf(b, "\t%s\n", f->help);
        }
}

static bool reads(const struct dg_fields *t, const char *variable, size_t n)
{
    for (size_t i = 0; i < t->n; i++)
        if (dg_field_has_variable(&t->rows[i], variable, n))
            return true;
    return false;
}

void dg_options_unknown_variables(const struct dg_fields *groups, size_t n_groups,
    const char *const *others, char *const *environment, struct dg_buffer *b)
{
    for (; *environment; environment++) {
        const size_t n = strcspn(*environment, "=");
        bool known = strncmp(*environment, "DRAGOMAN_", 9) != 0;
        for (size_t g = 0; g < n_groups && !known; g++)
            known = reads(&groups[g], *environment, n);
        for (size_t i = 0; others[i] && !known; i++)
            known = strlen(others[i]) == n && memcmp(others[i], *environment, n) == 0;
        if (!known)
            dg_buffer_addf(b, "%s%.*s", b->len ? ", " : "", (int)n, *environment);
    }
}
