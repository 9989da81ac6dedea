/* Prepare's check that a file is what the recipe says it is: if a large part of it would be dropped
 * for faults, the file as a whole is wrong rather than its lines. */
#include "trainer/prepare/prepare_internal.h"

#include "base/log.h"
#include "text/utf8.h"

#include <string.h>

/* True for faults of a line; being a duplicate or held out is not one. */
static bool is_fault(enum dg_drop why)
{
    return why > DG_KEEP && why <= DG_DROP_LANGUAGE;
}

/* Guesses what is wrong with a file from its most frequent fault. */
static const char *guess(const struct dg_prepare_count *c, enum dg_drop most)
{
    if (most == DG_DROP_UTF8)
        return "; it looks like Latin-1 or Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 converts it";
    if (most == DG_DROP_LANGUAGE && 2 * c->swapped > c->by[DG_DROP_LANGUAGE])
        return "; each side is in the other's language: source and target are swapped";
    if (most == DG_DROP_RATIO)
        return "; is one of the files some lines ahead of the other?";
    if (most == DG_DROP_LANGUAGE)
        return "; is it in the languages that the recipe says?";
    return "";
}

bool dg_prepare_has_columns(const char *line, size_t n)
{
    const char *tab = memchr(line, '\t', n);
    size_t begin = 0;
    if (!tab)
        return false;
    while (begin < n && strchr(" \t", line[begin]))
        begin++;
    while (n > begin && strchr(" \t\r", line[n - 1]))
        n--;
    return memchr(line + begin, '\t', n - begin) != NULL;
}

int dg_prepare_columns(const struct dg_recipe *r, const char *file, uint64_t columns,
    uint64_t lines, struct dg_error *err)
{
    if (2 * columns <= lines || r->cleaning.max_dropped >= 1)
        return 0;
    return dg_error_field(err, DG_EINVAL, "cleaning.max_dropped",
        "%s: %llu of %llu lines have columns, must be one sentence each: cut -f1 writes the first "
        "column alone (with cleaning.max_dropped 1, tabs are white space)",
        file, (unsigned long long)columns, (unsigned long long)lines);
}

int dg_prepare_faults(const struct dg_recipe *r, const struct dg_recipe_file *f,
    const struct dg_prepare_count *c, struct dg_error *err)
{
    uint64_t faults = 0;
    enum dg_drop most = DG_KEEP;
    struct dg_buffer list;
    int rc = dg_prepare_columns(r, f->source, c->columns[0], c->read, err);
    if (!rc)
        rc = dg_prepare_columns(r, f->target, c->columns[1], c->read, err);
    if (rc)
        return rc;
    dg_buffer_init(&list);
    for (int why = DG_KEEP + 1; why < DG_N_DROPS; why++) {
        if (!is_fault((enum dg_drop)why) || !c->by[why])
            continue;
        faults += c->by[why];
        if (most == DG_KEEP || c->by[why] > c->by[most])
            most = (enum dg_drop)why;
        dg_buffer_addf(&list, "%s%s %llu", list.len ? ", " : "", dg_drop_name((enum dg_drop)why),
            (unsigned long long)c->by[why]);
    }
    if ((double)faults > r->cleaning.max_dropped * (double)c->read) {
        const struct dg_prepare_example *e = &c->examples[most];
        rc = dg_error_field(err, DG_EINVAL, "cleaning.max_dropped",
            "%s, %s: %llu of %llu pairs would be dropped (%s), more than cleaning.max_dropped (%g) "
            "allows%s; %s for example is line %llu: \"%s\" | \"%s\"",
            f->source, f->target, (unsigned long long)faults, (unsigned long long)c->read,
            list.data ? list.data : "", r->cleaning.max_dropped, guess(c, most), dg_drop_name(most),
            (unsigned long long)e->line, e->text[0], e->text[1]);
    }
    dg_buffer_deinit(&list);
    return rc;
}

int dg_prepare_set_faults(const struct dg_recipe_pair *pair, const struct dg_recipe_file *f,
    const struct dg_prepare_count *c, struct dg_error *err)
{
    const struct dg_prepare_example *e = &c->examples[DG_DROP_LANGUAGE];
    const uint64_t wrong = c->by[DG_DROP_LANGUAGE];
    if (2 * wrong <= c->read)
        return 0;
    return dg_error_field(err, DG_EINVAL, "data.pairs",
        "%s, %s: %llu of %llu pairs of this dev or test set are not %s-%s, for example line %llu: "
        "\"%s\" | \"%s\"%s (cleaning.language_check)",
        f->source, f->target, (unsigned long long)wrong, (unsigned long long)c->read,
        pair->source_lang, pair->target_lang, (unsigned long long)e->line, e->text[0], e->text[1],
        guess(c, DG_DROP_LANGUAGE));
}

void dg_prepare_warn_tokens(const struct dg_prepare_job *j)
{
    size_t file = 0;
    for (size_t i = 0; i < j->r->data.n_pairs; i++)
        for (size_t k = 0; k < j->r->data.pairs[i].n_train; k++, file++) {
            const struct dg_recipe_file *f = &j->r->data.pairs[i].train[k];
            const struct dg_prepare_count *c = &j->counts[file];
            const uint64_t n = c->by[DG_DROP_TOKENS] + c->by[DG_DROP_TOKEN_RATIO];
            if ((double)n > j->r->cleaning.max_dropped * (double)c->read)
                dg_log(DG_LOG_WARN,
                    "dropped_by_tokens source=%s target=%s pairs=%llu of=%llu reason=\"over "
                    "cleaning.max_tokens or max_token_ratio; a vocabulary that lacks a script "
                    "spells it in bytes\"",
                    f->source, f->target, (unsigned long long)n, (unsigned long long)c->read);
        }
}

static bool is_there(const struct dg_prepare_job *j, const char *domain)
{
    bool there = false;
    for (size_t i = 0; i < j->n_domains; i++)
        there = there || !strcmp(j->domains[i], domain);
    return there;
}

void dg_prepare_warn_domains(const struct dg_prepare_job *j)
{
    struct dg_buffer list;
    dg_buffer_init(&list);
    for (size_t i = 0; i < j->r->data.n_domain_weights; i++) {
        const char *domain = j->r->data.domain_weights[i].domain;
        if (!is_there(j, domain))
            dg_buffer_addf(&list, "%s%s", list.len ? ", " : "", domain);
    }
    if (list.data && !list.failed)
        dg_log(DG_LOG_WARN,
            "unknown_domains field=data.domain_weights labels=\"%s\" reason=\"no line has them\"",
            list.data);
    dg_buffer_deinit(&list);
}

void dg_prepare_warn_names(const struct dg_prepare_job *j, const bool *used)
{
    for (size_t i = 0; i < j->r->data.n_names; i++)
        if (!used[i])
            dg_log(DG_LOG_WARN,
                "unused_names field=data.names file=%s reason=\"no pair got another form: none has "
                "one of its names in both languages, or forms is too small\"",
                j->r->data.names[i].file);
}

int dg_prepare_held_line(const struct dg_line *line, enum dg_drop why, const char *file,
    uint64_t number, struct dg_error *err)
{
    if ((why == DG_KEEP || why == DG_DROP_CONTROL) && !line->cut)
        return 0;
    return dg_error_set(err, DG_EFORMAT, "%s line %llu: %s", file, (unsigned long long)number,
        line->cut ? "too long" : "not UTF-8");
}

int dg_prepare_none_left(const struct dg_prepare_job *j, struct dg_error *err)
{
    uint64_t read = 0, by[DG_N_DROPS] = {0};
    struct dg_buffer list;
    dg_buffer_init(&list);
    for (size_t i = 0; i < j->n_files; i++) {
        read += j->counts[i].read;
        for (int why = DG_KEEP + 1; why < DG_N_DROPS; why++)
            by[why] += j->counts[i].by[why];
    }
    for (int why = DG_KEEP + 1; why < DG_N_DROPS; why++)
        if (by[why])
            dg_buffer_addf(&list, "%s%s %llu",
                list.len ? ", " : "; dropped: ", dg_drop_name((enum dg_drop)why),
                (unsigned long long)by[why]);
    int rc = dg_error_field(err, DG_EINVAL, "data.pairs",
        "data.pairs: no training pair is left of %llu that were read from %zu pair%s of files%s",
        (unsigned long long)read, j->n_files, j->n_files == 1 ? "" : "s",
        list.data ? list.data : "");
    dg_buffer_deinit(&list);
    return rc;
}

void dg_prepare_note_example(
    struct dg_prepare_count *c, enum dg_drop why, const char *const s[2], const size_t n[2])
{
    struct dg_prepare_example *e = &c->examples[why];
    if (e->line)
        return;
    e->line = c->read;
    for (int side = 0; side < 2; side++) {
        size_t k = 0;
        for (; k < n[side] && k < sizeof e->text[side] - 1; k++) {
            const unsigned char b = (unsigned char)s[side][k];
            e->text[side][k] = b < ' ' || b == 0x7F ? '?' : (char)b;
        }
        while (k < n[side] && k > 0 &&
               (e->text[side][k - 1] & 0x80)) /* do not cut within a character */
            k--;
        e->text[side][k] = '\0';
        dg_utf8_mend(e->text[side]);
    }
}
