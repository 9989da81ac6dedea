/* gettext's PO and POT: an empty msgstr is filled from msgid, msgstr[1] and higher from
 * msgid_plural, and so is msgstr[0] where it is for more numbers than msgid. The header gets the
 * new encoding and, where a template leaves them open, Language and Plural-Forms: then each entry
 * gets as many forms as the language has. The rest of the header, obsolete entries and existing
 * translations stay. */
#include "documents/kinds.h"
#include "documents/strings/plural_forms.h"
#include "documents/strings/program_string.h"
#include "documents/xml/declaration.h"
#include "text/protected/protected.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct dg_markup strings = {.program = true, .key_signs = "&_"};

enum { ID, PLURAL, N_TEXTS };

/* Numbers for which a language has msgstr[0]. */
enum first_form {
    FOR_ONE,         /* 1, or 0 and 1 */
    FOR_ENDS_IN_ONE, /* 1, 21, 31, ... */
    FOR_ALL,
};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    /* msgid and msgid_plural of the current entry */
    struct dg_buffer texts[N_TEXTS];
    /* the keyword whose strings are read */
    enum { NOTHING, CONTEXT, MSGID, MSGID_PLURAL, MSGSTR } at;
    /* MSGSTR: its number, and where its line begins */
    unsigned long form;
    size_t keyword;
    /* as the header's Plural-Forms says, or the target language's if the header leaves them open */
    enum first_form first_form;
    /* number of the target language's forms, if the header leaves them open; else 0 */
    size_t n_forms;
    /* MSGSTR: from its first quotation mark to its last */
    size_t begin, end;
    /* MSGSTR: it is not empty */
    bool filled;
    /* line ends of the file */
    enum dg_escapes escapes;
};

/* Reads the value of Plural-Forms, "nplurals=2; plural=(n != 1);". */
static enum first_form read_plural_forms(const char *s, size_t n)
{
    static const char *const ends[] = {"%10==1", "%10!=1", "%100==1"};
    struct dg_buffer b = {0};
    enum first_form form = FOR_ONE;
    for (size_t i = 0; i < n; i++)
        if (!isspace((unsigned char)s[i]))
            dg_buffer_add(&b, s + i, 1);
    dg_buffer_adds(&b, ";");
    for (size_t i = 0; i < sizeof ends / sizeof *ends && b.data; i++)
        if (strstr(b.data, ends[i]))
            form = FOR_ENDS_IN_ONE;
    if (b.data && strstr(b.data, "nplurals=1;"))
        form = FOR_ALL;
    dg_buffer_deinit(&b);
    return form;
}

static size_t count_placeholders(const struct dg_buffer *b)
{
    size_t n = 0, begin;
    for (size_t at = 0; (at = dg_protected_next(NULL, b->data, b->len, at, &begin)) > 0;)
        n += b->data[begin] == '%' || b->data[begin] == '{';
    return n;
}

/* True if the msgstr is filled from msgid_plural. "One file" is no text for 21 files; msgfmt
 * refuses it beside "%d files" in a language with one form. */
static bool is_plural(const struct reader *r)
{
    const struct dg_buffer *id = &r->texts[ID], *plural = &r->texts[PLURAL];
    if (r->form > 0 || plural->len == 0 || r->first_form == FOR_ONE)
        return r->form > 0;
    return r->first_form == FOR_ALL || count_placeholders(id) < count_placeholders(plural);
}

/* Adds an empty msgstr, p->s[begin, end), with the text that fills it; `before` is written first.
 * *added: the text is translated. */
static int add_text(struct reader *r, size_t begin, size_t end, const char *before,
    const struct dg_buffer *text, bool *added, struct dg_error *err)
{
    const struct dg_segment like = {.begin = begin,
        .end = end,
        .markup = &strings,
        .writing = DG_WRITE_ESCAPED,
        .escapes = r->escapes};
    struct dg_segment *g;
    const int rc = dg_program_string_add(r->x, r->p, like, text, &g, err);
    *added = rc == DG_OK && g;
    if (!*added)
        return rc;
    g->linked = *before != '\0';
    g->before = strdup(before);
    return g->before ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
}

/* Adds bytes that are written over p->s[begin, end) if anything in the file changes. */
static int add_bytes(
    struct reader *r, size_t begin, size_t end, const char *bytes, struct dg_error *err)
{
    return dg_segment_add_bytes(
        r->x, r->p, (struct dg_span){begin, end}, DG_WRITE_DECLARATION, bytes, err);
}

/* The end of the line before the one at `at`. */
static size_t line_before(const char *s, size_t at)
{
    while (at > 0 && (s[at - 1] == ' ' || s[at - 1] == '\t'))
        at--;
    at -= at > 0 && s[at - 1] == '\n';
    return at > 0 && s[at - 1] == '\r' ? at - 1 : at;
}

/* True if no other msgstr follows the one that was read. */
static bool is_last(const struct reader *r)
{
    const size_t at = dg_scan_skip_ascii_space(r->p->s, r->end, r->p->n);
    return !dg_scan_begins(r->p->s, at, r->p->n, "msgstr");
}

/* Adds the forms that a template's entry lacks, after its last one. text: what fills them, or NULL:
 * they stay empty. */
static int add_forms(struct reader *r, const struct dg_buffer *text, struct dg_error *err)
{
    const char *line = r->escapes == DG_ESCAPES_PO_CRLF ? "\r\n" : "\n";
    char before[64];
    bool added;
    int rc = DG_OK;
    for (size_t i = r->form + 1; i < r->n_forms && rc == DG_OK; i++) {
        snprintf(before, sizeof before, "%smsgstr[%zu] %s", line, i, text ? "" : "\"\"");
        rc = text ? add_text(r, r->end, r->end, before, text, &added, err)
                  : add_bytes(r, r->end, r->end, before, err);
    }
    return rc;
}

/* Adds the msgstr that was read, if it is to be filled. */
static int end_msgstr(struct reader *r, struct dg_error *err)
{
    const struct dg_buffer *text = &r->texts[is_plural(r) ? PLURAL : ID];
    if (r->at != MSGSTR || r->end == 0 || r->filled || text->len == 0)
        return DG_OK;
    if (r->form > 0 && r->n_forms > 0 && r->form >= r->n_forms) /* the language lacks it */
        return add_bytes(r, line_before(r->p->s, r->keyword), r->end, "", err);
    bool added;
    int rc = add_text(r, r->begin, r->end, "", text, &added, err);
    return rc == DG_OK && r->form > 0 && is_last(r) ? add_forms(r, added ? text : NULL, err) : rc;
}

static bool skip_word(const char *s, size_t *at, size_t end, const char *word)
{
    size_t n = strlen(word);
    if (!dg_scan_begins(s, *at, end, word) || (*at + n < end && !strchr(" \t\"[", s[*at + n])))
        return false;
    *at += n;
    return true;
}

/* Reads the keyword that a line begins with; moves *at past it. */
static int read_keyword(struct reader *r, size_t *at, size_t end, struct dg_error *err)
{
    const char *s = r->p->s;
    int rc = end_msgstr(r, err);
    if (rc != DG_OK)
        return rc;
    if (skip_word(s, at, end, "msgctxt")) {
        r->at = CONTEXT;
    } else if (skip_word(s, at, end, "msgid_plural")) {
        r->at = MSGID_PLURAL;
        dg_buffer_reset(&r->texts[PLURAL]);
    } else if (skip_word(s, at, end, "msgid")) {
        r->at = MSGID;
        dg_buffer_reset(&r->texts[ID]);
        dg_buffer_reset(&r->texts[PLURAL]);
    } else if (skip_word(s, at, end, "msgstr")) {
        r->at = MSGSTR;
        r->filled = false;
        r->form = 0;
        r->keyword = *at - strlen("msgstr");
        if (*at < end && s[*at] == '[') {
            r->form = strtoul(s + *at + 1, NULL, 10);
            while (*at < end && s[*at] != ']')
                (*at)++;
            *at += *at < end;
        }
        r->begin = r->end = 0;
    } else {
        r->at = NOTHING;
    }
    return DG_OK;
}

/* True if the header's line s[n] begins with this field's name, and has more after it. */
static bool has_field(const char *s, size_t n, const char *name)
{
    return n > strlen(name) && strncasecmp(s, name, strlen(name)) == 0;
}

/* Reads a line of the header, s[from, to) with its "\\n". */
static int read_header(struct reader *r, size_t from, size_t to, struct dg_error *err)
{
    static const char unknown[] = DG_PLURAL_FORMS_UNKNOWN;
    const char *s = r->p->s;
    if (has_field(s + from, to - from, "Content-Type:"))
        return dg_declaration_of_type(r->x, r->p, from, to, err);
    if (to - from == strlen("Language: \\n") && has_field(s + from, to - from, "Language: "))
        return add_bytes(r, to - 2, to - 2, r->x->program_locale, err);
    if (!has_field(s + from, to - from, "Plural-Forms:"))
        return DG_OK;
    const char *open = memmem(s + from, to - from, unknown, strlen(unknown));
    if (!open) {
        r->first_form = read_plural_forms(s + from, to - from);
        return DG_OK;
    }
    const char *forms = dg_plural_forms(r->x->target);
    const size_t begin = (size_t)(open - s);
    r->first_form = read_plural_forms(forms, strlen(forms));
    r->n_forms = dg_plural_forms_count(forms);
    return add_bytes(r, begin, begin + strlen(unknown), forms, err);
}

/* A string in quotation marks, s[at, end). */
static int read_string(struct reader *r, size_t at, size_t end, struct dg_error *err)
{
    const char *s = r->p->s;
    size_t from = at + 1, to = end - 1;
    if (r->at == MSGSTR) {
        r->begin = r->begin ? r->begin : at;
        r->end = end;
        r->filled = r->filled || to > from;
        if (r->texts[ID].len == 0)
            return read_header(r, from, to, err);
    } else if (r->at == MSGID || r->at == MSGID_PLURAL) {
        dg_escapes_read(DG_ESCAPES_C, s + from, to - from, &r->texts[r->at == MSGID ? ID : PLURAL]);
    }
    return DG_OK;
}

static int read_line(struct reader *r, size_t at, size_t end, size_t line, struct dg_error *err)
{
    const char *s = r->p->s;
    while (end > at && isspace((unsigned char)s[end - 1]))
        end--;
    while (at < end && isspace((unsigned char)s[at]))
        at++;
    if (at == end || s[at] == '#') { /* obsolete entries are comments */
        int rc = end_msgstr(r, err);
        r->at = NOTHING;
        return rc;
    }
    const bool keyword = s[at] != '"';
    int rc = keyword ? read_keyword(r, &at, end, err) : DG_OK;
    while (at < end && isspace((unsigned char)s[at]))
        at++;
    if (rc != DG_OK || (keyword && at == end && r->at != NOTHING)) /* its strings follow */
        return rc;
    if (r->at == NOTHING || end - at < 2 || s[at] != '"' || s[end - 1] != '"')
        return dg_extract_broken(
            err, "line %zu is neither msgid, msgstr nor a string of one", line);
    return read_string(r, at, end, err);
}

int dg_read_po(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p, .escapes = DG_ESCAPES_PO};
    size_t at = dg_utf8_bom(p->s, p->n);
    const char *first = p->n > 0 ? memchr(p->s, '\n', p->n) : NULL;
    if (first && first > p->s && first[-1] == '\r')
        r.escapes = DG_ESCAPES_PO_CRLF;
    int rc = DG_OK;
    for (size_t line = 1, end; at < p->n && rc == DG_OK; at = end + 1, line++) {
        end = dg_scan_find(p->s, at, p->n, "\n");
        rc = read_line(&r, at, end, line, err);
    }
    if (rc == DG_OK)
        rc = end_msgstr(&r, err);
    for (int i = 0; i < N_TEXTS; i++)
        dg_buffer_deinit(&r.texts[i]);
    return rc;
}
