#include "store/tmx.h"

#include <libxml/parser.h>
#include <libxml/xmlreader.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct variant {
    char language[DG_MEMORY_LANGUAGE];
    struct dg_buffer text;
};

/* The document being read. */
struct tmx {
    xmlTextReaderPtr reader;
    struct variant variants[DG_TMX_MAX_VARIANTS];
    /* number of variants of the current unit */
    size_t n;
    bool in_segment;
    /* the current variant is left out: its language is no code, such as "x-none" */
    bool left_out;
    /* line of the first one; 0: none */
    int left_out_line;
    /* a pair was visited */
    bool visited;
    /* depth of the code whose content is being skipped; -1: none */
    int code;
    /* the parser's first error message, and its line */
    char message[256];
    int line;
};

/* Keeps the first error, and ends the parser: it goes on to the end of a wrong comment, and copies
 * what it has of it for each further error. */
static void on_error(void *arg, xmlErrorPtr error)
{
    struct tmx *t = arg;
    if (t->message[0] != '\0' || error->level < XML_ERR_ERROR)
        return;
    const char *message = error->message ? error->message : "not XML";
    snprintf(t->message, sizeof t->message, "%.*s", (int)strcspn(message, "\n"), message);
    t->line = error->line;
    if (error->level == XML_ERR_FATAL && error->ctxt)
        xmlStopParser(error->ctxt);
}

static bool is(const struct tmx *t, const char *name)
{
    const xmlChar *own = xmlTextReaderConstLocalName(t->reader);
    return own && strcmp((const char *)own, name) == 0;
}

static int wrong(const struct tmx *t, const char *what, struct dg_error *err)
{
    return dg_error_set(
        err, DG_EFORMAT, "TMX, line %d: %s", xmlTextReaderGetParserLineNumber(t->reader), what);
}

/* Writes the code of a language, also of a locale such as sr_RS@latin; false: it is none. */
static bool read_language(const char *s, char out[DG_MEMORY_LANGUAGE])
{
    static const char *const scripts[][2] = {{"latin", "Latn"}, {"cyrillic", "Cyrl"}};
    char canonical[DG_MEMORY_LANGUAGE];
    const char *at = strchr(s, '@'), *modifier = at ? at + 1 : "";
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        modifier = strcmp(modifier, scripts[i][0]) == 0 ? scripts[i][1] : modifier;
    const int n = snprintf(out, DG_MEMORY_LANGUAGE, "%.*s%s%s", at ? (int)(at - s) : INT_MAX, s,
        at ? "-" : "", modifier);
    return n < DG_MEMORY_LANGUAGE && dg_memory_language(out, canonical, NULL) == DG_OK;
}

static int begin_variant(struct tmx *t, struct dg_error *err)
{
    xmlChar *language = xmlTextReaderGetAttribute(t->reader, (const xmlChar *)"xml:lang");
    if (!language)
        language = xmlTextReaderGetAttribute(t->reader, (const xmlChar *)"lang"); /* TMX 1.1 */
    char code[DG_MEMORY_LANGUAGE];
    int rc = DG_OK;
    t->left_out = language && !read_language((const char *)language, code);
    if (!language)
        rc = wrong(t, "a <tuv> has no language (xml:lang)", err);
    else if (t->left_out && t->left_out_line == 0)
        t->left_out_line = xmlTextReaderGetParserLineNumber(t->reader);
    else if (!t->left_out && t->n == DG_TMX_MAX_VARIANTS)
        rc = wrong(t, "a <tu> has more than 32 variants", err);
    if (rc == DG_OK && !t->left_out) {
        struct variant *v = &t->variants[t->n++];
        strcpy(v->language, code);
        dg_buffer_reset(&v->text);
        dg_buffer_add(&v->text, "", 0);
    }
    xmlFree(language);
    return rc;
}

static int visit_unit(struct tmx *t, dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    int rc = DG_OK;
    for (size_t i = 0; i < t->n && rc == DG_OK; i++) {
        for (size_t k = 0; k < t->n && rc == DG_OK; k++) {
            const struct variant *a = &t->variants[i], *b = &t->variants[k];
            const struct dg_memory_pair pair = {.source_lang = a->language,
                .target_lang = b->language,
                .source = a->text.data,
                .target = b->text.data,
                .source_len = a->text.len,
                .target_len = b->text.len};
            if (a->text.failed || b->text.failed)
                return dg_error_set(err, DG_ENOMEM, "no memory for a unit of a TMX file");
            if (i == k || a->text.len == 0 || b->text.len == 0 ||
                strcmp(a->language, b->language) == 0)
                continue;
            t->visited = true;
            rc = visit(ctx, &pair, err);
        }
    }
    return rc;
}

/* Inline elements hold codes of the format that the text came from; <hi> and <mrk> hold text. */
static bool is_code(const struct tmx *t)
{
    return is(t, "ph") || is(t, "bpt") || is(t, "ept") || is(t, "it") || is(t, "ut");
}

static int begin_element(struct tmx *t, struct dg_error *err)
{
    if (xmlTextReaderDepth(t->reader) == 0 && !is(t, "tmx"))
        return wrong(t, "the root element is not <tmx>", err);
    if (t->in_segment && (is(t, "tu") || is(t, "tuv")))
        return wrong(t, "a unit or a variant within a <seg>", err);
    if (is(t, "tu"))
        t->n = 0;
    if (is(t, "tuv"))
        return begin_variant(t, err);
    if (is(t, "seg") && t->n > 0 && !t->left_out)
        t->in_segment = !xmlTextReaderIsEmptyElement(t->reader);
    else if (t->in_segment && t->code < 0 && is_code(t) && !xmlTextReaderIsEmptyElement(t->reader))
        t->code = xmlTextReaderDepth(t->reader);
    return DG_OK;
}

static int look_at(struct tmx *t, dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    switch (xmlTextReaderNodeType(t->reader)) {
    case XML_READER_TYPE_ELEMENT: return begin_element(t, err);
    case XML_READER_TYPE_END_ELEMENT:
        if (t->code == xmlTextReaderDepth(t->reader))
            t->code = -1;
        if (is(t, "seg"))
            t->in_segment = false;
        return is(t, "tu") ? visit_unit(t, visit, ctx, err) : DG_OK;
    case XML_READER_TYPE_ENTITY_REFERENCE:
        return t->in_segment ? wrong(t, "an entity that is not XML's own", err) : DG_OK;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        if (t->in_segment && t->code < 0)
            dg_buffer_adds(
                &t->variants[t->n - 1].text, (const char *)xmlTextReaderConstValue(t->reader));
        return DG_OK;
    default: return DG_OK;
    }
}

int dg_tmx_read(const char *s, size_t n, dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    struct tmx t = {.code = -1};
    int rc = DG_OK, got = 1;
    if (n > INT_MAX)
        return dg_error_set(err, DG_ELIMIT, "a TMX file of %zu bytes, the limit is %d", n, INT_MAX);
    for (size_t i = 0; i < DG_TMX_MAX_VARIANTS; i++)
        dg_buffer_init(&t.variants[i].text);
    t.reader = xmlReaderForMemory(
        s, (int)n, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (!t.reader)
        return dg_error_set(err, DG_ENOMEM, "no memory for a TMX file");
    xmlTextReaderSetStructuredErrorHandler(t.reader, on_error, &t);
    while (rc == DG_OK && (got = xmlTextReaderRead(t.reader)) == 1)
        rc = look_at(&t, visit, ctx, err);
    if (rc == DG_OK && got < 0)
        rc = dg_error_set(err, DG_EFORMAT, "TMX, line %d: %s", t.line,
            t.message[0] != '\0' ? t.message : "not XML");
    if (rc == DG_OK && !t.visited && t.left_out_line > 0)
        rc = dg_error_set(err, DG_EFORMAT,
            "TMX, line %d: the xml:lang of a <tuv> is not a language code", t.left_out_line);
    xmlFreeTextReader(t.reader);
    for (size_t i = 0; i < DG_TMX_MAX_VARIANTS; i++)
        dg_buffer_deinit(&t.variants[i].text);
    return rc;
}
