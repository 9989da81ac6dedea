/* Running text with marks in it: code spans, links, images, emphasis, tags, addresses. One pass
 * finds what may be a mark, the next pairs those that open with those that close; what has no
 * partner is text. What is looked at in vain comes off a budget, so that time grows with length
 * alone. */
#include "text/format/internal.h"
#include "text/kept.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUDGET 64   /* bytes looked at in vain for each byte of text */
#define MAX_OPEN 64 /* marks open at a time */

enum kind {
    LINE_BREAK,
    CODE,
    ADDRESS,
    TAG_OPEN,
    TAG_CLOSE,
    TAG_LONE,
    BRACKET_OPEN,
    BRACKET_CLOSE,
    EMPHASIS,
    LONE
};

struct token {
    enum kind kind;
    size_t begin, end;
    size_t text, text_end; /* CODE: its letters; TAG: its name */
    bool opens, closes;    /* EMPHASIS: may it? */
    uint32_t pair;         /* 0: no partner */
    bool is_closer;
};

struct scan {
    const char *s;
    size_t begin, end;
    bool tags, markdown;
    struct token *list;
    size_t n, cap;
    size_t budget;
    bool failed;
};

static void add(struct scan *x, struct token t)
{
    if (x->n == x->cap) {
        size_t cap = x->cap ? 2 * x->cap : 32;
        struct token *p = realloc(x->list, cap * sizeof *p);
        if (!p) {
            x->failed = true;
            return;
        }
        x->list = p;
        x->cap = cap;
    }
    x->list[x->n++] = t;
}

static size_t run_of(const struct scan *x, size_t at, char c)
{
    size_t n = 0;
    while (at + n < x->end && x->s[at + n] == c)
        n++;
    return n;
}

/* How far to look. */
static size_t ahead(const struct scan *x, size_t at)
{
    return x->end - at > x->budget ? at + x->budget : x->end;
}

/* It was in vain, up to `to`: nothing begins at `at`. */
static size_t in_vain(struct scan *x, size_t at, size_t to)
{
    x->budget -= to - at < x->budget ? to - at : x->budget;
    return at;
}

/* `code`, ``co`de``: behind it, or at. */
static size_t take_code(struct scan *x, size_t at)
{
    size_t n = run_of(x, at, '`'), limit = ahead(x, at);
    for (size_t i = at + n; i < limit;) {
        size_t m = run_of(x, i, '`');
        if (m == n) {
            add(x, (struct token){
                       .kind = CODE, .begin = at, .end = i + n, .text = at + n, .text_end = i});
            return i + n;
        }
        i += m ? m : 1;
    }
    return in_vain(x, at, limit);
}

/* In Markdown it ends where the text of a link that it is does: [https://a.b](https://a.b). */
static size_t take_address(struct scan *x, size_t at)
{
    size_t i = dg_kept_address(x->s, at, ahead(x, at), x->markdown ? "](" : NULL);
    if (i == at)
        return at;
    add(x, (struct token){.kind = ADDRESS, .begin = at, .end = i, .text = at, .text_end = i});
    return i;
}

static bool is_void(const char *name, size_t n)
{
    static const char *const names[] = {"br", "img", "hr", "wbr", "input", "source"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(name, names[i], n) == 0)
            return true;
    return false;
}

/* WebVTT's <00:00:01.500>, when the words behind it appear: behind it, or at. */
static size_t take_time(struct scan *x, size_t at)
{
    size_t i = at + 1;
    while (i < x->end && (isdigit((unsigned char)x->s[i]) || x->s[i] == ':' || x->s[i] == '.'))
        i++;
    if (i >= x->end || x->s[i] != '>' || !isdigit((unsigned char)x->s[at + 1]))
        return at;
    add(x, (struct token){.kind = LONE, .begin = at, .end = i + 1});
    return i + 1;
}

/* <b>, </b>, <br/>, <!-- -->, <https://example.org>: behind it, or at. */
static size_t take_tag(struct scan *x, size_t at)
{
    size_t limit = ahead(x, at), i = x->markdown ? at : take_time(x, at);
    if (i > at)
        return i;
    i = at + 1;
    bool closes = i < limit && x->s[i] == '/';
    i += closes;
    if (i >= limit || !(isalpha((unsigned char)x->s[i]) || x->s[i] == '!'))
        return at;
    bool comment = limit - at >= 4 && memcmp(x->s + at, "<!--", 4) == 0;
    const char *close = comment ? memmem(x->s + at + 2, limit - at - 2, "-->", 3)
                                : memchr(x->s + i, '>', limit - i);
    if (!close)
        return in_vain(x, at, limit);
    size_t end = (size_t)(close - x->s) + (comment ? 3 : 1), name_end = i;
    while (isalnum((unsigned char)x->s[name_end]) || x->s[name_end] == '-')
        name_end++;
    struct token t = {.begin = at, .end = end, .text = i, .text_end = name_end};
    if (x->s[name_end] == ':' || x->s[name_end] == '@') {
        t.kind = ADDRESS;
        t.text_end = end - 1;
    } else if (x->s[i] == '!' || x->s[end - 2] == '/' || is_void(x->s + i, name_end - i)) {
        t.kind = TAG_LONE;
    } else {
        t.kind = closes ? TAG_CLOSE : TAG_OPEN;
    }
    add(x, t);
    return end;
}

/* What follows "]" in the same line to make it a link's end: "(address "title")", "[name]"; or
 * at. */
static size_t link_end(struct scan *x, size_t at)
{
    size_t limit = ahead(x, at), depth = 0;
    char open = at < limit ? x->s[at] : '\0', close = open == '(' ? ')' : ']';
    if (open != '(' && open != '[')
        return at;
    for (size_t i = at; i < limit && x->s[i] != '\n' && x->s[i] != '\r'; i++) {
        if (x->s[i] == '\\' && i + 1 < limit && ispunct((unsigned char)x->s[i + 1]))
            i++;
        else if (x->s[i] == open)
            depth++;
        else if (x->s[i] == close && --depth == 0)
            return i + 1;
    }
    return in_vain(x, at, limit);
}

static size_t take_bracket(struct scan *x, size_t at)
{
    if (x->s[at] == ']') {
        size_t end = link_end(x, at + 1);
        if (end == at + 1)
            return at;
        add(x, (struct token){.kind = BRACKET_CLOSE, .begin = at, .end = end});
        return end;
    }
    size_t open = at + (x->s[at] == '!');
    if (open >= x->end || x->s[open] != '[')
        return at;
    if (open == at && open + 1 < x->end && x->s[open + 1] == '^') { /* a footnote's number */
        size_t limit = ahead(x, at);
        const char *close = memchr(x->s + at, ']', limit - at);
        if (close) {
            add(x, (struct token){.kind = LONE, .begin = at, .end = (size_t)(close - x->s) + 1});
            return (size_t)(close - x->s) + 1;
        }
        in_vain(x, at, limit);
    }
    add(x, (struct token){.kind = BRACKET_OPEN, .begin = at, .end = open + 1});
    return open + 1;
}

/* A letter, digit, or part of one. */
static bool is_word(const struct scan *x, size_t at)
{
    return at >= x->begin && at < x->end &&
           (isalnum((unsigned char)x->s[at]) || (unsigned char)x->s[at] >= 0x80);
}

static bool is_blank(const struct scan *x, size_t at)
{
    return at < x->begin || at >= x->end || strchr(" \t", x->s[at]);
}

static size_t take_emphasis(struct scan *x, size_t at)
{
    char c = x->s[at];
    size_t n = run_of(x, at, c), before = at - 1, behind = at + n;
    if (n > 3 || (c == '~' && n != 2))
        return at;
    bool first = at == x->begin;
    bool opens = !is_blank(x, behind), closes = !first && !is_blank(x, before);
    if (c == '_') { /* not within a word: snake_case */
        opens = opens && (first || !is_word(x, before));
        closes = closes && !is_word(x, behind);
    }
    add(x, (struct token){
               .kind = EMPHASIS, .begin = at, .end = behind, .opens = opens, .closes = closes});
    return behind;
}

/* {\an8}: where a subtitle stands. */
static size_t take_override(struct scan *x, size_t at)
{
    size_t limit = ahead(x, at);
    if (at + 1 >= limit || x->s[at + 1] != '\\')
        return at;
    const char *close = memchr(x->s + at, '}', limit - at);
    if (!close)
        return in_vain(x, at, limit);
    size_t end = (size_t)(close - x->s) + 1;
    add(x, (struct token){.kind = LONE, .begin = at, .end = end});
    return end;
}

static size_t take(struct scan *x, size_t at)
{
    switch (x->s[at]) {
    case '<': return x->tags ? take_tag(x, at) : at;
    case 'h': return x->tags ? take_address(x, at) : at;
    case '{': return x->markdown || !x->tags ? at : take_override(x, at);
    case '`': return x->markdown ? take_code(x, at) : at;
    case '[':
    case ']':
    case '!': return x->markdown ? take_bracket(x, at) : at;
    case '*':
    case '_':
    case '~': return x->markdown ? take_emphasis(x, at) : at;
    default: return at;
    }
}

/* Is `at` the next break of p's lines from *k on? */
static bool at_break(const struct dg_paragraph *p, size_t *k, size_t at)
{
    while (*k < p->n && p->breaks[*k][0] < at) /* one within a code span or an address */
        (*k)++;
    return *k < p->n && p->breaks[*k][0] == at;
}

static void find_tokens(struct scan *x, const struct dg_paragraph *p)
{
    size_t k = 0;
    for (size_t at = x->begin; at < x->end && !x->failed;) {
        if (at_break(p, &k, at)) {
            add(x, (struct token){.kind = LINE_BREAK, .begin = at, .end = p->breaks[k][1]});
            at = p->breaks[k][1];
            continue;
        }
        size_t behind = take(x, at);
        if (behind == at && x->markdown &&
            strchr("`*_~", x->s[at])) /* none of it is looked at again */
            behind = at + run_of(x, at, x->s[at]);
        else if (behind == at && x->markdown && x->s[at] == '\\' && at + 1 < x->end &&
                 ispunct((unsigned char)x->s[at + 1]))
            behind = at + 2;
        at = behind > at ? behind : at + 1;
    }
}

static bool are_partners(const struct scan *x, const struct token *a, const struct token *b)
{
    const char *s = x->s;
    switch (b->kind) {
    case TAG_CLOSE:
        return a->kind == TAG_OPEN && a->text_end - a->text == b->text_end - b->text &&
               strncasecmp(s + a->text, s + b->text, b->text_end - b->text) == 0;
    case BRACKET_CLOSE: return a->kind == BRACKET_OPEN;
    case EMPHASIS:
        return a->kind == EMPHASIS && a->opens && s[a->begin] == s[b->begin] &&
               a->end - a->begin == b->end - b->begin;
    default: return false;
    }
}

static void find_pairs(struct scan *x, uint32_t *pairs)
{
    size_t open[MAX_OPEN], n = 0;
    for (size_t i = 0; i < x->n; i++) {
        struct token *t = &x->list[i];
        bool may_close =
            t->kind == TAG_CLOSE || t->kind == BRACKET_CLOSE || (t->kind == EMPHASIS && t->closes);
        size_t k = may_close ? n : 0;
        while (k > 0 && !are_partners(x, &x->list[open[k - 1]], t))
            k--;
        if (k > 0) {
            t->pair = x->list[open[k - 1]].pair = ++*pairs;
            t->is_closer = true;
            n = k - 1; /* what was opened since then has no partner */
        } else if ((t->kind == TAG_OPEN || t->kind == BRACKET_OPEN ||
                       (t->kind == EMPHASIS && t->opens)) &&
                   n < MAX_OPEN) {
            open[n++] = i;
        }
    }
}

/* Code or an address: what is shown of it, without white space at its ends; a mark, when that is
 * nothing. */
static void emit_verbatim(struct dg_document *l, const struct scan *x, const struct token *t)
{
    size_t begin = dg_scan_skip_space(x->s, t->text, t->text_end);
    size_t end =
        dg_scan_trim_space(x->s, begin, begin + dg_inset_shown(x->s + begin, t->text_end - begin));
    struct dg_inset inset = {.kind = end > begin ? DG_INSET_VERBATIM : DG_INSET_MARK,
        .len = end - begin,
        .begin = t->begin,
        .end = t->end};
    dg_document_inset(l, inset, x->s + begin);
}

static void emit(struct dg_document *l, const struct scan *x, const struct token *t)
{
    struct dg_inset inset = {.begin = t->begin, .end = t->end, .pair = t->pair};
    if (t->kind == LINE_BREAK) {
        inset.kind = DG_INSET_BREAK;
        inset.len = 1;
        dg_document_inset(l, inset, " ");
        return;
    }
    if (t->kind == CODE || t->kind == ADDRESS) {
        emit_verbatim(l, x, t);
        return;
    }
    if (t->pair) {
        inset.kind = t->is_closer ? DG_INSET_CLOSE : DG_INSET_OPEN;
    } else if (t->kind == EMPHASIS || t->kind == BRACKET_OPEN || t->kind == BRACKET_CLOSE) {
        dg_document_text(l, x->s, t->begin, t->end);
        return;
    } else {
        inset.kind = DG_INSET_MARK;
    }
    dg_document_inset(l, inset, x->s + t->text);
}

void dg_document_inline(
    struct dg_document *l, const char *s, const struct dg_paragraph *p, enum dg_marks marks)
{
    struct scan x = {.s = s,
        .begin = p->begin,
        .end = p->end,
        .tags = marks != DG_MARKS_NONE,
        .markdown = marks == DG_MARKS_MARKDOWN,
        .budget = BUDGET * (p->end - p->begin)};
    size_t at = p->begin;
    find_tokens(&x, p);
    find_pairs(&x, &l->pairs);
    for (size_t i = 0; i < x.n; i++) {
        dg_document_text(l, s, at, x.list[i].begin);
        emit(l, &x, &x.list[i]);
        at = x.list[i].end;
    }
    dg_document_text(l, s, at, p->end);
    l->flat.failed = l->flat.failed || x.failed;
    free(x.list);
}
