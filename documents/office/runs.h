/* Paragraphs of office files as markup for the translator: words with the paragraph's main
 * formatting are plain text, words with other formatting are in a <g>, and a part without words is
 * an <x/> or, if a sentence ends there, a <b/>. Slots hold the bytes that each of these represents.
 * Only for documents/office. One thread at a time. */
#ifndef DG_DOCUMENTS_OFFICE_RUNS_H
#define DG_DOCUMENTS_OFFICE_RUNS_H

#include "documents/segments.h"
#include "text/format/xml/scan.h"

struct dg_runs {
    struct dg_extract *x;
    struct dg_extract_part *p;
    struct dg_xml xml;
    const struct dg_run_names *names;
    /* bytes before each of the names, such as "x:"; equal: none */
    size_t prefix, prefix_end;
};

/* True if this is the tag's name after the prefix. */
bool dg_runs_is(const struct dg_runs *r, const struct dg_xml_tag *t, const char *name);
/* The same for a list: it has the tag's name. */
bool dg_runs_lists(const struct dg_runs *r, const struct dg_xml_tag *t, const char *const *list);

/* Add a segment for the content of the paragraph at tag `i`, after its properties, if it has words.
 * DG_ELIMIT, DG_ENOMEM. */
int dg_runs_add(struct dg_runs *r, size_t i, struct dg_error *err);

#endif
