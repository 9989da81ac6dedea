/* How cues of subtitles, SubRip and WebVTT, are recognised. Any thread. For text/format and
 * documents/. */
#ifndef DG_TEXT_FORMAT_SRT_H
#define DG_TEXT_FORMAT_SRT_H

#include <stdbool.h>
#include <stddef.h>

/* Read a cue's line of times s[begin, end), in seconds; what may follow them is ignored. False: the
 * line is none. */
bool dg_srt_times(const char *s, size_t begin, size_t end, double *from, double *to);

/* True if the line at `at`, which is within a cue, does not belong to it: it is empty, has the next
 * cue's times, or is a number before such a line. Not every file has an empty line between cues. A
 * line of white space ends none: YouTube's captions have it as a line of text. */
bool dg_srt_ends_cue(const char *s, size_t n, size_t at);

#endif
