#include "text/detect/code.h"

#include <string.h>

/* CLD2 answers with the second of each pair. By "no" it means Bokmål: Nynorsk is "nn". */
static const char *const pairs[][2] = {
    {"he", "iw"}, {"jv", "jw"}, {"nb", "no"}, {"fil", "tl"}, {"mo", "ro"}};

static bool is_code(const char *known, const char *code, size_t n)
{
    return strncmp(known, code, n) == 0 && known[n] == '\0';
}

const char *dg_code_other(const char *code, size_t n)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (size_t k = 0; k < 2; k++)
            if (is_code(pairs[i][k], code, n))
                return pairs[i][1 - k];
    return NULL;
}

bool dg_code_same(const char *a, const char *b)
{
    const size_t n = strcspn(a, "-_"), m = strcspn(b, "-_");
    if (n == m && strncmp(a, b, n) == 0)
        return true;
    const char *other = dg_code_other(a, n);
    return other && is_code(other, b, m);
}
