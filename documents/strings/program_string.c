#include "documents/strings/program_string.h"

#include "documents/kinds.h"
#include "documents/strings/date_pattern.h"
#include "documents/strings/forms/forms.h"
#include "documents/strings/message.h"
#include "text/utf8.h"

#include <string.h>

/* How the file writes messages. */
static struct dg_pattern_style style_of(const struct dg_extract *x, enum dg_format format)
{
    static const char *const unquoted[] = {".arb", ".xlf", ".xliff"};
    struct dg_pattern_style style = {
        .xml = format != DG_FORMAT_TEXT, .quotes = true, .samples = dg_plural_samples(x->target)};
    for (size_t i = 0; i < sizeof unquoted / sizeof *unquoted; i++)
        if (strcmp(x->kind->suffix, unquoted[i]) == 0)
            style.quotes = false;
    return style;
}

/* Adds the segments of a message's forms: [count] sentences, each with a NUL after it. */
static int add_segments(struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like,
    const struct dg_buffer *message, const char *sentences, size_t count, struct dg_error *err)
{
    struct dg_segment *g = dg_segment_add(x, p, like, sentences, strlen(sentences), err);
    if (!g)
        return err->code;
    g->n_forms = count;
    g->message = strndup(message->data, message->len);
    if (!g->message)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    like.end = like.begin;
    like.writing = DG_WRITE_FORM;
    for (size_t i = 1; i < count; i++) {
        sentences += strlen(sentences) + 1;
        if (!dg_segment_add(x, p, like, sentences, strlen(sentences), err))
            return err->code;
    }
    return DG_OK;
}

/* Adds an ICU message, unless it stays as it is. DG_ENOTFOUND: it is none. */
static int add_message(struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like,
    const struct dg_buffer *message, struct dg_segment **added, struct dg_error *err)
{
    const size_t first = p->n_segments;
    struct dg_error why = {0};
    struct dg_buffer sentences = {0};
    size_t count = 0;
    like.pattern = style_of(x, like.format);
    int rc = dg_forms_read(message->data, message->len, &like.pattern, &sentences, &count, &why);
    if (rc == DG_EUNSUP) { /* perhaps there are too many with those that are added */
        like.pattern.samples = NULL;
        why = (struct dg_error){0};
        dg_buffer_reset(&sentences);
        rc = dg_forms_read(message->data, message->len, &like.pattern, &sentences, &count, &why);
    }
    if (rc == DG_EUNSUP)
        dg_extract_note_stay(&x->stays, p, like.begin, &why);
    else if (rc != DG_OK && rc != DG_ENOTFOUND)
        dg_error_set(err, rc, "%s", why.message);
    else if (rc == DG_OK && count > 0) {
        rc = add_segments(x, p, like, message, sentences.data, count, err);
        *added = rc == DG_OK ? &p->segments[first] : NULL;
    }
    dg_buffer_deinit(&sentences);
    return rc == DG_EUNSUP ? DG_OK : rc;
}

int dg_program_string_add_text(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_segment like, const struct dg_buffer *text, struct dg_segment **added,
    struct dg_error *err)
{
    const bool is_text = text->failed || (dg_utf8_has_letter(text->data, text->len) &&
                                             !dg_date_pattern_is(text->data, text->len));
    const int rc = is_text ? dg_segment_add_text(x, p, like, text, err) : DG_OK;
    if (added)
        *added = is_text && rc == DG_OK ? &p->segments[p->n_segments - 1] : NULL;
    return rc;
}

int dg_program_string_add(struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like,
    const struct dg_buffer *text, struct dg_segment **added, struct dg_error *err)
{
    struct dg_segment *g = NULL;
    const bool message = !text->failed && dg_message_has_words(text->data, text->len);
    const int rc = message ? add_message(x, p, like, text, &g, err) : DG_ENOTFOUND;
    if (rc == DG_ENOTFOUND)
        return dg_program_string_add_text(x, p, like, text, added, err);
    if (added)
        *added = g;
    return rc;
}

int dg_program_string_add_escaped(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_span at, const struct dg_markup *markup, enum dg_escapes escapes,
    struct dg_error *err)
{
    const struct dg_segment like = {.begin = at.begin,
        .end = at.end,
        .markup = markup,
        .writing = DG_WRITE_ESCAPED,
        .escapes = escapes};
    struct dg_buffer text = {0};
    dg_escapes_read(escapes, p->s + at.begin, at.end - at.begin, &text);
    const int rc = dg_program_string_add(x, p, like, &text, NULL, err);
    dg_buffer_deinit(&text);
    return rc;
}

int dg_program_string_end(
    const struct dg_extract_part *p, size_t at, size_t *end, struct dg_error *err)
{
    size_t i = at + 1;
    while (i < p->n && p->s[i] != p->s[at])
        i += p->s[i] == '\\' ? 2 : 1;
    *end = i + 1;
    return i < p->n ? DG_OK
                    : dg_extract_broken(
                          err, "the string in line %zu does not end", dg_extract_line_of(p, at));
}
