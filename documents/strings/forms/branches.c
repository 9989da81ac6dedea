/* The branches of an argument: those of the message, and those that the target language needs. */
#include "documents/strings/forms/walk.h"
#include "documents/strings/plural_forms.h"

#include <string.h>

/* True if the argument has a branch for this category. */
static bool has_category(const struct dg_walk *w, size_t argument, const char *category)
{
    struct dg_pattern_branch b;
    for (size_t k = argument; dg_pattern_next_branch(&w->pattern, argument, &k, &b);)
        if (dg_pattern_is(&w->pattern, b.selector, category))
            return true;
    return false;
}

/* True if the branch for "one" that was walked through last, "one {a dog}", would say something
 * wrong: it does not say the number, and the target language uses it for others, too. */
static bool is_narrow(const struct dg_walk *w, size_t argument, size_t selector)
{
    const struct dg_pattern *p = &w->pattern;
    return w->out && !w->out->failed && w->open[w->n_open].silent &&
           p->parts[argument].type == DG_PATTERN_PLURAL &&
           dg_pattern_offset(p, argument) == DG_PATTERN_NONE && dg_pattern_is(p, selector, "one") &&
           !dg_plural_one_is_exact(w->target);
}

/* Makes that branch, which begins at out[at], one for the number 1 alone, "=1 {a dog}": "other" is
 * for the other numbers. If there is one already, the branch is left out. */
static void narrow(struct dg_walk *w, size_t argument, size_t at)
{
    struct dg_buffer *out = w->out;
    if (has_category(w, argument, "=1")) {
        out->len = at;
    } else {
        memcpy(out->data + at, "=1", 2);
        memmove(out->data + at + 2, out->data + at + 3, out->len - at - 3);
        out->len--;
    }
    out->data[out->len] = '\0';
}

/* The sentence up to an argument, to which it returns before each branch. */
struct stem {
    size_t len, n_tokens;
    bool words, sign;
};

static void begin_again(struct dg_sentence *t, const struct stem *stem)
{
    t->text.len = stem->len;
    t->n_tokens = stem->n_tokens;
    t->words = stem->words;
    t->sign = stem->sign;
}

/* Walks through a branch, which shows the argument's number as `sample` if that is not NULL, and
 * through what is after the argument. */
static int walk_branch(struct dg_walk *w, size_t argument, const struct dg_pattern_branch *b,
    const char *sample, const struct stem *stem, const struct dg_walk_rest *after)
{
    begin_again(&w->sentence, stem);
    w->open[w->n_open++] =
        (struct dg_walk_open){.argument = argument, .selector = b->selector, .sample = sample};
    const int rc = dg_walk_on(w, dg_walk_enter(w, argument, b, after));
    w->n_open--;
    return rc;
}

/* The sample's number that neither the message nor an open argument has; NULL: there is none. */
static const char *choose_number(const struct dg_walk *w, const struct dg_plural_sample *sample)
{
    for (int i = 0; i < 2; i++) {
        const char *number = sample->numbers[i];
        bool lacks = dg_sentence_lacks(&w->pattern, number);
        for (size_t k = 0; k < w->n_open; k++)
            lacks = lacks && !(w->open[k].sample && strcmp(w->open[k].sample, number) == 0);
        if (lacks)
            return number;
    }
    return NULL;
}

/* Walks through a branch whose number is shown as `sample`, also before it. */
static int walk_added(struct dg_walk *w, size_t argument, const struct dg_pattern_branch *b,
    const char *sample, const struct dg_walk_rest *after)
{
    struct dg_sentence *t = &w->sentence;
    const struct dg_sentence own = *t;
    dg_sentence_copy(&own, argument, sample, t);
    const struct stem stem = {t->text.len, t->n_tokens, t->words, t->sign};
    w->n_added++;
    w->fails = false;
    const int rc = walk_branch(w, argument, b, sample, &stem, after);
    w->n_added--;
    dg_buffer_deinit(&t->text);
    *t = own;
    return rc;
}

/* A number for a branch of a plural; NULL: it is for one number alone, or nothing is shown as one.
 */
static const char *find_number(const struct dg_walk *w, size_t argument, size_t selector)
{
    static const struct dg_plural_sample numbers[] = {{"other", {"5", "7"}}, {"one", {"1", "1"}},
        {"two", {"2", "2"}}, {"few", {"3", "4"}}, {"many", {"11", "8"}}};
    if (!w->pattern.style.samples || w->pattern.parts[argument].type != DG_PATTERN_PLURAL)
        return NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (dg_pattern_is(&w->pattern, selector, numbers[i].category))
            return choose_number(w, &numbers[i]);
    return NULL;
}

/* After the same branch was written twice, at out[begin] and at out[again]: keeps one. */
static void keep(struct dg_buffer *out, size_t begin, size_t again, bool second)
{
    if (out->failed)
        return;
    if (second)
        memmove(out->data + begin, out->data + again, out->len - again);
    out->len = second ? begin + (out->len - again) : again;
    out->data[out->len] = '\0';
}

/* Walks through a branch of the message twice if it has the number of its plural: shown as a
 * placeholder, and as a number ("5 dogs"), which a model translates better ("il y a 5 minutes").
 * The answer to the latter is written if it has the number. */
static int walk_own(struct dg_walk *w, size_t argument, const struct dg_pattern_branch *b,
    const struct stem *stem, const struct dg_walk_rest *after)
{
    const char *number = find_number(w, argument, b->selector);
    const bool outer = w->fails;
    const size_t begin = w->out ? w->out->len : 0;
    if (!number)
        return walk_branch(w, argument, b, NULL, stem, after);
    w->n_added++;
    w->fails = false;
    int rc = walk_branch(w, argument, b, NULL, stem, after);
    w->n_added--;
    const bool plain = !w->fails;
    const size_t again = w->out ? w->out->len : 0;
    bool shown = false;
    if (rc == DG_OK && !w->open[w->n_open].silent) {
        begin_again(&w->sentence, stem);
        rc = walk_added(w, argument, b, number, after);
        shown = rc == DG_OK && !w->fails;
        if (w->out)
            keep(w->out, begin, again, shown);
    }
    w->fails = outer || !(plain || shown);
    return rc == DG_OK && w->fails && w->n_added == 0 ? dg_pattern_stays(w->err, w->failure.message)
                                                      : rc;
}

/* Adds branches for the categories that the target language has and the plural lacks before its
 * branch "other", from that: its number is shown as one of the category, which the answer has to
 * have. gap: what is between two branches, n bytes. */
static int add_branches(struct dg_walk *w, size_t argument, const struct dg_pattern_branch *other,
    const char *gap, size_t n, const struct dg_walk_rest *after)
{
    const struct dg_pattern_part *parts = w->pattern.parts;
    const struct dg_plural_sample *sample = w->pattern.style.samples;
    const bool outer = w->fails;
    int rc = DG_OK;
    for (; sample->category && rc == DG_OK; sample++) {
        const size_t begin = w->out ? w->out->len : 0;
        const char *number = choose_number(w, sample);
        if (!number || has_category(w, argument, sample->category))
            continue;
        if (w->out)
            dg_buffer_adds(w->out, sample->category);
        dg_walk_copy(w, parts[other->selector].end, parts[other->message].end);
        rc = walk_added(w, argument, other, number, after);
        if (!w->out)
            continue;
        dg_buffer_adds(w->out, "}");
        dg_buffer_add(w->out, gap, n);
        if (!w->out->failed && (w->fails || w->open[w->n_open].silent))
            w->out->len = begin;
    }
    w->fails = outer;
    return rc;
}

/* True if branches may be added before this one. */
static bool may_add(const struct dg_walk *w, size_t argument, size_t selector)
{
    const struct dg_pattern *p = &w->pattern;
    return p->style.samples && p->parts[argument].type == DG_PATTERN_PLURAL &&
           dg_pattern_offset(p, argument) == DG_PATTERN_NONE && dg_pattern_is(p, selector, "other");
}

int dg_walk_branches(struct dg_walk *w, size_t argument, const struct dg_walk_rest *after)
{
    const struct dg_pattern_part *parts = w->pattern.parts;
    const struct dg_sentence *t = &w->sentence;
    const struct stem stem = {t->text.len, t->n_tokens, t->words, t->sign};
    size_t copied = parts[argument].begin;
    struct dg_pattern_branch b;
    int rc = DG_OK;
    for (size_t k = argument;
         rc == DG_OK && dg_pattern_next_branch(&w->pattern, argument, &k, &b);) {
        const size_t gap = copied == parts[argument].begin ? 0 : parts[b.selector].begin - copied;
        dg_walk_copy(w, copied, parts[b.selector].begin);
        if (may_add(w, argument, b.selector)) {
            begin_again(&w->sentence, &stem);
            rc = add_branches(
                w, argument, &b, gap ? w->pattern.s + copied : " ", gap ? gap : 1, after);
        }
        const size_t at = w->out ? w->out->len : 0;
        dg_walk_copy(w, parts[b.selector].begin, parts[b.message].end);
        if (rc == DG_OK)
            rc = walk_own(w, argument, &b, &stem, after);
        copied = parts[k].end;
        dg_walk_copy(w, parts[k].begin, copied);
        if (rc == DG_OK && is_narrow(w, argument, b.selector))
            narrow(w, argument, at);
    }
    dg_walk_copy(w, copied, parts[parts[argument].partner].end);
    return rc;
}
