#include "text/format/html/parse.h"

#include "base/array.h"
#include "text/format/flow.h"
#include "text/format/html/elements.h"
#include "text/format/html/tree.h"
#include "text/format/markup.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_TAGS 8 /* that are passed over between a word and the number of its note */

/* An element whose children are visited. */
struct level {
    const GumboNode *node;
    unsigned child;
    bool quiet, lines; /* for the content of the element */
    enum dg_element kind;
};

struct walk {
    const char *s;
    size_t n;
    const struct dg_markup *markup;
    struct dg_html_events *out;
    struct level *levels; /* [n_levels] */
    size_t n_levels, cap;
    bool failed;
};

static void add(struct walk *w, struct dg_html_event event)
{
    struct dg_html_events *e = w->out;
    struct dg_html_event *p = dg_array_grow(e->list, e->n, &e->cap, sizeof *p);
    if (!p) {
        w->failed = true;
        return;
    }
    e->list = p;
    event.sequence = e->n;
    e->list[e->n++] = event;
}

static size_t begin_of(const struct walk *w, const GumboStringPiece *piece)
{
    return (size_t)(piece->data - w->s);
}

static size_t end_of(const struct walk *w, const GumboStringPiece *piece)
{
    return begin_of(w, piece) + piece->length;
}

/* ---- what an element is ---- */

/* The element's name in small letters; names that libgumbo does not know come from the source. */
static const char *name_of(const GumboElement *e, char out[64])
{
    GumboStringPiece name = e->original_tag;
    if (e->tag != GUMBO_TAG_UNKNOWN || name.length < 2)
        return gumbo_normalized_tagname(e->tag);
    gumbo_tag_from_original_text(&name);
    size_t n = name.length < 63 ? name.length : 63;
    for (size_t i = 0; i < n; i++)
        out[i] =
            (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] + 32 : name.data[i]);
    out[n] = '\0';
    return out;
}

static const char *value_of(const GumboElement *e, const char *name)
{
    const GumboAttribute *a = gumbo_get_attribute(&e->attributes, name);
    return a ? a->value : NULL;
}

/* True if the element's content stays as it is. before: this flag of the enclosing element. */
static bool is_quiet(const struct walk *w, const GumboElement *e, const char *name, bool before)
{
    const char *translate = value_of(e, "translate"), *classes = value_of(e, "class");
    if ((classes && dg_element_is_notranslate(classes, strlen(classes))) ||
        dg_markup_lists(w->markup->ignored, name, strlen(name)))
        return true;
    if (translate && strcasecmp(translate, "no") == 0)
        return true;
    return before && !(translate && (!*translate || strcasecmp(translate, "yes") == 0));
}

static enum dg_element kind_of(const struct walk *w, const char *name)
{
    enum dg_element kind = dg_element_find(name);
    size_t n = strlen(name);
    if (dg_markup_lists(w->markup->splitting, name, n))
        return DG_ELEMENT_BLOCK;
    if (kind == DG_ELEMENT_BLOCK && dg_markup_lists(w->markup->non_splitting, name, n))
        return DG_ELEMENT_INLINE;
    return kind;
}

/* False for an element that the parser made without a tag of its own. */
static bool has_tag(const GumboNode *node)
{
    const unsigned made =
        GUMBO_INSERTION_RECONSTRUCTED_FORMATTING_ELEMENT | GUMBO_INSERTION_ADOPTION_AGENCY_CLONED;
    return node->v.element.original_tag.length > 0 && !(node->parse_flags & made);
}

/* True if only tags are between byte `at` and a word or its punctuation before it. */
static bool is_after_word(const struct walk *w, size_t at)
{
    for (int tags = 0; at > 0 && w->s[at - 1] == '>' && tags < MOST_TAGS; tags++) {
        const char *open = memrchr(w->s, '<', at);
        at = open ? (size_t)(open - w->s) : 0;
    }
    return at > 0 && !strchr(" \t\r\n\f([{<>", w->s[at - 1]);
}

/* True for a link within the book or page right after a word, without a space. */
static bool is_note_link(const struct walk *w, const GumboElement *e)
{
    const char *to = e->tag == GUMBO_TAG_A ? value_of(e, "href") : NULL;
    return to && strchr(to, '#') && is_after_word(w, begin_of(w, &e->original_tag));
}

/* True for a number that is superscript, subscript or a link right after a word: a reference to a
 * note, which belongs to the word before it and means nothing to the model, or the 2 of H2O. */
static bool is_small_number(const struct walk *w, const GumboElement *e)
{
    const bool small = e->tag == GUMBO_TAG_SUP || e->tag == GUMBO_TAG_SUB || is_note_link(w, e);
    if (!small || !e->original_end_tag.length)
        return false;
    struct dg_buffer letters;
    dg_flow_letters(w->s, end_of(w, &e->original_tag), begin_of(w, &e->original_end_tag), &letters);
    const bool number = dg_scan_skip_space(letters.data, 0, letters.len) < letters.len &&
                        !dg_utf8_has_letter(letters.data, letters.len);
    dg_buffer_deinit(&letters);
    return number;
}

/* End of the whole element. */
static size_t whole_end(const struct walk *w, const GumboElement *e)
{
    size_t begun = end_of(w, &e->original_tag), end = e->end_pos.offset;
    if (e->original_end_tag.length > 0)
        end = end_of(w, &e->original_end_tag);
    return end < begun ? begun : end > w->n ? w->n : end;
}

static bool is_before_letter(const struct walk *w, const GumboElement *e)
{
    size_t end = whole_end(w, e);
    return end < w->n && isalpha((unsigned char)w->s[end]);
}

/* ---- its events ---- */

static void add_values(struct walk *w, const GumboElement *e, const char *name)
{
    const char *other = value_of(e, strcmp(name, "meta") == 0 ? "name" : "type");
    if (!other)
        other = value_of(e, "property");
    for (unsigned i = 0; i < e->attributes.length; i++) {
        const GumboAttribute *a = e->attributes.data[i];
        const GumboStringPiece *v = &a->original_value;
        if (!a->value[0] || !dg_element_value_is_text(name, a->name, other))
            continue;
        char quote = v->data[0];
        bool quoted = (quote == '"' || quote == '\'') && v->length > 1;
        add(w, (struct dg_html_event){.kind = DG_HTML_VALUE,
                   .begin = begin_of(w, v) + quoted,
                   .end = end_of(w, v) - quoted,
                   .encoding = !quoted        ? DG_ENCODING_UNQUOTED
                               : quote == '"' ? DG_ENCODING_DOUBLE_QUOTED
                                              : DG_ENCODING_SINGLE_QUOTED});
    }
}

static void push(struct walk *w, struct level level)
{
    struct level *p = dg_array_grow(w->levels, w->n_levels, &w->cap, sizeof *p);
    if (!p) {
        w->failed = true;
        return;
    }
    w->levels = p;
    w->levels[w->n_levels++] = level;
}

/* Adds the whole element as one event. */
static void add_whole(
    struct walk *w, const GumboElement *e, enum dg_html_kind kind, const struct level *around)
{
    struct dg_html_event event = {.kind = kind,
        .begin = begin_of(w, &e->original_tag),
        .inner = end_of(w, &e->original_tag),
        .end = whole_end(w, e),
        .quiet = around->quiet,
        .lines = around->lines};
    event.inner_end =
        e->original_end_tag.length > 0 ? begin_of(w, &e->original_end_tag) : event.end;
    add(w, event);
}

/* Adds what the images of a <picture> say, which is one of them to a reader. */
static void add_picture(struct walk *w, const GumboElement *picture)
{
    for (unsigned i = 0; i < picture->children.length; i++) {
        const GumboNode *child = picture->children.data[i];
        if (child->type == GUMBO_NODE_ELEMENT && child->v.element.tag == GUMBO_TAG_IMG &&
            has_tag(child) && !is_quiet(w, &child->v.element, "img", false))
            add_values(w, &child->v.element, "img");
    }
}

static void enter(struct walk *w, const GumboNode *node, struct level around)
{
    static const enum dg_html_kind kinds[] = {[DG_ELEMENT_BLOCK] = DG_HTML_BLOCK,
        [DG_ELEMENT_INLINE] = DG_HTML_OPEN,
        [DG_ELEMENT_PROTECTED] = DG_HTML_OPEN,
        [DG_ELEMENT_POINT] = DG_HTML_POINT,
        [DG_ELEMENT_LINE_END] = DG_HTML_LINE_END};
    const GumboElement *e = &node->v.element;
    char buffer[64];
    const char *name = name_of(e, buffer);
    struct level inside = {node, 0, is_quiet(w, e, name, around.quiet), around.lines, 0};
    inside.kind = kind_of(w, name);
    if (has_tag(node) && is_small_number(w, e))
        inside.kind = is_before_letter(w, e) ? DG_ELEMENT_PROTECTED : DG_ELEMENT_OPAQUE;
    if (inside.kind == DG_ELEMENT_BLOCK)
        inside.lines = around.lines || !strcmp(name, "pre") || !strcmp(name, "textarea");
    bool tag = has_tag(node);
    if (tag && inside.kind == DG_ELEMENT_OPAQUE) {
        add_whole(w, e, DG_HTML_POINT, &around);
    } else if (tag && !around.quiet && inside.kind != DG_ELEMENT_BLOCK &&
               (inside.quiet || inside.kind == DG_ELEMENT_PROTECTED)) {
        add_whole(w, e, DG_HTML_PROTECTED, &around);
        return;
    } else {
        if (tag)
            add(w, (struct dg_html_event){.kind = kinds[inside.kind],
                       .begin = begin_of(w, &e->original_tag),
                       .end = end_of(w, &e->original_tag),
                       .quiet = inside.quiet,
                       .lines = inside.lines});
        push(w, inside);
    }
    if (tag && !inside.quiet)
        add_values(w, e, name);
    if (tag && !inside.quiet && strcmp(name, "picture") == 0)
        add_picture(w, e);
}

/* Leaves the element at the top of the stack, whose children are done. */
static void leave(struct walk *w)
{
    struct level inside = w->levels[--w->n_levels];
    struct level around = w->n_levels ? w->levels[w->n_levels - 1] : (struct level){0};
    const GumboElement *e = &inside.node->v.element;
    struct dg_html_event event = {
        .kind = inside.kind == DG_ELEMENT_BLOCK ? DG_HTML_BLOCK : DG_HTML_CLOSE,
        .quiet = around.quiet,
        .lines = around.lines};
    if (inside.node->type == GUMBO_NODE_DOCUMENT)
        return;
    if (e->original_end_tag.length > 0) {
        event.begin = begin_of(w, &e->original_end_tag);
        event.end = end_of(w, &e->original_end_tag);
        add(w, event);
    } else if (has_tag(inside.node) &&
               (inside.quiet != around.quiet || inside.lines != around.lines)) {
        event.begin = event.end = whole_end(w, e); /* its end tag is left out */
        add(w, event);
    }
}

static void visit(struct walk *w, const GumboNode *node, struct level around)
{
    switch (node->type) {
    case GUMBO_NODE_ELEMENT:
    case GUMBO_NODE_TEMPLATE: enter(w, node, around); break;
    case GUMBO_NODE_COMMENT:
        if (node->v.text.original_text.length > 0)
            add(w, (struct dg_html_event){.kind = DG_HTML_POINT,
                       .begin = begin_of(w, &node->v.text.original_text),
                       .end = end_of(w, &node->v.text.original_text),
                       .quiet = around.quiet,
                       .lines = around.lines});
        break;
    default: break; /* text is whatever remains between events */
    }
}

static void walk_tree(struct walk *w, const GumboNode *document)
{
    push(w, (struct level){.node = document, .kind = DG_ELEMENT_BLOCK});
    while (w->n_levels > 0 && !w->failed) {
        struct level *top = &w->levels[w->n_levels - 1];
        const GumboVector *children = top->node->type == GUMBO_NODE_DOCUMENT
                                          ? &top->node->v.document.children
                                          : &top->node->v.element.children;
        if (top->child < children->length) {
            const GumboNode *child = children->data[top->child++];
            visit(w, child, *top);
        } else {
            leave(w);
        }
    }
    free(w->levels);
}

static int in_order(const void *a, const void *b)
{
    const struct dg_html_event *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

int dg_html_parse(const char *s, size_t n, const struct dg_markup *markup,
    struct dg_html_events *out, struct dg_error *err)
{
    struct dg_html_tree *tree = NULL;
    int rc = dg_html_tree_open(s, n, &tree, err);
    if (rc != DG_OK)
        return rc;
    struct walk w = {.s = s, .n = n, .markup = markup, .out = out};
    walk_tree(&w, dg_html_tree_document(tree));
    dg_html_tree_close(tree);
    if (w.failed)
        return dg_error_set(err, DG_ENOMEM, "no memory to parse HTML");
    if (out->n > 0)
        qsort(out->list, out->n, sizeof *out->list, in_order);
    return DG_OK;
}

void dg_html_events_close(struct dg_html_events *e)
{
    free(e->list);
}
