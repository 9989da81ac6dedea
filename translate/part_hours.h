/* Corrects an answer's hours: a small model writes "21:30 Uhr" for "9:30 a.m." Private to
 * translate/. One thread at a time per job. */
#ifndef DG_TRANSLATE_PART_HOURS_H
#define DG_TRANSLATE_PART_HOURS_H

#include "base/buffer.h"

#include <stddef.h>

struct dg_job;
struct dg_part;

/* Between English, German and French: correct the hours of p's answer, which is `text` from byte
 * `from` on. An hour that is twelve hours off the only hour of the sentence with its minutes
 * becomes that one: "9:30 a.m." is "9:30 Uhr", "18 Uhr" is "6 p.m.", "14 bis 18 Uhr" is "2 p.m. to
 * 6 p.m.". So does an hour without its sign ("at 2:" for "um 2 Uhr"), and one that lost its minutes
 * gets them back ("15 Uhr" for "3:15 p.m."). They stay if the German or French text has a word such
 * as "abends". An English hour that the model copied into German or French is written as that
 * language does: "9 a.m." becomes "9 Uhr", "9 h". Glossary terms stay as they are. Shifts ends[n]
 * as dg_part_write_numbers does. */
void dg_part_write_hours(const struct dg_job *j, const struct dg_part *p, struct dg_buffer *text,
    size_t from, size_t *ends, size_t n);

#endif
