/* The language that a file says it is in, such as HTML's lang="en" and Word's w:lang: by it,
 * programs hyphenate words, check their spelling and read them aloud. One thread at a time. Only
 * for documents/. */
#ifndef DG_DOCUMENTS_DECLARED_LANGUAGE_H
#define DG_DOCUMENTS_DECLARED_LANGUAGE_H

#include "documents/segments.h"

/* Find how programs and office files name the target language. */
void dg_declared_language_init(struct dg_extract *x);

/* True if the code s[n] names another language than `target`; not for the codes of no language
 * (zxx, none, x-none), nor for what is not a code, such as a template's "{{ page.lang }}". */
bool dg_declared_language_differs(const char *s, size_t n, const char *target);

/* Add a segment that writes `is` over p->s[begin, end) if anything in the file changes. DG_ENOMEM.
 */
int dg_declared_language_write(struct dg_extract *x, struct dg_extract_part *p, size_t begin,
    size_t end, const char *is, struct dg_error *err);
/* The same with the target language, if p->s[begin, end), without white space at its ends, names
 * another one. */
int dg_declared_language_add(struct dg_extract *x, struct dg_extract_part *p, size_t begin,
    size_t end, struct dg_error *err);

#endif
