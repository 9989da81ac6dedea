#include "documents/declared_language.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_CODES 10000 /* of a file, which bounds their memory; the rest stays */

void dg_declared_language_init(struct dg_extract *x)
{
    static const char asian[] = "Hans Hant Hani Jpan Kore", complex[] = "Arab Hebr Syrc Thaa Nkoo";
    struct dg_language_region *r = &x->region;
    for (size_t i = 0; x->target[i]; i++)
        x->program_locale[i] = x->target[i] == '-' ? '_' : x->target[i];
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
    for (size_t i = 0; i < n; i++) /* "{{ page.lang }}" and "<?= $lang ?>" are of templates */
        if (!isalnum((unsigned char)s[i]) && s[i] != '-' && s[i] != '_')
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
    if (x->n_codes == MOST_CODES)
        return DG_OK;
    x->n_codes++;
    return dg_segment_add_bytes(x, p, (struct dg_span){begin, end}, DG_WRITE_SETTING, is, err);
}

int dg_declared_language_add(
    struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end, struct dg_error *err)
{
    begin = dg_scan_skip_space(p->s, begin, end);
    end = dg_scan_trim_space(p->s, begin, end);
    return dg_declared_language_differs(p->s + begin, end - begin, x->target)
               ? dg_declared_language_write(x, p, begin, end, x->target, err)
               : DG_OK;
}
