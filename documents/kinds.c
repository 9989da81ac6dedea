#include "documents/kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define OFFICE "application/vnd.openxmlformats-officedocument."
#define OFFICE_MACROS "application/vnd.ms-"
#define UTF_8 "; charset=utf-8"
#define OPEN "application/vnd.oasis.opendocument."

static const struct dg_kind kinds[] = {
    {".txt", "text/plain" UTF_8, dg_read_text, NULL},
    {".html", "text/html" UTF_8, dg_read_html, NULL},
    {".htm", "text/html" UTF_8, dg_read_html, NULL},
    {".md", "text/markdown" UTF_8, dg_read_markdown, NULL},
    {".markdown", "text/markdown" UTF_8, dg_read_markdown, NULL},
    {".srt", "application/x-subrip", dg_read_subtitles, NULL},
    {".vtt", "text/vtt" UTF_8, dg_read_subtitles, NULL},
    {".docx", OFFICE "wordprocessingml.document", NULL, dg_member_docx},
    {".pptx", OFFICE "presentationml.presentation", NULL, dg_member_pptx},
    {".xlsx", OFFICE "spreadsheetml.sheet", NULL, dg_member_xlsx},
    {".odt", OPEN "text", NULL, dg_member_odt},
    {".odp", OPEN "presentation", NULL, dg_member_odt},
    {".ods", OPEN "spreadsheet", NULL, dg_member_odt},
    {".epub", "application/epub+zip", NULL, dg_member_epub},
    {".po", "text/x-gettext-translation" UTF_8, dg_read_po, NULL},
    {".pot", "text/x-gettext-translation-template" UTF_8, dg_read_po, NULL},
    {".xlf", "application/xliff+xml", dg_read_xliff, NULL},
    {".xliff", "application/xliff+xml", dg_read_xliff, NULL},
    {".json", "application/json", dg_read_json, NULL},
    {".arb", "application/json", dg_read_json, NULL},
    {".properties", "text/x-java-properties" UTF_8, dg_read_properties, NULL},
    {".strings", "text/plain" UTF_8, dg_read_strings, NULL},
    {".xml", "application/xml", dg_read_android, NULL},
    {".ass", "text/x-ass" UTF_8, dg_read_events, NULL},
    {".ssa", "text/x-ssa" UTF_8, dg_read_events, NULL},
    {".resx", "text/microsoft-resx", dg_read_resx, NULL},
    {".stringsdict", "application/x-plist", dg_read_stringsdict, NULL},
    {".ts", "text/vnd.trolltech.linguist" UTF_8, dg_read_linguist, NULL},
    {".yml", "application/yaml", dg_read_yaml, NULL},
    {".yaml", "application/yaml", dg_read_yaml, NULL},
    {".xcstrings", "application/json", dg_read_catalog, NULL},
    {".csv", "text/csv" UTF_8, dg_read_table, NULL},
    {".tsv", "text/tab-separated-values" UTF_8, dg_read_table, NULL},
    {".php", "text/x-php" UTF_8, dg_read_php, NULL},
    {".xhtml", "application/xhtml+xml" UTF_8, dg_read_html, NULL},
    /* templates, slide shows and files with macros: the same members */
    {".docm", OFFICE_MACROS "word.document.macroEnabled.12", NULL, dg_member_docx},
    {".dotx", OFFICE "wordprocessingml.template", NULL, dg_member_docx},
    {".dotm", OFFICE_MACROS "word.template.macroEnabled.12", NULL, dg_member_docx},
    {".pptm", OFFICE_MACROS "powerpoint.presentation.macroEnabled.12", NULL, dg_member_pptx},
    {".ppsx", OFFICE "presentationml.slideshow", NULL, dg_member_pptx},
    {".ppsm", OFFICE_MACROS "powerpoint.slideshow.macroEnabled.12", NULL, dg_member_pptx},
    {".potx", OFFICE "presentationml.template", NULL, dg_member_pptx},
    {".potm", OFFICE_MACROS "powerpoint.template.macroEnabled.12", NULL, dg_member_pptx},
    {".xlsm", OFFICE_MACROS "excel.sheet.macroEnabled.12", NULL, dg_member_xlsx},
    {".xltx", OFFICE "spreadsheetml.template", NULL, dg_member_xlsx},
    {".xltm", OFFICE_MACROS "excel.template.macroEnabled.12", NULL, dg_member_xlsx},
    {".ott", OPEN "text-template", NULL, dg_member_odt},
    {".otp", OPEN "presentation-template", NULL, dg_member_odt},
    {".ots", OPEN "spreadsheet-template", NULL, dg_member_odt},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *dg_extract_suffix_at(size_t i)
{
    return i < KINDS ? kinds[i].suffix : NULL;
}

const struct dg_kind *dg_kind_find(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < KINDS; i++)
        if (strcasecmp(dot, kinds[i].suffix) == 0)
            return &kinds[i];
    return NULL;
}

const char *dg_extract_suffix(const char *name)
{
    const struct dg_kind *k = dg_kind_find(name);
    return k ? k->suffix : NULL;
}

/* The suffix of the supported format that a file can be saved in; NULL: none is known. */
static const char *find_other(const char *name)
{
    static const char *const others[][2] = {{".doc", ".docx"}, {".dot", ".docx"}, {".rtf", ".docx"},
        {".pdf", ".docx"}, {".pages", ".docx"}, {".xls", ".xlsx"}, {".xlt", ".xlsx"},
        {".xlsb", ".xlsx"}, {".numbers", ".xlsx"}, {".ppt", ".pptx"}, {".pps", ".pptx"},
        {".key", ".pptx"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot, others[i][0]) == 0)
            return others[i][1];
    return NULL;
}

int dg_extract_unknown(const char *name, struct dg_error *err)
{
    const char *other = find_other(name);
    char suffixes[400] = "";
    size_t n = 0;
    if (other)
        return dg_error_field(err, DG_EUNSUP, "file",
            "files like %.80s cannot be translated: save them as %s files", name, other);
    for (size_t i = 0; i < KINDS && n < sizeof suffixes; i++)
        n += (size_t)snprintf(suffixes + n, sizeof suffixes - n, " %s", kinds[i].suffix);
    return dg_error_field(err, DG_EUNSUP, "file",
        "files like %.80s cannot be translated: names end in%s", name, suffixes);
}

bool dg_extract_packed(const char *name)
{
    const struct dg_kind *k = dg_kind_find(name);
    return k && !k->read;
}

bool dg_extract_may_name(const char *in, const char *out)
{
    const struct dg_kind *a = dg_kind_find(in), *b = dg_kind_find(out);
    if (!a || !b || strcmp(a->media_type, b->media_type) == 0)
        return true;
    /* Text of any kind may be called .txt, and a template (.pot) becomes a .po. */
    return a->read && b->read &&
           (a->read == dg_read_text || b->read == dg_read_text ||
               (a->read == dg_read_po && b->read == dg_read_po));
}

const char *dg_extract_media_type(const char *suffix)
{
    const struct dg_kind *k = dg_kind_find(suffix);
    return k ? k->media_type : "application/octet-stream";
}
