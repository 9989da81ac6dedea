/* JSON, flat or nested: every string that is a value is a text. In ARB files the value of a key
 * that begins with "@" describes another key, and is not translated. */
#include "base/json.h"

#include "documents/kinds.h"
#include "documents/strings/message.h"
#include "text/utf8.h"

#include <strings.h>
#include <string.h>

static const struct dg_markup strings = {.program = true, .key_signs = "&"};

#define DEPTH 65 /* base/json.h allows 64 levels */

/* The byte after the string that begins at s[at] == '"'. The text is known to be JSON. */
static size_t string_end(const char *s, size_t at)
{
    for (at++; s[at] != '"'; at++)
        at += s[at] == '\\';
    return at + 1;
}

static int add(
    struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end, struct dg_error *err)
{
    struct dg_buffer text;
    int rc = DG_OK;
    dg_buffer_init(&text);
    dg_escapes_read(DG_ESCAPES_JSON, p->s + begin, end - begin, &text);
    if (text.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    else if (text.len > 0 && dg_message_is_text(text.data, text.len) &&
             !dg_segment_add(x, p,
                 (struct dg_segment){.begin = begin,
                     .end = end,
                     .markup = &strings,
                     .writing = DG_WRITE_ESCAPED,
                     .escapes = DG_ESCAPES_JSON},
                 text.data, text.len, err))
        rc = err->code;
    dg_buffer_deinit(&text);
    return rc;
}

int dg_read_json(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const char *s = p->s;
    const bool arb = strcasecmp(x->kind->suffix, ".arb") == 0;
    bool object[DEPTH] = {false}, quiet[DEPTH] = {false}; /* of each level */
    /* a key comes next; the next value describes another key */
    bool key = false, about = false;
    size_t depth = 0, at = dg_utf8_bom(s, p->n);
    struct dg_error why = {0};
    struct dg_json *json = dg_json_parse(s + at, p->n - at, &why);
    int rc = json                    ? DG_OK
             : why.code == DG_ENOMEM ? dg_error_set(err, DG_ENOMEM, "%s", why.message)
                                     : dg_extract_broken(err, "it is not JSON: %s", why.message);
    dg_json_free(json);
    for (size_t end; at < p->n && rc == DG_OK; at = end) {
        end = at + 1;
        if (s[at] == '{' || s[at] == '[') {
            depth++;
            object[depth] = s[at] == '{';
            quiet[depth] = quiet[depth - 1] || about;
            key = object[depth];
            about = false;
        } else if (s[at] == '}' || s[at] == ']') {
            depth--;
        } else if (s[at] == ',') {
            key = object[depth];
            about = false;
        } else if (s[at] == ':') {
            key = false;
        } else if (s[at] == '"') {
            end = string_end(s, at);
            if (key)
                about = arb && s[at + 1] == '@';
            else if (!quiet[depth] && !about)
                rc = add(x, p, at + 1, end - 1, err);
        }
    }
    return rc;
}
