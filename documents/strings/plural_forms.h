/* The plural forms of languages, as the header of a PO file has them. Any thread. Only for
 * documents/. */
#ifndef DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H
#define DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H

#include <stddef.h>

/* xgettext's placeholder in a new template. */
#define DG_PLURAL_FORMS_UNKNOWN "nplurals=INTEGER; plural=EXPRESSION;"

/* The Plural-Forms of a language whose forms begin with the one for 1; DG_PLURAL_FORMS_UNKNOWN for
 * all other languages. Static storage. */
const char *dg_plural_forms(const char *language);

/* How many forms these are; 0: they do not say. */
size_t dg_plural_forms_count(const char *forms);

#endif
