/* JSON, flat or nested: every string that is a value is a text, except the "id" of an object in a
 * list. In ARB files the value of a key that begins with "@" describes another key, and is not
 * translated; that of "@@locale" is the language, which Flutter compares with the file's name. In
 * messages.json of browser extensions and in messages extracted by FormatJS, each entry has notes
 * for translators beside its text:
 *
 *   "bark": {"message": "$NAME$ barks", "description": "...", "placeholders": {"name": {...}}}
 */
#include "base/json_scan.h"
#include "documents/kinds.h"
#include "documents/strings/json_bytes.h"
#include "documents/strings/json_plural.h"
#include "documents/strings/program_string.h"
#include "text/utf8.h"

#include <strings.h>
#include <string.h>

static const struct dg_markup strings = {.program = true, .key_signs = "&"};

#define DEPTH 65 /* base/json.h allows 64 levels */
#define ENTRY 2  /* the level of entries with notes */

/* The text of an entry with notes, and what else may be in one. */
static const char *const entry_texts[] = {"message", "defaultMessage", NULL};
static const char *const entry_notes[] = {"description", "placeholders", NULL};

static bool lists(const char *const *list, const char *name)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list;
}

/* True if it has one text, and nothing else but notes. */
static bool is_entry(const struct dg_json *value)
{
    size_t texts = 0;
    if (dg_json_typeof(value) != DG_JSON_OBJECT)
        return false;
    for (const char *key = NULL; (key = dg_json_next_key(value, key));) {
        if (lists(entry_texts, key) && dg_json_typeof(dg_json_get(value, key)) == DG_JSON_STRING)
            texts++;
        else if (!lists(entry_notes, key))
            return false;
    }
    return texts == 1;
}

/* True if the file is an object of entries with notes. */
static bool has_notes(const struct dg_json *file)
{
    const char *key = NULL;
    if (dg_json_typeof(file) != DG_JSON_OBJECT || dg_json_length(file) == 0)
        return false;
    while ((key = dg_json_next_key(file, key)))
        if (!is_entry(dg_json_get(file, key)))
            return false;
    return true;
}

/* True if it is the name of an entry's text. */
static bool is_entry_text(const char *s, struct dg_span key)
{
    for (const char *const *name = entry_texts; *name; name++)
        if (dg_json_bytes_are(s, key, *name))
            return true;
    return false;
}

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    /* the file is an .arb; its entries have notes */
    bool arb, notes;
    /* of each level: it is an object; nothing in it is translated; its plural forms */
    bool object[DEPTH], quiet[DEPTH];
    struct dg_json_plural forms[DEPTH];
    size_t depth;
    /* a key comes next; the next value is not translated, is the language */
    bool key, about, locale;
};

static void open_level(struct reader *r, bool object)
{
    const size_t depth = ++r->depth;
    r->object[depth] = object;
    r->quiet[depth] = r->quiet[depth - 1] || r->about;
    r->forms[depth] = (struct dg_json_plural){0};
    r->key = object;
    r->about = false;
}

static int close_level(struct reader *r, struct dg_error *err)
{
    const size_t depth = r->depth--;
    return dg_json_plural_end(r->x, r->p, &r->forms[depth], err);
}

static int read_key(struct reader *r, struct dg_span key, struct dg_error *err)
{
    const char *s = r->p->s;
    const size_t depth = r->depth;
    r->locale = r->arb && depth == 1 && dg_json_bytes_are(s, key, "@@locale");
    r->about = (r->arb && s[key.begin + 1] == '@') ||
               (r->notes && depth == ENTRY && !is_entry_text(s, key)) ||
               (depth > 1 && !r->object[depth - 1] && dg_json_bytes_are(s, key, "id"));
    if (r->arb || r->notes || r->quiet[depth])
        return DG_OK; /* no forms: .arb has ICU messages */
    return dg_json_plural_read_key(r->x, r->p, &r->forms[depth], key, err);
}

static int read_value(struct reader *r, struct dg_span value, struct dg_error *err)
{
    const struct dg_span inner = {value.begin + 1, value.end - 1};
    const size_t first = r->p->n_segments;
    if (r->locale && r->depth == 1)
        return dg_segment_add_bytes(
            r->x, r->p, inner, DG_WRITE_DECLARATION, r->x->program_locale, err);
    if (r->quiet[r->depth] || r->about)
        return DG_OK;
    const int rc = dg_program_string_add_escaped(r->x, r->p, inner, &strings, DG_ESCAPES_JSON, err);
    if (r->object[r->depth])
        dg_json_plural_read_value(&r->forms[r->depth], r->p, value, first);
    return rc;
}

/* Reads the sign or the string at byte `at`; *end: what is after it. */
static int read_token(struct reader *r, size_t at, size_t *end, struct dg_error *err)
{
    const char *s = r->p->s;
    *end = at + 1;
    switch (s[at]) {
    case '{':
    case '[': open_level(r, s[at] == '{'); return DG_OK;
    case '}':
    case ']': return close_level(r, err);
    case ',':
        r->key = r->object[r->depth];
        r->about = false;
        return DG_OK;
    case ':': r->key = false; return DG_OK;
    case '"':
        *end = dg_json_scan_string(s, r->p->n, at) + 1;
        return (r->key ? read_key : read_value)(r, (struct dg_span){at, *end}, err);
    default: return DG_OK;
    }
}

int dg_read_json(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    size_t at = dg_utf8_bom(p->s, p->n);
    struct dg_json *json = dg_json_of_file(p->s + at, p->n - at, err);
    struct reader r = {
        .x = x, .p = p, .arb = strcasecmp(x->kind->suffix, ".arb") == 0, .notes = has_notes(json)};
    int rc = json ? DG_OK : err->code;
    dg_json_free(json);
    for (size_t end; at < p->n && rc == DG_OK; at = end)
        rc = read_token(&r, at, &end, err);
    return rc;
}
