#include "server/models/languages.h"

#include <string.h>

/* True if the entry is "asked=meant", with both codes there and neither too long. */
static bool entry_is_sound(const char *entry, size_t n)
{
    const char *equals = memchr(entry, '=', n);
    if (!equals || equals == entry || equals == entry + n - 1)
        return false;
    size_t left = (size_t)(equals - entry), right = n - left - 1;
    return left < DG_LANGUAGE_MAX && right < DG_LANGUAGE_MAX && !memchr(equals + 1, '=', right);
}

int dg_language_aliases_check(const char *aliases, struct dg_error *err)
{
    for (const char *p = aliases; *p;) {
        size_t n = strcspn(p, ",");
        if (!entry_is_sound(p, n))
            return dg_error_field(err, DG_EINVAL, "aliases",
                "aliases has \"%.*s\", expected asked=meant such as pb=pt-BR", n < 40 ? (int)n : 40,
                p);
        p += n + (p[n] == ',');
    }
    return DG_OK;
}

const char *dg_language_alias(const char *aliases, const char *asked, char out[DG_LANGUAGE_MAX])
{
    char wanted[DG_LANGUAGE_MAX], name[DG_LANGUAGE_MAX], key[DG_LANGUAGE_MAX];
    if (!dg_language_canonical(asked, wanted))
        return asked;
    for (const char *p = aliases; *p;) {
        size_t n = strcspn(p, ","), left = strcspn(p, "=");
        memcpy(name, p, left);
        name[left] = '\0';
        if (dg_language_canonical(name, key) && strcmp(key, wanted) == 0) {
            memcpy(out, p + left + 1, n - left - 1);
            out[n - left - 1] = '\0';
            return out;
        }
        p += n + (p[n] == ',');
    }
    return asked;
}
