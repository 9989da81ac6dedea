/* Corrects the titles before an answer's names: a small model writes "Mr. Weber" for "Frau Weber".
 * Private to translate/. One thread at a time per job. */
#ifndef DG_TRANSLATE_PART_TITLES_H
#define DG_TRANSLATE_PART_TITLES_H

#include "base/buffer.h"

#include <stddef.h>

struct dg_job;
struct dg_part;

/* Between English, German and French: correct the titles of p's answer, which is `text` from byte
 * `from` on. A title before a name that has a title of the other sex in the sentence becomes the
 * right one, and so do a word such as "wife" and a title of another language (an English one stays
 * where the sentence is English); the adjective before it fits ("geehrte Frau"). Glossary terms
 * stay as they are. Shifts ends[n] as dg_part_write_numbers does. */
void dg_part_write_titles(const struct dg_job *j, const struct dg_part *p, struct dg_buffer *text,
    size_t from, size_t *ends, size_t n);

#endif
