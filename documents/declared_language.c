#include "documents/declared_language.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_CODES 10000 /* of a file, which bounds their memory; the rest stays */

void dg_declared_language_init(struct dg_extract *x)
{
    static const char asian[] = "Hans Hant Hani Jpan Kore", complex[] = "Arab Hebr Syrc Thaa Nkoo";
    struct dg_language_region *r = &x->region;
    if (!dg_language_region(x->target, r) || !r->script[0]) {
        snprintf(x->locale, sizeof x->locale, "%s", x->target);
        return;
    }
    snprintf(x->locale, sizeof x->locale, "%s-%s", r->language, r->region);
    x->scripts = strstr(asian, r->script)     ? DG_SCRIPTS_ASIAN
                 : strstr(complex, r->script) ? DG_SCRIPTS_COMPLEX
                                              : DG_SCRIPTS_WESTERN;
}

bool dg_declared_language_differs(const char *s, size_t n, const char *target)
{
    static const char *const none[] = {"zxx", "none", "x-none"};
    char code[DG_LANGUAGE_MAX];
    if (n < 2 || n >= sizeof code)
        return false;
    memcpy(code, s, n);
    code[n] = '\0';
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcasecmp(code, none[i]) == 0)
            return false;
    return !dg_language_same(code, target);
}

int dg_declared_language_write(struct dg_extract *x, struct dg_extract_part *p, size_t begin,
    size_t end, const char *is, struct dg_error *err)
{
    const struct dg_segment like = {.begin = begin, .end = end, .writing = DG_WRITE_SETTING};
    if (x->n_codes == MOST_CODES)
        return DG_OK;
    x->n_codes++;
    struct dg_segment *g = dg_segment_add(x, p, like, NULL, 0, err);
    if (!g || !(g->before = strdup(is)))
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return DG_OK;
}

int dg_declared_language_add(
    struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end, struct dg_error *err)
{
    return dg_declared_language_differs(p->s + begin, end - begin, x->target)
               ? dg_declared_language_write(x, p, begin, end, x->target, err)
               : DG_OK;
}
