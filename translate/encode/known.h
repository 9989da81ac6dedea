/* Sentences with known translations (of a translation memory, or a glossary's entry that is the
 * whole sentence): their translations are used unchanged. One thread at a time per job. */
#ifndef DG_TRANSLATE_ENCODE_KNOWN_H
#define DG_TRANSLATE_ENCODE_KNOWN_H

#include "translate/job/job.h"

/* Look up a known translation of p; if there is one, sets p->known. */
int dg_known_look_up(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* The same for source bytes at.begin .. at.end around p; if they have one, p takes their place. */
int dg_known_look_up_source(
    struct dg_job *j, struct dg_part *p, struct dg_span at, struct dg_error *err);
/* If the term is all of p's text, its target becomes p's known translation. */
int dg_known_take_term(struct dg_job *j, struct dg_part *p, const struct dg_glossary_match *term,
    struct dg_error *err);
/* Append p's known translation, written as p's text requires. */
int dg_known_write(
    struct dg_job *j, const struct dg_part *p, struct dg_buffer *out, struct dg_error *err);

#endif
