/* The plural forms of languages, as the header of a PO file has them. Any thread. Only for
 * documents/. */
#ifndef DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H
#define DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H

/* What xgettext writes where nobody has said how many forms there are. */
#define DG_PLURAL_FORMS_UNKNOWN "nplurals=INTEGER; plural=EXPRESSION;"

/* The forms of a language with two, as many as such a file has places for; else as xgettext
 * writes them. */
const char *dg_plural_forms(const char *language);

#endif
