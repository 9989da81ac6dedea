/* Foreign words that a glossary translates are not protected. One thread at a time. Private to
 * translate/. */
#ifndef DG_TRANSLATE_PROTECTED_FOREIGN_TERMS_H
#define DG_TRANSLATE_PROTECTED_FOREIGN_TERMS_H

#include "base/arena.h"
#include "base/error.h"
#include "text/glossary.h"
#include "text/protected/alphabet.h"
#include "translate/protected/shown.h"

/* Before stand-ins are put: remove what terms of the glossary (NULL: none) cover from the marks of
 * foreign words and signs. A term that touches another protected span is none. */
int dg_foreign_terms_leave(const struct dg_glossary *glossary, const struct dg_alphabet *known,
    struct dg_arena *arena, struct dg_shown *shown, struct dg_error *err);

#endif
