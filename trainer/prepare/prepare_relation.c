/* Prepare's check that the files of a pair belong together: one extra line in one of them, and
 * everything after it would be taught wrongly. */
#include "trainer/prepare/prepare_internal.h"

#include "base/log.h"
#include "trainer/align/relation.h"

/* Pairs to learn a dictionary from when only this check needs one. */
enum { LEARN_PAIRS = 50000 };
enum { WINDOW_PAIRS = 2000 };
/* A file of fewer pairs may well have too few words to tell anything. */
enum { ENOUGH_PAIRS = 1000 };

static const struct dg_recipe_file *file_of(const struct dg_recipe *r, uint32_t pair, uint32_t file)
{
    for (uint32_t i = 0; i < pair; i++)
        file -= (uint32_t)r->data.pairs[i].n_train;
    return &r->data.pairs[pair].train[file];
}

/* The file under examination, as a whole and in windows, because a line may be missing anywhere. */
struct look {
    uint32_t pair, file;
    struct dg_relation *whole, *window;
    /* number of the window's first pair of lines among the kept ones, from 1 */
    uint64_t first;
};

static int refuse(const struct dg_prepare_job *j, const struct look *l,
    const struct dg_relation_counts *c, enum dg_relation_kind kind, struct dg_error *err)
{
    const struct dg_recipe_file *f = file_of(j->r, l->pair, l->file);
    const char *what =
        kind == DG_RELATION_BEFORE
            ? "the target is one line early: a line is missing in it, or the source has one "
              "too many"
        : kind == DG_RELATION_AFTER
            ? "the target is one line late: it has a line too many, or one is missing in the "
              "source"
            : "the lines of one do not translate those of the other";
    return dg_error_field(err, DG_EINVAL, "cleaning.check_relation",
        "%s and %s do not belong together: of %llu pairs of lines from pair %llu on %llu source "
        "words find their translation in the line beside theirs, %llu in the one before, %llu in "
        "the one after it; %s",
        f->source, f->target, (unsigned long long)c->lines, (unsigned long long)l->first,
        (unsigned long long)c->beside, (unsigned long long)c->before, (unsigned long long)c->after,
        what);
}

/* Refuses a window only for a clear shift: a few lines may well be odd. */
static int judge_window(const struct dg_prepare_job *j, struct look *l, struct dg_error *err)
{
    struct dg_relation_counts c;
    dg_relation_counts(l->window, &c);
    const enum dg_relation_kind kind = dg_relation_kind(&c);
    const bool shifted = kind == DG_RELATION_BEFORE || kind == DG_RELATION_AFTER;
    int rc = shifted ? refuse(j, l, &c, kind, err) : 0;
    dg_relation_free(l->window);
    l->window = NULL;
    l->first += c.lines;
    return rc;
}

/* Nothing can be learned from lines in another order, so that nothing is found in the neighbours
 * either. The same is true of some languages, which is no reason to refuse the file. */
static void warn_unknown(
    const struct dg_prepare_job *j, const struct look *l, const struct dg_relation_counts *c)
{
    const struct dg_recipe_file *f = file_of(j->r, l->pair, l->file);
    dg_log(DG_LOG_WARN,
        "relation_unknown source=%s target=%s pairs=%llu words=%llu reason=\"hardly a source word "
        "finds its translation in the line beside its own or next to that: see whether the lines "
        "are in another order\"",
        f->source, f->target, (unsigned long long)c->lines,
        (unsigned long long)(c->before + c->beside + c->after));
}

/* Judges the last window and the file as a whole: it may have words enough where no window has. */
static int judge_file(const struct dg_prepare_job *j, struct look *l, struct dg_error *err)
{
    struct dg_relation_counts c;
    int rc = l->window ? judge_window(j, l, err) : 0;
    if (rc || !l->whole)
        return rc;
    dg_relation_counts(l->whole, &c);
    const enum dg_relation_kind kind = dg_relation_kind(&c);
    l->first = 1;
    if (kind == DG_RELATION_UNKNOWN && c.lines >= ENOUGH_PAIRS)
        warn_unknown(j, l, &c);
    return kind == DG_RELATION_UNKNOWN || kind == DG_RELATION_BESIDE ? 0
                                                                     : refuse(j, l, &c, kind, err);
}

static void close_look(struct look *l)
{
    dg_relation_free(l->whole);
    dg_relation_free(l->window);
    l->whole = l->window = NULL;
}

static int learn(
    struct dg_prepare_job *j, uint32_t pair, struct dg_dictionary **out, struct dg_error *err)
{
    const struct dg_recipe_pair *p = &j->r->data.pairs[pair];
    const struct dg_dictionary_options o = {.dir = j->o->dir,
        .pair = pair,
        .source_lang = p->source_lang,
        .target_lang = p->target_lang,
        .most_pairs = LEARN_PAIRS};
    return dg_dictionary_learn(j->pairs, &o, out, err);
}

static int look_at(const struct dg_prepare_job *j, struct look *l, const struct dg_pair *p,
    const struct dg_dictionary *words, struct dg_error *err)
{
    int rc = 0;
    if (!l->whole || p->file != l->file) {
        rc = judge_file(j, l, err);
        close_look(l);
        l->file = p->file;
        l->first = 1;
        if (!rc)
            l->whole = dg_relation_new(words);
    }
    if (rc)
        return rc;
    if (!l->window)
        l->window = dg_relation_new(words);
    struct dg_relation_counts c;
    dg_relation_add(l->whole, p);
    dg_relation_add(l->window, p);
    dg_relation_counts(l->window, &c);
    return c.lines == WINDOW_PAIRS ? judge_window(j, l, err) : 0;
}

/* Checks the files of one language pair, in their order in j->pairs. */
static int check_pair(struct dg_prepare_job *j, uint32_t pair, const struct dg_dictionary *words,
    struct dg_error *err)
{
    struct look l = {.pair = pair};
    struct dg_pair p;
    int got = 0, rc = dg_pairs_rewind(j->pairs, err);
    while (!rc && (got = dg_pairs_next(j->pairs, &p, err)) > 0)
        if (p.pair == pair && !p.left_out)
            rc = look_at(j, &l, &p, words, err);
    if (!rc && got == 0)
        rc = judge_file(j, &l, err);
    close_look(&l);
    return rc ? rc : got;
}

static bool is_unrelated(
    const struct dg_prepare_job *j, const struct dg_dictionary *words, const struct dg_pair *p)
{
    const struct dg_relation_pair got = dg_relation_of_pair(words, p);
    return got.known >= DG_RELATION_LEAST_KNOWN &&
           (double)got.found < j->r->cleaning.min_relation * (double)got.known;
}

/* Leaves out the single pairs of one language pair whose sides do not translate each other. */
static int find_unrelated(struct dg_prepare_job *j, uint32_t pair,
    const struct dg_dictionary *words, struct dg_error *err)
{
    struct dg_pair p;
    int got = 0, rc = dg_pairs_rewind(j->pairs, err);
    while (!rc && (got = dg_pairs_next(j->pairs, &p, err)) > 0)
        if (p.pair == pair && !p.left_out && is_unrelated(j, words, &p))
            dg_pairs_leave_out(j->pairs, p.item, DG_DROP_UNRELATED);
    return rc ? rc : got;
}

int dg_prepare_relation(struct dg_prepare_job *j, struct dg_error *err)
{
    int rc = 0;
    if (!j->r->cleaning.check_relation && j->r->cleaning.min_relation <= 0)
        return 0;
    dg_progress_draw(&j->progress, "checking that lines belong together");
    for (uint32_t i = 0; i < j->r->data.n_pairs && !rc; i++) {
        struct dg_dictionary *own = NULL;
        rc = dg_prepare_check(j, err);
        if (!rc && !j->dictionaries)
            rc = learn(j, i, &own, err);
        const struct dg_dictionary *words = j->dictionaries ? j->dictionaries[i] : own;
        if (!rc && j->r->cleaning.check_relation)
            rc = check_pair(j, i, words, err);
        if (!rc && j->r->cleaning.min_relation > 0)
            rc = find_unrelated(j, i, words, err);
        dg_dictionary_close(own);
    }
    return rc;
}
