/* Paragraphs of office files as markup for the translator: words with the paragraph's main
 * formatting are plain text, words with other formatting are in a <g>, and a part without words,
 * or the number of a note, is an <x/> or, if a sentence ends there, a <b/>. A field is an <f>.
 * Slots hold the bytes that each of these represents. Only for documents/office. One thread at a
 * time. */
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

/* True if this is the tag's name after the prefix. NULL: false. */
bool dg_runs_is(const struct dg_runs *r, const struct dg_xml_tag *t, const char *name);
/* The same for a list: it has the tag's name. */
bool dg_runs_lists(const struct dg_runs *r, const struct dg_xml_tag *t, const char *const *list);

/* Kind of the field character in the run at tag i: 'b'egin, 's'eparate, 'e'nd; 0: none. */
char dg_runs_field(const struct dg_xml *x, size_t i);

/* True if a field with the instruction s[n] is filled in by a mail merge. */
bool dg_runs_is_merge(const char *s, size_t n);
/* Find the first text with a letter or a digit between tags first and last; false: there is none.
 */
bool dg_runs_find_shown(
    const struct dg_runs *r, size_t first, size_t last, size_t *begin, size_t *end);

/* Find the tags between which the container at tag i has its words: within its child that holds all
 * of them if it has one, else after its properties. */
void dg_runs_find_words(const struct dg_runs *r, size_t i, size_t *first, size_t *last);
/* Find the tags between which paragraph i has its words: after its properties, and before its last
 * element if that is not text. */
void dg_runs_find_ends(const struct dg_runs *r, size_t i, size_t *first, size_t *last);

/* Add a segment for the content of the paragraph at tag `i`, after its properties, if it has words.
 * DG_ELIMIT, DG_ENOMEM. */
int dg_runs_add(struct dg_runs *r, size_t i, struct dg_error *err);

#endif
