#include "documents/events.h"

#include "documents/kinds.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

#define TIMES "0:00 --> 0:01\n" /* what a cue begins with; all of a text are in one */
/* What has no sign in SubRip, as codes: the beginning of a comment, {in braces}, and a line end
 * after another, since an empty line ends a cue. */
#define COMMENT "{\\;"
#define EMPTY_LINE "{\\N}"
#define NO_BREAK_SPACE "\xC2\xA0"
#define FIELDS 10 /* if no Format line gives their number */

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    /* number of a dialogue's fields, the last of which is the text; 0: the last is another */
    size_t fields;
};

static bool begins(const char *s, size_t at, size_t end, const char *with)
{
    return end - at >= strlen(with) && strncasecmp(s + at, with, strlen(with)) == 0;
}

/* True if the codes s[at, end) make a drawing, or give syllables times: such text stays. */
static bool draws_or_sings(const char *s, size_t at, size_t end)
{
    for (; at + 2 < end; at++) {
        if (s[at] != '\\')
            continue;
        const char *c = s + at + 1;
        if ((*c == 'p' && c[1] >= '1' && c[1] <= '9') ||
            ((*c == 'k' || *c == 'K') && strchr("0123456789fo", c[1])))
            return true;
    }
    return false;
}

/* Appends the text s[at, end) as the lines of a cue; false: it stays. */
static bool read_text(const char *s, size_t at, size_t end, struct dg_buffer *out)
{
    /* empty: nothing was read yet of the current line */
    bool words = false, empty = true;
    const char *last = memrchr(s + at, '}', end - at);
    for (size_t to; at < end; at = to) {
        const char *close =
            s[at] == '{' && last && last > s + at ? memchr(s + at, '}', end - at) : NULL;
        const char escape = s[at] == '\\' && at + 1 < end ? s[at + 1] : '\0';
        to = at + 1;
        if (close) {
            to = (size_t)(close - s) + 1;
            if (draws_or_sings(s, at, to))
                return false;
            dg_buffer_adds(out, s[at + 1] == '\\' ? "{" : COMMENT);
            dg_buffer_add(out, s + at + 1, to - at - 1);
        } else if (escape == 'N' || escape == 'n') {
            dg_buffer_adds(out, empty ? EMPTY_LINE : "\n");
            to++;
        } else if (escape == 'h') {
            dg_buffer_adds(out, NO_BREAK_SPACE);
            to++;
        } else {
            while (to < end && !strchr("{\\", s[to]))
                to++;
            words = words || dg_utf8_has_letter(s + at, to - at);
            dg_buffer_add(out, s + at, to - at);
        }
        empty = !empty && (escape == 'N' || escape == 'n');
    }
    return words;
}

void dg_events_write(const char *s, size_t n, struct dg_buffer *out)
{
    static const char *const signs[][2] = {
        {"\n", "\\N"}, {EMPTY_LINE, "\\N"}, {COMMENT, "{"}, {NO_BREAK_SPACE, "\\h"}};
    const size_t rows = sizeof signs / sizeof *signs;
    const char *times = memchr(s, '\n', n);
    for (size_t i = times ? (size_t)(times - s) + 1 : 0, row; i < n;) {
        for (row = 0; row < rows; row++)
            if (begins(s, i, n, signs[row][0]))
                break;
        dg_buffer_add(
            out, row < rows ? signs[row][1] : s + i, row < rows ? strlen(signs[row][1]) : 1);
        i += row < rows ? strlen(signs[row][0]) : 1;
    }
}

/* Adds the text s[at, end) of a dialogue. */
static int add(struct reader *r, size_t at, size_t end, struct dg_error *err)
{
    const struct dg_segment like = {
        .begin = at, .end = end, .format = DG_FORMAT_SRT, .writing = DG_WRITE_EVENT};
    struct dg_buffer text = {0};
    int rc = DG_OK;
    dg_buffer_adds(&text, TIMES);
    if (read_text(r->p->s, at, end, &text))
        rc = dg_segment_add_text(r->x, r->p, like, &text, err);
    dg_buffer_deinit(&text);
    return rc;
}

/* Counts the fields of "Format: Layer, Start, ..., Text". */
static size_t count_fields(const char *s, size_t at, size_t end)
{
    size_t n = 1;
    while (end > at && strchr(" \t", s[end - 1]))
        end--;
    for (size_t i = at; i < end; i++)
        n += s[i] == ',';
    return end - at >= 4 && begins(s, end - 4, end, "Text") ? n : 0;
}

/* Reads a line of [Events]. */
static int read_event(struct reader *r, size_t at, size_t end, struct dg_error *err)
{
    const char *s = r->p->s;
    if (begins(s, at, end, "Format:"))
        r->fields = count_fields(s, at, end);
    if (!begins(s, at, end, "Dialogue:") || r->fields == 0)
        return DG_OK;
    for (size_t i = 1; i < r->fields; i++) {
        const char *comma = memchr(s + at, ',', end - at);
        if (!comma)
            return DG_OK;
        at = (size_t)(comma - s) + 1;
    }
    return add(r, at, end, err);
}

int dg_read_events(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p, .fields = FIELDS};
    bool events = false;
    int rc = DG_OK;
    for (size_t at = dg_utf8_bom(p->s, p->n), to; at < p->n && rc == DG_OK; at = to) {
        size_t end = dg_scan_find(p->s, at, p->n, "\n");
        to = end < p->n ? end + 1 : end;
        while (end > at && p->s[end - 1] == '\r')
            end--;
        if (p->s[at] == '[')
            events = begins(p->s, at, end, "[Events]");
        else if (events)
            rc = read_event(&r, at, end, err);
    }
    return rc;
}
