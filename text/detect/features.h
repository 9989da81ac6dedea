/* What the language model looks at in a text: its words and the pieces of one to five letters
 * they are made of, each as a number below DG_DETECT_BUCKETS (different ones may share a number).
 * The trainer and the server both read text through here. Any thread. */
#ifndef DG_TEXT_DETECT_FEATURES_H
#define DG_TEXT_DETECT_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#define DG_DETECT_BUCKETS 65536
/* Words that are looked at; those that follow change little. */
#define DG_DETECT_WORDS 250

/* One call a feature; a feature that occurs twice is given twice. */
typedef void dg_detect_visit(void *ctx, uint32_t bucket);

/* s[n] is valid UTF-8. Returns the number of words looked at; 0: no letters. */
size_t dg_detect_features(const char *s, size_t n, dg_detect_visit *visit, void *ctx);

#endif
