/* The plural forms of languages, as the header of a PO file has them. Any thread. Only for
 * documents/. */
#ifndef DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H
#define DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H

/* xgettext's placeholder in a new template. */
#define DG_PLURAL_FORMS_UNKNOWN "nplurals=INTEGER; plural=EXPRESSION;"

/* The Plural-Forms of a language with two forms, because a template has msgstr[0] and msgstr[1];
 * DG_PLURAL_FORMS_UNKNOWN for all other languages. Static storage. */
const char *dg_plural_forms(const char *language);

#endif
