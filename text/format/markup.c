#include "text/format/markup.h"

#include <strings.h>

bool dg_markup_lists(const char *const *list, const char *s, size_t n)
{
    for (size_t i = 0; list && list[i]; i++)
        if (strncasecmp(list[i], s, n) == 0 && list[i][n] == '\0')
            return true;
    return false;
}
