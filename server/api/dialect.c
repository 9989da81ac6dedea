#include "server/api/dialect.h"

#include "server/api/deepl/deepl.h"
#include "server/api/extensions/extensions.h"
#include "server/api/google/google.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/http/reply.h"

#include <stdio.h>
#include <string.h>

static const struct dg_dialect *const all[] = {
    &dg_libretranslate, &dg_deepl, &dg_google, &dg_imme, &dg_kiss, &dg_hcfy, &dg_deeplx};

enum { N_DIALECTS = sizeof all / sizeof *all };

void dg_dialect_error(const struct dg_dialect *dialect, struct dg_http_reply *r, int status,
    const char *code, const char *field, const char *message)
{
    if (dialect)
        dialect->refuse(r, status, message);
    else
        dg_reply_error(r, status, code, field, message);
}

void dg_dialect_reply_error(struct dg_http_exchange *x, const struct dg_dialect *dialect,
    int status, const char *code, const char *message)
{
    struct dg_http_reply r = {0};
    dg_dialect_error(dialect, &r, status, code, NULL, message);
    dg_http_reply_take(x, &r);
}

static bool is_name(const struct dg_dialect *d, const char *word, size_t n)
{
    return strlen(d->name) == n && !strncmp(d->name, word, n);
}

static bool knows(const char *word, size_t n)
{
    for (size_t i = 0; i < N_DIALECTS; i++)
        if (is_name(all[i], word, n))
            return true;
    return false;
}

int dg_dialects_check(const char *dialects, struct dg_error *err)
{
    char names[128] = "";
    if (!strcmp(dialects, "none") || !strcmp(dialects, "all"))
        return DG_OK;
    for (size_t i = 0, at = 0; i < N_DIALECTS; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s, ", all[i]->name);
    for (const char *p = dialects;; p++) {
        const size_t n = strcspn(p, ",");
        if (!knows(p, n))
            return dg_error_field(err, DG_EINVAL, "dialects",
                "dialects has \"%.*s\", expected %sall or none", n < 40 ? (int)n : 40, p, names);
        p += n;
        if (*p == '\0')
            return DG_OK;
    }
}

bool dg_dialect_spoken(const struct dg_dialect *dialect, const char *dialects)
{
    if (!dialect || strcmp(dialects, "all") == 0)
        return true;
    for (const char *p = dialects; *p;) {
        const size_t n = strcspn(p, ",");
        if (is_name(dialect, p, n))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

static bool has_prefix(const struct dg_dialect *d, const char *path)
{
    for (size_t i = 0; d->prefixes[i]; i++)
        if (strncmp(path, d->prefixes[i], strlen(d->prefixes[i])) == 0)
            return true;
    return false;
}

const struct dg_dialect *dg_dialect_of(const char *path, const char *dialects)
{
    for (size_t i = 0; i < N_DIALECTS; i++)
        if (has_prefix(all[i], path) && dg_dialect_spoken(all[i], dialects))
            return all[i];
    return NULL;
}
