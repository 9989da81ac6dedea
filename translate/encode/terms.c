/* Glossary terms of a sentence as pieces of the target vocabulary, which the search must produce: a
 * term as in its entry; also with a capital where the answer begins, and in capitals throughout
 * where the sentence is. */
#include "translate/encode/encode.h"

#include "text/glossary.h"
#include "text/letter_case.h"
#include "translate/encode/known.h"

#include <stdlib.h>
#include <string.h>

/* Terms under construction; `forms` and `ids` are copied to the job's arena at the end (keep). */
struct making {
    struct dg_job *j;
    struct dg_terms *terms;
    /* the term whose forms are being added */
    uint32_t term;
    struct dg_term_form forms[DG_MAX_TERM_FORMS];
    struct dg_term_source sources[DG_MAX_TERMS];
    /* int32_t of all forms; those of a form that is tried follow them */
    struct dg_buffer ids;
};

/* True if the term already has the form whose n ids follow those of all forms. */
static bool has_form(const struct making *m, uint32_t n)
{
    const int32_t *all = (const int32_t *)(const void *)m->ids.data;
    for (uint32_t i = 0; i < m->terms->n_forms; i++) {
        const struct dg_term_form *f = &m->forms[i];
        if (f->term == m->term && f->n == n &&
            memcmp(all + f->at, all + m->terms->n_ids, n * sizeof *all) == 0)
            return true;
    }
    return false;
}

/* Tokenize text[n] and add the pieces after its first `skip` bytes as a form of the term. *added:
 * they made a new form; a form with an unknown piece is not added. */
static int add_form(struct making *m, const char *text, size_t n, size_t skip,
    enum dg_term_place place, bool *added, struct dg_error *err)
{
    struct dg_terms *t = m->terms;
    const int32_t unk = dg_tokenizer_unk(m->j->t->target),
                  never = dg_model_config(m->j->t->model)->never;
    struct dg_token *tokens = NULL;
    size_t count = 0, first = 0;
    *added = false;
    int rc = dg_tokenizer_encode(m->j->t->target, text, n, &tokens, &count, err);
    if (rc)
        return rc;
    while (skip && first < count && tokens[first].end <= skip)
        first++;
    bool fits = first < count && t->n_forms < DG_MAX_TERM_FORMS &&
                (!skip || (first > 0 && tokens[first - 1].end == skip));
    for (size_t i = first; i < count; i++) {
        dg_buffer_add(&m->ids, &tokens[i].id, sizeof tokens[i].id);
        fits = fits && tokens[i].id != unk && tokens[i].id != never;
    }
    free(tokens);
    if (m->ids.failed)
        return DG_JOB_NO_MEMORY(err);
    const uint32_t n_ids = (uint32_t)(count - first);
    *added = fits && !has_form(m, n_ids);
    if (*added) {
        m->forms[t->n_forms++] = (struct dg_term_form){m->term, t->n_ids, n_ids, (uint32_t)place};
        t->n_ids += n_ids;
    }
    m->ids.len = t->n_ids * sizeof(int32_t);
    return 0;
}

/* Add the term with a capital, if it begins with a small letter. */
static int add_capital(struct making *m, const char *s, size_t n, struct dg_error *err)
{
    struct dg_buffer text;
    bool added;
    const size_t first = dg_letter_case_first_letter(s, n);
    if (!first || !dg_glossary_is_word(s, first, 0))
        return 0;
    dg_buffer_init(&text);
    int rc = dg_letter_case_upper(m->j->to, s, first, &text, err);
    dg_buffer_add(&text, s + first, n - first);
    if (!rc && text.failed)
        rc = DG_JOB_NO_MEMORY(err);
    if (!rc)
        rc = add_form(m, text.data, text.len, 0, DG_TERM_FIRST, &added, err);
    dg_buffer_deinit(&text);
    return rc;
}

/* Add the term as it is tokenized after an opening bracket: without a blank before it. */
static int add_inside(struct making *m, const char *s, size_t n, struct dg_error *err)
{
    struct dg_buffer text;
    bool added;
    dg_buffer_init(&text);
    dg_buffer_add(&text, "(", 1);
    dg_buffer_add(&text, s, n);
    int rc = text.failed ? DG_JOB_NO_MEMORY(err)
                         : add_form(m, text.data, text.len, 1, DG_TERM_INSIDE, &added, err);
    dg_buffer_deinit(&text);
    return rc;
}

/* Add a term if the vocabulary can write it and there is room for it. */
static int add_term(
    struct making *m, const struct dg_glossary_match *match, bool *added, struct dg_error *err)
{
    const char *s = match->target;
    const size_t n = match->target_len;
    const struct dg_terms before = *m->terms;
    *added = false;
    if (before.n == DG_MAX_TERMS)
        return 0;
    m->term = before.n;
    int rc = add_form(m, s, n, 0, DG_TERM_ANYWHERE, added, err);
    if (rc || !*added)
        return rc;
    m->terms->forms = m->forms;
    m->terms->n++;
    if (dg_terms_pieces(m->terms) + 1 > dg_job_most_tokens(m->j)) {
        *m->terms = before;
        m->ids.len = before.n_ids * sizeof(int32_t);
        *added = false;
        return 0;
    }
    rc = add_inside(m, s, n, err);
    return rc ? rc : add_capital(m, s, n, err);
}

/* Find the bytes of p->shown.text that the match has in p->text, where a hyphen of three bytes
 * became "-". False: the two differ in more. */
static bool find_shown(
    const struct dg_part *p, const struct dg_glossary_match *match, struct dg_span *out)
{
    size_t at = 0;
    *out = (struct dg_span){0};
    for (size_t i = 0; p->text[i] != '\0'; i++) {
        if (at >= p->shown.len)
            return false;
        if (i == match->begin)
            out->begin = at;
        at += p->text[i] == '-' && p->shown.text[at] == '\xE2' ? 3 : 1;
        if (i + 1 == match->end)
            out->end = at;
    }
    return at == p->shown.len;
}

/* True if the match overlaps a protected span of p, which has no terms. */
static bool is_protected(const struct dg_part *p, const struct dg_glossary_match *match)
{
    struct dg_span shown;
    if (!p->shown.text || !find_shown(p, match, &shown))
        return false;
    for (size_t i = 0; i < p->shown.n_marks; i++) {
        const struct dg_mark *mark = &p->shown.marks[i];
        if (mark->kind == DG_MARK_PROTECTED && shown.begin < mark->at + mark->len &&
            shown.end > mark->at)
            return true;
    }
    return false;
}

/* The positions of p->ids whose tokens have characters of the match. */
static struct dg_term_source source_of(
    const struct dg_part *p, const struct dg_glossary_match *match)
{
    uint32_t first = 0, end = 0;
    for (uint32_t i = 0; i < p->n_tokens; i++)
        if (p->tokens[i].begin < match->end && p->tokens[i].end > match->begin) {
            first = end ? first : i;
            end = i + 1;
        }
    return (struct dg_term_source){p->n_tags + first, p->n_tags + end};
}

/* Copy the finished terms to the job's arena and set p->terms. */
static int keep(struct making *m, struct dg_part *p, struct dg_error *err)
{
    struct dg_terms *t = m->terms;
    struct dg_term_form *forms = dg_arena_array(&m->j->arena, t->n_forms, sizeof *forms);
    int32_t *ids = dg_arena_array(&m->j->arena, t->n_ids, sizeof *ids);
    if (!forms || !ids)
        return DG_JOB_NO_MEMORY(err);
    memcpy(forms, m->forms, t->n_forms * sizeof *forms);
    memcpy(ids, m->ids.data, t->n_ids * sizeof *ids);
    t->forms = forms;
    t->ids = ids;
    if (dg_model_config(m->j->t->model)->align_layer) {
        struct dg_term_source *sources = dg_arena_array(&m->j->arena, t->n, sizeof *sources);
        if (!sources)
            return DG_JOB_NO_MEMORY(err);
        memcpy(sources, m->sources, t->n * sizeof *sources);
        t->sources = sources;
    }
    t->begins = m->j->t->words.begins;
    t->continues = m->j->t->words.continues;
    t->opens = m->j->t->words.opens;
    p->terms = t;
    return 0;
}

static int make_terms(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    struct making m = {.j = j, .terms = dg_arena_array(&j->arena, 1, sizeof *m.terms)};
    int rc = m.terms ? 0 : DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < p->wanted.n && !rc; i++) {
        bool added;
        rc = add_term(&m, &p->wanted.list[i], &added, err);
        if (!added)
            p->flags |= DG_FLAG_GLOSSARY_MISSED;
        else
            m.sources[m.terms->n - 1] = source_of(p, &p->wanted.list[i]);
    }
    if (!rc && m.terms->n)
        rc = keep(&m, p, err);
    dg_buffer_deinit(&m.ids);
    return rc;
}

int dg_part_find_terms(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    /* More than the engine takes, to know that some were left out. */
    struct dg_glossary_match found[DG_MAX_TERMS + 1];
    size_t n = 0;
    const struct dg_glossary *glossary = j->options.glossary;
    if (!glossary)
        return 0;
    const size_t all =
        dg_glossary_find(glossary, p->text, strlen(p->text), found, sizeof found / sizeof *found);
    for (size_t i = 0; i < all; i++)
        if (!is_protected(p, &found[i]))
            found[n++] = found[i];
    if (!n)
        return 0;
    int rc = dg_known_take_term(j, p, &found[0], err);
    if (rc || p->known)
        return rc;
    struct dg_glossary_match *wanted = dg_arena_array(&j->arena, n, sizeof *wanted);
    if (!wanted)
        return DG_JOB_NO_MEMORY(err);
    memcpy(wanted, found, n * sizeof *wanted);
    p->wanted = (struct dg_wanted_terms){wanted, n, p->capitals};
    return make_terms(j, p, err);
}
