#include "base/debug.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"cuda-log", "cuda-graphs-off", "cuda-plain-attention",
    "cuda-one-stream", "cuda-one-algorithm", "cuda-late-launches"};

enum { WORDS = sizeof words / sizeof words[0] };

static bool is_word(const char *word, const char *text, size_t n)
{
    return strlen(word) == n && memcmp(word, text, n) == 0;
}

bool dg_debug(const char *word)
{
    const char *p = getenv("DRAGOMAN_DEBUG");
    for (; p && *p; p += strspn(p, ",")) {
        const size_t n = strcspn(p, ",");
        if (is_word(word, p, n))
            return true;
        p += n;
    }
    return false;
}

int dg_debug_check(struct dg_error *err)
{
    const char *p = getenv("DRAGOMAN_DEBUG");
    for (; p && *p; p += strspn(p, ",")) {
        const size_t n = strcspn(p, ",");
        size_t i = 0;
        while (i < WORDS && !is_word(words[i], p, n))
            i++;
        if (n > 0 && i == WORDS)
            return dg_error_field(err, DG_EINVAL, "DRAGOMAN_DEBUG",
                "DRAGOMAN_DEBUG has \"%.*s\", it can have %s, %s, %s, %s, %s and %s",
                n > 40 ? 40 : (int)n, p, words[0], words[1], words[2], words[3], words[4],
                words[5]);
        p += n;
    }
    return DG_OK;
}
