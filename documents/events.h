/* Subtitles of Advanced SubStation Alpha (.ass, .ssa): the texts of the dialogue in [Events]:
 *
 *   Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\i1}Two dogs{\i0}\Nplay.
 *
 * Each is read as a cue of SubRip: codes in braces stay at their place, and \N ends a line. Any
 * thread. Only for documents/. */
#ifndef DG_DOCUMENTS_EVENTS_H
#define DG_DOCUMENTS_EVENTS_H

#include "base/buffer.h"

#include <stddef.h>

/* Append the answer s[n] to the text of a dialogue as the file has it. */
void dg_events_write(const char *s, size_t n, struct dg_buffer *out);

#endif
