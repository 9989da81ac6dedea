/* A part of a file with its answers in place of its texts. */
#include "documents/cues.h"
#include "documents/events.h"
#include "documents/segments.h"
#include "documents/slots.h"
#include "documents/strings/forms/forms.h"
#include "documents/strings/message.h"
#include "documents/table.h"
#include "documents/word_times.h"
#include "text/format/encoding.h"

#include <string.h>

/* Writes a text as it is, but markup in an attribute with its quotation marks as references. */
static void write_plain(const char *s, size_t n, enum dg_encoding encoding, struct dg_buffer *out)
{
    const char *signs = encoding == DG_ENCODING_DOUBLE_QUOTED   ? "\""
                        : encoding == DG_ENCODING_SINGLE_QUOTED ? "'"
                        : encoding == DG_ENCODING_UNQUOTED      ? "\"' \t\r\n>=`"
                                                                : "";
    if (!*signs) {
        dg_buffer_add(out, s, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        dg_encoding_add(
            strchr(signs, s[i]) ? DG_ENCODING_UNQUOTED : DG_ENCODING_PLAIN, s + i, 1, out);
}

/* Writes a message: its own bytes tell which braces of the answer are arguments. */
static void write_message(
    struct dg_writer *w, const struct dg_segment *g, const struct dg_extract_answer *a)
{
    struct dg_buffer value = {0}, message = {0};
    dg_escapes_read(g->escapes, w->part->s + g->begin, g->end - g->begin, &value);
    dg_message_write(value.data, value.len, a->s, a->n, &message);
    dg_escapes_write(g->escapes, message.data, message.len, w->out);
    w->out->failed = w->out->failed || value.failed || message.failed;
    dg_buffer_deinit(&value);
    dg_buffer_deinit(&message);
}

/* Writes an answer as a scalar of YAML. The further lines of a block begin as the first one does.
 * Only for a block is the start of the line looked for: other scalars may all be on one line. */
static void write_yaml(
    struct dg_writer *w, const struct dg_segment *g, const struct dg_extract_answer *a)
{
    const struct dg_extract_part *p = w->part;
    size_t line = g->begin;
    struct dg_buffer before = {0};
    if (g->yaml != DG_YAML_LITERAL && g->yaml != DG_YAML_FOLDED) {
        dg_yaml_write(g->yaml, "", a->s, a->n, w->out);
        return;
    }
    while (line > 0 && p->s[line - 1] != '\n' && p->s[line - 1] != '\r')
        line--;
    dg_buffer_adds(&before, line > 1 && p->s[line - 2] == '\r' ? "\r\n" : "\n");
    dg_buffer_add(&before, p->s + line, g->begin - line);
    if (!before.failed)
        dg_yaml_write(g->yaml, before.data, a->s, a->n, w->out);
    w->out->failed = w->out->failed || before.failed;
    dg_buffer_deinit(&before);
}

/* Sets *a to what is written for g: its answer; of a message, the message with the answers to its
 * sentences, in *message. *fails: they cannot be written into it, and *a is the message as it is.
 */
static int find_answer(const struct dg_writer *w, const struct dg_segment *g,
    struct dg_buffer *message, struct dg_extract_answer *a, bool *fails, struct dg_error *err)
{
    struct dg_error why = {0};
    *a = g->text ? w->answers[g->index] : (struct dg_extract_answer){"", 0};
    *fails = false;
    if (!g->message)
        return DG_OK;
    dg_buffer_reset(message);
    const int rc = dg_forms_write(g->message, strlen(g->message), &g->pattern,
        &w->answers[g->index], w->file->target, message, &why);
    *fails = rc == DG_EUNSUP;
    *a = rc == DG_OK ? (struct dg_extract_answer){message->data, message->len}
                     : (struct dg_extract_answer){g->message, strlen(g->message)};
    return (rc == DG_OK && message->failed) || rc == DG_ENOMEM
               ? dg_error_set(err, DG_ENOMEM, "no memory for a message")
               : DG_OK;
}

static int write_answer(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err)
{
    int rc = DG_OK;
    if (g->before)
        dg_buffer_adds(w->out, g->before);
    switch (g->writing) {
    case DG_WRITE_PLAIN: write_plain(a->s, a->n, g->encoding, w->out); break;
    case DG_WRITE_ESCAPED: dg_escapes_write(g->escapes, a->s, a->n, w->out); break;
    case DG_WRITE_MESSAGE: write_message(w, g, a); break;
    case DG_WRITE_YAML: write_yaml(w, g, a); break;
    case DG_WRITE_DECLARATION:
    case DG_WRITE_SETTING:
    case DG_WRITE_FORM: break;
    case DG_WRITE_CUES: rc = dg_cues_write(w, g, a, err); break;
    case DG_WRITE_EVENT: dg_events_write(a->s, a->n, w->out); break;
    case DG_WRITE_CELL:
    case DG_WRITE_QUOTED_CELL: dg_table_write(w, g, a); break;
    case DG_WRITE_WORD_TIMES: rc = dg_word_times_write(w, g, a, err); break;
    case DG_WRITE_SLOTS: rc = dg_slots_write(w, g, a, err); break;
    }
    if (g->after)
        dg_buffer_adds(w->out, g->after);
    return rc;
}

/* True if the segment is written only if another one changes. */
static bool follows_others(const struct dg_segment *g)
{
    return g->writing == DG_WRITE_DECLARATION || g->writing == DG_WRITE_SETTING;
}

/* True if the segment's own bytes stay: its answers equal its texts and nothing is written around
 * it, or it is a message that they cannot be written into. */
static bool stays(const struct dg_writer *w, const struct dg_segment *g, bool fails)
{
    if (fails && !g->linked)
        return true;
    if (!g->text || g->before)
        return false;
    for (size_t i = 0; i < (g->message ? g->n_forms : 1); i++) {
        const struct dg_extract_answer *a = &w->answers[g[i].index];
        if (a->n != g[i].n || memcmp(a->s, g[i].text, a->n) != 0)
            return false;
    }
    return true;
}

/* The first segment from byte `at` on. */
static size_t first_from(const struct dg_extract_part *p, size_t at)
{
    size_t lo = 0, hi = p->n_segments;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (p->segments[mid].begin < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int dg_extract_part_write(struct dg_writer *w, size_t begin, size_t end, struct dg_error *err)
{
    const struct dg_extract_part *p = w->part;
    struct dg_buffer message = {0};
    struct dg_extract_answer a;
    size_t at = begin;
    bool fails;
    int rc = DG_OK;
    for (size_t i = first_from(p, begin); i < p->n_segments && rc == DG_OK; i++) {
        const struct dg_segment *g = &p->segments[i];
        if (g->begin > end || (g->begin == end && end < p->n))
            break;
        if (g->begin < at || g->end > end || g->writing == DG_WRITE_FORM)
            continue; /* within a segment that was written */
        rc = find_answer(w, g, &message, &a, &fails, err);
        if (rc != DG_OK)
            break;
        dg_buffer_add(w->out, p->s + at, g->begin - at);
        at = g->begin;
        if (stays(w, g, fails)) /* a segment within it may have changed */
            continue;
        w->set = w->set || g->writing == DG_WRITE_SETTING;
        w->changed = w->changed || !follows_others(g);
        rc = write_answer(w, g, &a, err);
        at = g->end;
    }
    dg_buffer_deinit(&message);
    dg_buffer_add(w->out, p->s + at, end - at);
    return rc;
}
