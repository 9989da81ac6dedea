/* YAML: every value that is a string is a text, but for the "id" of a mapping in a list (Hugo).
 * libyaml says where the values are; all else stays as it is, byte for byte. Where one language is
 * the root of all, as in Rails, its name becomes the target language's:
 *
 *   en:
 *     dogs: "%{count} dogs"
 */
#include "documents/kinds.h"
#include "documents/strings/program_string.h"
#include "documents/strings/yaml_plural.h"
#include "text/format/yaml_plain.h"
#include "text/language_code.h"
#include "text/language_name.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <yaml.h>

#define MOST_LEVELS 1000
#define MOST_DIRECTIVES 1000 /* libyaml compares each with all others of its document */

static const struct dg_markup strings = {.program = true};

/* A collection that is open. */
struct level {
    /* its nodes are keys and values in turn; the next one is a key */
    bool mapping, key;
    /* it is in [ ] or { } */
    bool flow;
    /* it is a mapping in a list; its next value is the "id" */
    bool item, id;
    /* it is a key, or within one */
    bool quiet;
    /* a mapping's forms, if it has some */
    struct dg_yaml_plural forms;
};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    yaml_parser_t parser;
    /* levels[0]: the file */
    struct level levels[MOST_LEVELS];
    size_t depth;
    /* the first byte after the file's mark; a place in the file, in characters and in bytes */
    size_t start, characters, bytes;
    /* the first key of a document, and how many there are */
    struct dg_yaml_scalar root;
    size_t n_roots;
    /* the first one, no block, names a language; its value is a mapping */
    bool root_is_language, root_has_mapping;
};

/* The byte at a mark, which counts in characters. Marks follow one another. */
static size_t byte_at(struct reader *r, const yaml_mark_t *mark)
{
    const struct dg_extract_part *p = r->p;
    if (mark->index < r->characters) {
        r->characters = 0;
        r->bytes = r->start;
    }
    for (; r->characters < mark->index && r->bytes < p->n; r->characters++)
        do
            r->bytes++;
        while (r->bytes < p->n && ((unsigned char)p->s[r->bytes] & 0xC0) == 0x80);
    return r->bytes;
}

/* Finds the scalar of an event in the file; false: it is empty, or no string. */
static bool find_scalar(struct reader *r, const yaml_event_t *e, struct dg_yaml_scalar *out)
{
    const char *value = (const char *)e->data.scalar.value, *tag = (const char *)e->data.scalar.tag;
    *out = (struct dg_yaml_scalar){.text = value, .n = e->data.scalar.length};
    if (out->n == 0 || memchr(value, '\0', out->n) || (tag && strcmp(tag, YAML_STR_TAG) != 0))
        return false;
    out->begin = byte_at(r, &e->start_mark);
    out->end = byte_at(r, &e->end_mark);
    switch (e->data.scalar.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE: out->style = DG_YAML_SINGLE; break;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE: out->style = DG_YAML_DOUBLE; break;
    case YAML_LITERAL_SCALAR_STYLE: out->style = DG_YAML_LITERAL; break;
    case YAML_FOLDED_SCALAR_STYLE: out->style = DG_YAML_FOLDED; break;
    case YAML_ANY_SCALAR_STYLE:
    case YAML_PLAIN_SCALAR_STYLE:
        out->style = r->levels[r->depth].flow ? DG_YAML_FLOW : DG_YAML_PLAIN;
        break;
    }
    if (tag || e->data.scalar.anchor)
        dg_yaml_skip_properties(r->p->s, out);
    const bool plain = out->style == DG_YAML_PLAIN || out->style == DG_YAML_FLOW;
    return tag || !plain || dg_yaml_plain_is_string(value, out->n);
}

/* Notes the value of a mapping's key `other`; its segments begin with p->segments[first]. */
static void note_other(struct reader *r, const struct dg_yaml_scalar *value, size_t first)
{
    struct dg_yaml_plural *f = &r->levels[r->depth].forms;
    if (!f->at_other)
        return;
    f->style = value->style;
    dg_plural_copy_note(&f->other, r->p, (struct dg_span){value->begin, value->end}, first);
}

/* Adds the scalar of an event, a value, as a text. */
static int add(struct reader *r, const yaml_event_t *e, struct dg_error *err)
{
    struct dg_yaml_scalar a;
    if (!find_scalar(r, e, &a) || !dg_yaml_find_lines(r->p->s, &a))
        return DG_OK;
    const struct dg_segment like = {.begin = a.begin,
        .end = a.end,
        .markup = &strings,
        .writing = DG_WRITE_YAML,
        .yaml = a.style};
    struct dg_buffer text = {0};
    dg_buffer_add(&text, a.text, a.n);
    const size_t first = r->p->n_segments;
    const int rc = dg_program_string_add(r->x, r->p, like, &text, NULL, err);
    dg_buffer_deinit(&text);
    if (!e->data.scalar.tag) /* a copy would be written without it */
        note_other(r, &a, first);
    return rc;
}

/* Counts a key of a mapping. */
static void read_key(struct reader *r, const yaml_event_t *e)
{
    struct dg_yaml_plural *f = &r->levels[r->depth].forms;
    if (e->type == YAML_SCALAR_EVENT)
        dg_yaml_plural_read_key(f, (const char *)e->data.scalar.value, e->data.scalar.length,
            byte_at(r, &e->start_mark));
    else
        f->other_keys = true;
}

/* True for the code of a language in two letters, which a region or a script may follow. */
static bool is_language(const char *s, size_t n)
{
    char code[DG_LANGUAGE_MAX];
    if (n < 2 || n >= sizeof code || !islower((unsigned char)s[0]) ||
        !islower((unsigned char)s[1]) || (n > 2 && s[2] != '-' && s[2] != '_'))
        return false;
    memcpy(code, s, n);
    code[n] = '\0';
    return dg_language_known(code);
}

/* Counts a key of a document. */
static void read_root(struct reader *r, const yaml_event_t *e)
{
    if (r->n_roots++ == 0 && e->type == YAML_SCALAR_EVENT && find_scalar(r, e, &r->root))
        r->root_is_language =
            r->root.style < DG_YAML_LITERAL && is_language(r->root.text, r->root.n);
    r->root.text = NULL; /* the event's */
}

/* Reads a node, a scalar or the start of a collection: a key, a value, an item. */
static int read_node(struct reader *r, const yaml_event_t *e, struct dg_error *err)
{
    struct level *around = &r->levels[r->depth];
    const bool key = around->mapping && around->key, id = around->id;
    around->id = key && around->item && e->type == YAML_SCALAR_EVENT &&
                 strcmp((const char *)e->data.scalar.value, "id") == 0;
    if (key)
        read_key(r, e);
    if (r->depth == 1 && key)
        read_root(r, e);
    if (r->depth == 1 && r->n_roots == 1 && !key && e->type == YAML_MAPPING_START_EVENT)
        r->root_has_mapping = true;
    return e->type == YAML_SCALAR_EVENT && !key && !id && !around->quiet ? add(r, e, err) : DG_OK;
}

/* Opens the collection that an event starts. */
static int open_level(struct reader *r, const yaml_event_t *e, struct dg_error *err)
{
    const struct level *around = &r->levels[r->depth];
    const bool mapping = e->type == YAML_MAPPING_START_EVENT;
    const bool flow = mapping ? e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                              : e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    if (r->depth + 1 == MOST_LEVELS)
        return dg_extract_broken(
            err, "line %zu: it has more than %d levels", e->start_mark.line + 1, MOST_LEVELS - 1);
    r->levels[r->depth + 1] = (struct level){.mapping = mapping,
        .key = mapping,
        .flow = flow || around->flow,
        .item = mapping && r->depth > 0 && !around->mapping,
        .quiet = around->quiet || (around->mapping && around->key)};
    r->depth++;
    return DG_OK;
}

static int read_event(struct reader *r, const yaml_event_t *e, struct dg_error *err)
{
    int rc = DG_OK;
    switch (e->type) {
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        rc = read_node(r, e, err);
        return rc == DG_OK ? open_level(r, e, err) : rc;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        if (!r->levels[r->depth].quiet && !r->levels[r->depth].flow)
            rc = dg_yaml_plural_add(r->x, r->p, &r->levels[r->depth].forms, err);
        r->depth--;
        break;
    case YAML_SCALAR_EVENT:
    case YAML_ALIAS_EVENT: rc = read_node(r, e, err); break;
    default: return DG_OK;
    }
    r->levels[r->depth].key = !r->levels[r->depth].key; /* a node is over */
    return rc;
}

static int read_events(struct reader *r, struct dg_error *err)
{
    int rc = DG_OK;
    for (bool over = false; !over && rc == DG_OK;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->parser, &e)) {
            if (r->parser.error == YAML_MEMORY_ERROR)
                return dg_error_set(err, DG_ENOMEM, "no memory for YAML");
            return dg_extract_broken(err, "it is not YAML: line %zu: %s",
                r->parser.problem_mark.line + 1,
                r->parser.problem ? r->parser.problem : "a character is not allowed");
        }
        over = e.type == YAML_STREAM_END_EVENT;
        rc = read_event(r, &e, err);
        yaml_event_delete(&e);
    }
    return rc;
}

/* Adds the name of the language that is the root of all texts. */
static int add_root(struct reader *r, struct dg_error *err)
{
    const char *target = r->x->target;
    struct dg_buffer name = {0};
    if (r->n_roots != 1 || !r->root_is_language || !r->root_has_mapping)
        return DG_OK;
    dg_yaml_write(r->root.style, "", target, strlen(target), &name);
    const int rc =
        name.failed ? dg_error_set(err, DG_ENOMEM, "no memory for a text of a file")
                    : dg_segment_add_bytes(r->x, r->p, (struct dg_span){r->root.begin, r->root.end},
                          DG_WRITE_DECLARATION, name.data, err);
    dg_buffer_deinit(&name);
    return rc;
}

/* Counts the lines that may be directives, such as "%TAG ! !x". */
static size_t count_directives(const char *s, size_t n)
{
    size_t count = 0;
    for (const char *at = s; (at = memchr(at, '%', n - (size_t)(at - s))); at++)
        count += at == s || at[-1] == '\n' || at[-1] == '\r';
    return count;
}

int dg_read_yaml(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const size_t start = dg_utf8_bom(p->s, p->n);
    struct reader r = {.x = x, .p = p, .start = start, .bytes = start};
    if (count_directives(p->s + start, p->n - start) > MOST_DIRECTIVES)
        return dg_extract_broken(err, "more than %d lines begin with %%", MOST_DIRECTIVES);
    if (!yaml_parser_initialize(&r.parser))
        return dg_error_set(err, DG_ENOMEM, "no memory for YAML");
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)p->s + start, p->n - start);
    int rc = read_events(&r, err);
    if (rc == DG_OK)
        rc = add_root(&r, err);
    yaml_parser_delete(&r.parser);
    return rc;
}
