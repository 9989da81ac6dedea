#include "server/api/dialect.h"

#include "server/api/deepl/deepl.h"
#include "server/api/libretranslate/libretranslate.h"

#include <string.h>

static const struct dg_dialect *const all[] = {&dg_libretranslate, &dg_deepl};

static bool is_name(const struct dg_dialect *d, const char *word, size_t n)
{
    return strlen(d->name) == n && !strncmp(d->name, word, n);
}

int dg_dialects_check(const char *dialects, struct dg_error *err)
{
    if (!strcmp(dialects, "none"))
        return DG_OK;
    for (const char *p = dialects; *p;) {
        const size_t n = strcspn(p, ",");
        size_t i = 0;
        while (i < sizeof all / sizeof *all && !is_name(all[i], p, n))
            i++;
        if (i == sizeof all / sizeof *all)
            return dg_error_field(err, DG_EINVAL, "dialects",
                "dialects has \"%.*s\", expected libretranslate, deepl, or none",
                n < 40 ? (int)n : 40, p);
        p += n + (p[n] == ',');
    }
    return DG_OK;
}

bool dg_dialect_spoken(const struct dg_dialect *dialect, const char *dialects)
{
    if (!dialect)
        return true;
    for (const char *p = dialects; *p;) {
        const size_t n = strcspn(p, ",");
        if (is_name(dialect, p, n))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

const struct dg_dialect *dg_dialect_of(const char *path, const char *dialects)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->prefix && strncmp(path, all[i]->prefix, strlen(all[i]->prefix)) == 0 &&
            dg_dialect_spoken(all[i], dialects))
            return all[i];
    return NULL;
}
