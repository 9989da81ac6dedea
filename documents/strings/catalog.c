/* Apple's string catalogs (.xcstrings), JSON with all languages of a program. A string that the
 * target language lacks gets a localization like that of the source language, with its units
 * translated, or one of the key, which is the source's text where that has no localization:
 *
 *   "strings" : { "Two dogs" : { "localizations" : {
 *     "de" : { "stringUnit" : { "state" : "needs_review", "value" : "Zwei Hunde" } } } } } */
#include "documents/kinds.h"
#include "documents/strings/json_bytes.h"
#include "documents/strings/program_string.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REVIEW "\"needs_review\""

static const struct dg_markup strings = {.program = true};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    /* the language's code in the file */
    char source[DG_LANGUAGE_MAX];
    /* what is written next, before a text or at the end */
    struct dg_buffer written;
    /* where the current localization is written, and its last segment: 1 + its number */
    struct dg_span place;
    size_t last;
};

/* Adds a text that is written after `written`, decoded from p->s[begin, end), unless it has no
 * words: then these bytes are written. */
static int add_text(struct reader *r, size_t begin, size_t end, struct dg_error *err)
{
    const struct dg_segment like = {.begin = r->place.begin,
        .end = r->place.end,
        .markup = &strings,
        .writing = DG_WRITE_ESCAPED,
        .escapes = DG_ESCAPES_JSON};
    struct dg_segment *g;
    struct dg_buffer text = {0};
    dg_escapes_read(DG_ESCAPES_JSON, r->p->s + begin, end - begin, &text);
    text.failed = text.failed || r->written.failed;
    int rc = dg_program_string_add(r->x, r->p, like, &text, &g, err);
    if (rc == DG_OK && !g) {
        dg_buffer_add(&r->written, r->p->s + begin, end - begin);
    } else if (rc == DG_OK) {
        g->linked = true;
        if (!(g->before = dg_buffer_take(&r->written, NULL)))
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
        r->place.begin = r->place.end; /* of the next one */
        r->last = (size_t)(g - r->p->segments) + 1;
    }
    dg_buffer_deinit(&text);
    return rc;
}

/* Writes the source's localization from byte *at on, and adds the texts of its units. It calls
 * itself for objects in one another, of which base/json.h allows 64. */
static int add_units(struct reader *r, struct dg_span in, size_t *at, struct dg_error *err)
{
    const char *s = r->p->s;
    struct dg_json_member m;
    int rc = DG_OK;
    for (size_t k = in.begin; rc == DG_OK && dg_json_next_member(s, in, &k, &m);) {
        const bool state = dg_json_bytes_are(s, m.key, "state"),
                   value = dg_json_bytes_are(s, m.key, "value");
        if (s[m.value.begin] != '"') {
            rc = add_units(r, m.value, at, err);
        } else if (state || value) {
            dg_buffer_add(&r->written, s + *at, m.value.begin + value - *at);
            *at = m.value.end - value;
            if (state)
                dg_buffer_adds(&r->written, REVIEW);
            else
                rc = add_text(r, m.value.begin + 1, m.value.end - 1, err);
        }
    }
    return rc;
}

/* Finds where a member of this name is written in an object, in the order of names; writes what is
 * between it and the member before it, and sets what is after it. True: the object is empty. */
static bool find_place(
    struct reader *r, struct dg_span object, const char *name, const char *line, const char **after)
{
    const char *s = r->p->s;
    struct dg_json_member m;
    bool any = false;
    for (size_t at = object.begin; dg_json_next_member(s, object, &at, &m); any = true) {
        const size_t n = m.key.end - m.key.begin - 2;
        const int order = strncmp(s + m.key.begin + 1, name, n);
        r->place = (struct dg_span){m.value.end, m.value.end};
        if (order < 0 || (order == 0 && n <= strlen(name)))
            continue;
        r->place = (struct dg_span){m.key.begin, m.key.begin};
        *after = ",";
        return false;
    }
    *after = "";
    if (!any)
        r->place = (struct dg_span){object.begin + 1, object.end - 1};
    dg_buffer_addf(&r->written, "%s%s", any ? "," : "", line);
    return !any;
}

/* Adds the localization of the string at `member`, whose source is at `from` or, if that is empty,
 * its key. */
static int add_localization(struct reader *r, const struct dg_json_member *member,
    struct dg_span all, struct dg_span from, struct dg_error *err)
{
    const char *s = r->p->s, *after;
    const bool has_all = all.begin > 0;
    size_t at = from.begin;
    int rc;
    dg_buffer_reset(&r->written);
    r->last = 0;
    const bool empty = find_place(r, has_all ? all : member->value,
        has_all ? r->x->target : "localizations", has_all ? "\n        " : "\n      ", &after);
    if (!has_all)
        dg_buffer_adds(&r->written, "\"localizations\" : {\n        ");
    dg_buffer_addf(&r->written, "\"%s\" : ", r->x->target);
    if (from.begin > 0) {
        rc = add_units(r, from, &at, err);
        dg_buffer_add(&r->written, s + at, from.end - at);
    } else {
        dg_buffer_adds(&r->written,
            "{\n          \"stringUnit\" : {\n            \"state\" : " REVIEW
            ",\n            \"value\" : \"");
        rc = add_text(r, member->key.begin + 1, member->key.end - 1, err);
        dg_buffer_adds(&r->written, "\"\n          }\n        }");
    }
    if (rc != DG_OK || r->last == 0)
        return rc;
    if (!has_all)
        dg_buffer_adds(&r->written, "\n      }");
    dg_buffer_addf(&r->written, "%s%s", after, *after ? has_all ? "\n        " : "\n      " : "");
    if (empty)
        dg_buffer_adds(&r->written, has_all ? "\n      " : "\n    ");
    r->p->segments[r->last - 1].after = dg_buffer_take(&r->written, NULL);
    return r->p->segments[r->last - 1].after
               ? DG_OK
               : dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
}

/* Adds a string's localization, unless the target language has one. */
static int read_string(struct reader *r, const struct dg_json_member *m, struct dg_error *err)
{
    const char *s = r->p->s;
    const struct dg_span translate = dg_json_member(s, m->value, "shouldTranslate"),
                         all = dg_json_member(s, m->value, "localizations"),
                         from = dg_json_member(s, all, r->source);
    if (s[m->value.begin] != '{' || (all.begin > 0 && s[all.begin] != '{') ||
        (from.begin > 0 && s[from.begin] != '{') ||
        (translate.begin > 0 && s[translate.begin] == 'f') ||
        dg_json_bytes_are(s, dg_json_member(s, m->value, "extractionState"), "stale") ||
        dg_json_member(s, all, r->x->target).begin > 0)
        return DG_OK;
    return add_localization(r, m, all, from, err);
}

static int read_catalog(struct reader *r, size_t start, struct dg_error *err)
{
    const char *s = r->p->s;
    const struct dg_span file = {start, r->p->n},
                         source = dg_json_member(s, file, "sourceLanguage"),
                         all = dg_json_member(s, file, "strings");
    const size_t n = source.end - source.begin;
    struct dg_json_member m;
    int rc = DG_OK;
    if (n < 3 || n - 2 >= sizeof r->source || s[source.begin] != '"' || all.begin == 0 ||
        s[all.begin] != '{')
        return dg_extract_broken(err,
            "it is not a string catalog of Xcode: it has no \"sourceLanguage\" and \"strings\"");
    memcpy(r->source, s + source.begin + 1, n - 2);
    for (size_t at = all.begin; strcmp(r->source, r->x->target) != 0 && rc == DG_OK &&
                                dg_json_next_member(s, all, &at, &m);)
        rc = read_string(r, &m, err);
    return rc;
}

int dg_read_catalog(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p};
    size_t start = dg_utf8_bom(p->s, p->n);
    struct dg_json *json = dg_json_of_file(p->s + start, p->n - start, err);
    int rc = json ? DG_OK : err->code;
    dg_json_free(json);
    while (start < p->n && strchr(" \t\r\n", p->s[start]))
        start++;
    if (rc == DG_OK)
        rc = read_catalog(&r, start, err);
    dg_buffer_deinit(&r.written);
    return rc;
}
