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

int dg_read_json(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const char *s = p->s;
    const bool arb = strcasecmp(x->kind->suffix, ".arb") == 0;
    bool object[DEPTH] = {false}, quiet[DEPTH] = {false}; /* of each level */
    /* a key comes next; the next value is not translated, is the language */
    bool key = false, about = false, locale = false;
    size_t depth = 0, at = dg_utf8_bom(s, p->n);
    struct dg_json *json = dg_json_of_file(s + at, p->n - at, err);
    int rc = json ? DG_OK : err->code;
    const bool notes = json && has_notes(json);
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
            end = dg_json_scan_string(s, p->n, at) + 1;
            if (key) {
                const struct dg_span name = {at, end};
                locale = arb && depth == 1 && dg_json_bytes_are(s, name, "@@locale");
                about = (arb && s[at + 1] == '@') ||
                        (notes && depth == ENTRY && !is_entry_text(s, name)) ||
                        (depth > 1 && !object[depth - 1] && dg_json_bytes_are(s, name, "id"));
            } else if (locale && depth == 1) {
                rc = dg_segment_add_bytes(x, p, (struct dg_span){at + 1, end - 1},
                    DG_WRITE_DECLARATION, x->program_locale, err);
            } else if (!quiet[depth] && !about) {
                rc = dg_program_string_add_escaped(
                    x, p, (struct dg_span){at + 1, end - 1}, &strings, DG_ESCAPES_JSON, err);
            }
        }
    }
    return rc;
}
