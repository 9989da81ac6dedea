#include "translate/answer/copied.h"

#include "base/buffer.h"
#include "text/detect/detect.h"
#include "text/letter_case.h"
#include "text/words.h"

#include <string.h>

enum { LEAST_BYTES = 5 };  /* of a word: shorter ones are of many languages */
enum { CONFIDENCE = 90 };  /* percent, that the word is of the source's language */
enum { MOST_WORDS = 256 }; /* of the answer that are checked */

/* Write the word in lower case to `out`. ASCII letters need no locale except I, which is the
 * capital of another letter in some languages. False: out of memory. */
static bool lower(const char *language, const char *word, size_t n, struct dg_buffer *out)
{
    bool plain = true;
    for (size_t i = 0; i < n; i++)
        plain = plain && (unsigned char)word[i] < 0x80 && word[i] != 'I';
    dg_buffer_reset(out);
    if (!plain)
        return !dg_letter_case_lower(language, word, n, out, NULL) && !out->failed;
    dg_buffer_add(out, word, n);
    for (size_t i = 0; i < n && !out->failed; i++)
        if (word[i] >= 'A' && word[i] <= 'Z')
            out->data[i] = (char)(word[i] + 'a' - 'A');
    return !out->failed;
}

/* True if the word d[n] is a word of s[len] in exactly this spelling. */
static bool has_word(const char *s, size_t len, const char *d, size_t n)
{
    bool alone;
    if (!memmem(s, len, d, n)) /* the usual case, found quickly */
        return false;
    for (size_t begin, end = 0; (end = dg_word_next(s, len, end, &begin, &alone)) > 0;)
        if (alone && end - begin == n && memcmp(s + begin, d, n) == 0)
            return true;
    return false;
}

static bool is_foreign(const char *source, const char *target, const char *word, size_t n)
{
    const char *const languages[] = {source, target};
    struct dg_detected d;
    dg_detect(languages, 2, word, n, &d);
    return d.language == 0 && d.confidence >= CONFIDENCE;
}

bool dg_copied_word(const char *source_language, const char *target_language, const char *s,
    size_t n, const char *t, size_t m)
{
    struct dg_buffer small;
    bool found = false, alone;
    size_t words = 0;
    dg_buffer_init(&small);
    for (size_t begin, end = 0;
         !found && words < MOST_WORDS && (end = dg_word_next(t, m, end, &begin, &alone)) > 0;
         words++) {
        if (!alone || end - begin < LEAST_BYTES)
            continue;
        /* Out of memory counts as nothing found: this only sets a flag. */
        if (!lower(target_language, t + begin, end - begin, &small))
            break;
        found = has_word(s, n, small.data, small.len) &&
                is_foreign(source_language, target_language, small.data, small.len);
    }
    dg_buffer_deinit(&small);
    return found;
}
