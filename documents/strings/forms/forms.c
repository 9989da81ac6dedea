/* Walks through the sections of a message, one with branches once for each of its forms. At an
 * argument with branches, the walk goes on for each of them, through the branch and then through
 * what is after the argument. An argument with the choices of an earlier one ("{n, plural, ...}
 * of {n, plural, ...}") gets the same branch. Reading collects the sentences; writing is the same
 * walk, which copies the arguments' own bytes and puts the answers into their branches. */
#include "documents/strings/forms/forms.h"

#include "documents/strings/forms/sections.h"
#include "documents/strings/forms/walk.h"
#include "text/scan.h"

#include <stdlib.h>

#define MOST_BYTES 8192 /* ICU's parser calls itself for arguments in one another */

/* The first of the message's own parts, not those of its branches, from this byte on. */
static size_t part_from(const struct dg_pattern *p, size_t at)
{
    size_t k = 1;
    while (p->parts[k].kind != DG_PATTERN_MESSAGE_END && p->parts[k].begin < at)
        k = p->parts[k].partner + 1;
    return k;
}

static int walk_section(struct dg_walk *w, size_t begin, size_t end)
{
    struct dg_sentence *t = &w->sentence;
    dg_buffer_reset(&t->text);
    t->n_tokens = 0;
    t->words = t->sign = false;
    return dg_walk_on(w, (struct dg_walk_rest){.part = part_from(&w->pattern, begin),
                             .at = begin,
                             .end = end,
                             .argument = DG_PATTERN_NONE});
}

static int walk_sections(struct dg_walk *w)
{
    const struct dg_pattern *p = &w->pattern;
    struct dg_span *sections;
    size_t n, at = 0;
    int rc = dg_sections_find(p, &sections, &n, w->err);
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        dg_walk_copy(w, at, sections[i].begin);
        at = sections[i].end;
        rc = walk_section(w, sections[i].begin, at);
    }
    dg_walk_copy(w, at, p->n);
    free(sections);
    return rc;
}

/* Walks through s[begin, end). */
static int walk_all(struct dg_walk *w, const char *s, size_t begin, size_t end,
    const struct dg_pattern_style *style)
{
    int rc = dg_pattern_open(s + begin, end - begin, style, &w->pattern, w->err);
    w->sentence.pattern = &w->pattern;
    if (rc == DG_OK)
        rc = walk_sections(w);
    if (rc == DG_OK && !w->branches)
        rc = dg_error_set(w->err, DG_ENOTFOUND, "it has no argument with branches");
    dg_buffer_deinit(&w->sentence.text);
    dg_pattern_close(&w->pattern);
    return rc;
}

int dg_forms_read(const char *s, size_t n, const struct dg_pattern_style *style,
    struct dg_buffer *texts, size_t *count, struct dg_error *err)
{
    struct dg_walk w = {.texts = texts, .err = err};
    const size_t begin = dg_scan_skip_space(s, 0, n);
    *count = 0;
    if (n > MOST_BYTES)
        return dg_pattern_stays(err, "it has more than 8192 bytes");
    const int rc = walk_all(&w, s, begin, dg_scan_trim_space(s, begin, n), style);
    *count = w.n_texts;
    return rc == DG_OK && texts->failed ? dg_error_set(err, DG_ENOMEM, "no memory for a message")
                                        : rc;
}

int dg_forms_write(const char *s, size_t n, const struct dg_pattern_style *style,
    const struct dg_extract_answer *answers, const char *target, struct dg_buffer *out,
    struct dg_error *err)
{
    struct dg_pattern written;
    struct dg_buffer message = {0};
    struct dg_walk w = {.out = &message, .answers = answers, .target = target, .err = err};
    const size_t begin = dg_scan_skip_space(s, 0, n), end = dg_scan_trim_space(s, begin, n);
    int rc = walk_all(&w, s, begin, end, style);
    if (rc == DG_OK && message.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a message");
    if (rc == DG_OK) { /* whatever an answer is, ICU can read what is written */
        rc = dg_pattern_open(message.data ? message.data : "", message.len, style, &written, err);
        dg_pattern_close(&written);
    }
    if (rc == DG_OK) {
        dg_buffer_add(out, s, begin);
        dg_buffer_add(out, message.data ? message.data : "", message.len);
        dg_buffer_add(out, s + end, n - end);
    }
    dg_buffer_deinit(&message);
    return rc;
}
