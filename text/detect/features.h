/* Features of a text for the language model: its words and their substrings of one to five letters,
 * each hashed below DG_DETECT_BUCKETS (different ones may collide). The trainer and the server both
 * read text through here. Any thread. */
#ifndef DG_TEXT_DETECT_FEATURES_H
#define DG_TEXT_DETECT_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#define DG_DETECT_BUCKETS 65536
/* Maximum number of words used; later ones change little. */
#define DG_DETECT_WORDS 250

/* One call a feature; a feature that occurs twice is given twice. */
typedef void dg_detect_visit(void *ctx, uint32_t bucket);

/* Visit the features of s[n], valid UTF-8. Returns the number of words used; 0: no letters. */
size_t dg_detect_features(const char *s, size_t n, dg_detect_visit *visit, void *ctx);

#endif
