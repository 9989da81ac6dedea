#include "documents/strings/forms/walk.h"

#include <string.h>

void dg_walk_copy(struct dg_walk *w, size_t begin, size_t end)
{
    if (w->out)
        dg_buffer_add(w->out, w->pattern.s + begin, end - begin);
}

/* Writes the answer to the sentence, or the sentence itself. */
static int write_form(struct dg_walk *w, size_t around, bool is_text, struct dg_error *err)
{
    const struct dg_sentence *t = &w->sentence;
    const struct dg_extract_answer own = {t->text.data, t->text.len};
    const struct dg_extract_answer *a = is_text ? &w->answers[w->n_texts] : &own;
    return dg_sentence_write(t, a->s, a->n, around, w->out, err);
}

/* Ends a form: its sentence is read, or its answer written. If that fails in a branch that is
 * added, there will be no such branch; in one that is walked through twice, the other is written.
 */
static int end_form(struct dg_walk *w)
{
    const struct dg_sentence *t = &w->sentence;
    struct dg_error why = {0}, *err = w->n_added ? &why : w->err;
    bool own = w->n_open > 0;
    for (size_t i = 0; i < w->n_open; i++)
        own = own && !w->open[i].sample;
    w->n_forms += own;
    if (w->n_forms > DG_WALK_FORMS || w->n_walked++ == DG_WALK_MOST)
        return dg_pattern_stays(w->err, "it has more than 32 forms");
    if (t->text.failed)
        return dg_error_set(w->err, DG_ENOMEM, "no memory for a message");
    const size_t around = w->n_open ? w->open[w->n_open - 1].argument : DG_PATTERN_NONE;
    const bool is_text = dg_sentence_is_text(t);
    int rc = dg_sentence_check(t, around, err);
    for (size_t i = 0; i < w->n_open; i++)
        w->open[i].silent = w->open[i].silent || !dg_sentence_says(t, w->open[i].argument);
    if (rc == DG_OK && w->out)
        rc = write_form(w, around, is_text, err);
    if (!w->out && is_text) {
        dg_buffer_add(w->texts, t->text.data, t->text.len);
        dg_buffer_add(w->texts, "", 1);
    }
    w->n_texts += is_text;
    if (rc == DG_EUNSUP && w->n_added) {
        w->fails = true;
        w->failure = *err;
        return DG_OK;
    }
    return rc == DG_OK ? DG_OK : dg_error_set(w->err, rc, "%s", err->message);
}

struct dg_walk_rest dg_walk_enter(const struct dg_walk *w, size_t argument,
    const struct dg_pattern_branch *b, const struct dg_walk_rest *after)
{
    return (struct dg_walk_rest){.part = b->message + 1,
        .at = w->pattern.parts[b->message].end,
        .end = w->pattern.parts[w->pattern.parts[b->message].partner].begin,
        .argument = argument,
        .in_plural = after->in_plural || dg_pattern_has_number(&w->pattern, argument),
        .after = after};
}

static int walk_argument(struct dg_walk *w, size_t argument, const struct dg_walk_rest *after)
{
    const struct dg_pattern *p = &w->pattern;
    struct dg_pattern_branch b;
    w->branches = true;
    if (dg_pattern_count_branches(p, argument) > DG_WALK_FORMS)
        return dg_pattern_stays(w->err, "it has more than 32 forms");
    for (size_t i = 0; i < w->n_open; i++)
        if (dg_pattern_same_choice(p, w->open[i].argument, argument) &&
            dg_pattern_find_branch(p, argument, w->open[i].selector, &b))
            return dg_walk_on(w, dg_walk_enter(w, argument, &b, after));
    if (w->n_open == DG_WALK_OPEN)
        return dg_pattern_stays(w->err, "its arguments are nested deeper than 6");
    return dg_walk_branches(w, argument, after);
}

/* True if this apostrophe is the second of two. */
static bool is_second(const struct dg_pattern *p, size_t part)
{
    const struct dg_pattern_part *a = &p->parts[part];
    return a->begin > 0 && p->s[a->begin - 1] == '\'' &&
           !(a[-1].kind == DG_PATTERN_APOSTROPHE && a[-1].begin + 1 == a->begin);
}

/* Adds what the apostrophe at r begins, a quotation as one token; moves r past it. */
static int add_quotation(struct dg_walk *w, struct dg_walk_rest *r)
{
    const struct dg_pattern *p = &w->pattern;
    const struct dg_pattern_part *parts = p->parts;
    const size_t first = r->part;
    size_t last = first;
    const bool second = is_second(p, first); /* its first one is added as a letter */
    if (!second)
        do
            last++;
        while (parts[last].kind == DG_PATTERN_OTHER ||
               (parts[last].kind == DG_PATTERN_APOSTROPHE && is_second(p, last)));
    if (parts[last].kind != DG_PATTERN_APOSTROPHE)
        return dg_pattern_stays(w->err, "a quotation in it does not end");
    r->part = last + 1;
    r->at = parts[last].end;
    if (second)
        return DG_OK;
    const struct dg_token token = {.kind = DG_TOKEN_QUOTATION,
        .s = p->s + parts[first].begin,
        .n = r->at - parts[first].begin};
    return dg_sentence_add_token(&w->sentence, token, w->err);
}

/* Adds the letters up to byte `end`. In a select within a plural, "#" is a sign in ICU, and the
 * number in other libraries: it stays where it is. */
static int add_letters(struct dg_walk *w, const struct dg_walk_rest *r, size_t end)
{
    const bool doubtful = r->in_plural && !dg_pattern_has_number(&w->pattern, r->argument);
    const char *s = w->pattern.s, *sign;
    size_t at = r->at;
    int rc = DG_OK;
    while (rc == DG_OK && doubtful && (sign = memchr(s + at, '#', end - at))) {
        const struct dg_token token = {
            .kind = DG_TOKEN_SIGN, .s = sign, .n = 1, .argument = r->argument};
        rc = dg_sentence_add_letters(&w->sentence, at, (size_t)(sign - s), w->err);
        if (rc == DG_OK)
            rc = dg_sentence_add_token(&w->sentence, token, w->err);
        at = (size_t)(sign - s) + 1;
    }
    return rc == DG_OK ? dg_sentence_add_letters(&w->sentence, at, end, w->err) : rc;
}

/* The selector that was chosen for the argument whose number "#" is. */
static size_t find_selector(const struct dg_walk *w, size_t argument)
{
    for (size_t i = 0; i < w->n_open; i++)
        if (dg_pattern_same_number(&w->pattern, w->open[i].argument, argument))
            return w->open[i].selector;
    return argument; /* no number's */
}

/* The number that is shown instead of an argument or its "#", or NULL. */
static const char *find_sample(const struct dg_walk *w, const struct dg_token *t)
{
    for (size_t i = 0; i < w->n_open; i++)
        if (w->open[i].sample && dg_token_is_number(&w->pattern, t, w->open[i].argument))
            return w->open[i].sample;
    return NULL;
}

int dg_walk_on(struct dg_walk *w, struct dg_walk_rest r)
{
    const struct dg_pattern_part *parts = w->pattern.parts;
    int rc = DG_OK;
    while (rc == DG_OK) {
        const size_t part = r.part;
        const struct dg_pattern_part *p = &parts[part];
        struct dg_token token = {.s = w->pattern.s + p->begin, .n = 1, .argument = part};
        const bool over = p->kind == DG_PATTERN_MESSAGE_END || p->begin >= r.end;
        if (p->kind == DG_PATTERN_OTHER && !over) {
            r.part++;
            continue;
        }
        rc = add_letters(w, &r, over ? r.end : p->begin);
        if (rc != DG_OK)
            break;
        if (over) {
            if (!r.after)
                return end_form(w);
            r = *r.after;
            continue;
        }
        r.at = parts[p->partner].end;
        r.part = p->partner + 1;
        switch (p->kind) {
        case DG_PATTERN_APOSTROPHE:
            r.part = part;
            rc = add_quotation(w, &r);
            break;
        case DG_PATTERN_NUMBER:
            token.kind = DG_TOKEN_NUMBER;
            token.argument = r.argument;
            token.selector = find_selector(w, r.argument);
            token.sample = find_sample(w, &token);
            rc = dg_sentence_add_token(&w->sentence, token, w->err);
            break;
        default: /* an argument */
            if (p->type != DG_PATTERN_SIMPLE)
                return walk_argument(w, part, &r);
            token.n = r.at - p->begin;
            token.sample = find_sample(w, &token);
            rc = dg_sentence_add_token(&w->sentence, token, w->err);
        }
    }
    return rc;
}
