/* ICU's sentence-break iterators, one per thread: opening one costs as much as splitting a few
 * sentences with it. */
#ifndef DG_TEXT_SENTENCES_SENTENCE_BREAKS_H
#define DG_TEXT_SENTENCES_SENTENCE_BREAKS_H

#include "base/error.h"

#include <unicode/ubrk.h>

/* The thread's iterator for ICU's locale `locale`, at most three letters; it belongs to the thread,
 * and the next call may close it. DG_EINTERNAL: ICU has no rules. Any thread. */
int dg_sentence_breaks(const char *locale, UBreakIterator **out, struct dg_error *err);

#endif
