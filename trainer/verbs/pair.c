#include "trainer/verbs/pair.h"

#include "base/buffer.h"
#include "text/language_code.h"

/* As many as a message has room for. */
enum { NAMED = 8 };

static bool fits(const char *wanted, const char *code)
{
    return !wanted || dg_language_distance(wanted, code) == 0;
}

int dg_pair_find(const struct dg_bundle *b, const char *from, const char *to, const char **source,
    const char **target, struct dg_error *err)
{
    struct dg_buffer names;
    size_t n = 0;
    int rc = 0;
    dg_buffer_init(&names);
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        const char *s, *t;
        dg_bundle_pair(b, i, &s, &t);
        if (!fits(from, s) || !fits(to, t))
            continue;
        if (n++ == 0) {
            *source = s;
            *target = t;
        }
        if (n <= NAMED)
            dg_buffer_addf(&names, "%s%s-%s", n > 1 ? ", " : "", s, t);
    }
    if (!n)
        rc = dg_error_set(err, DG_EINVAL, "%s does not translate%s%s%s%s", dg_bundle_name(b),
            from ? " from " : "", from ? from : "", to ? " to " : "", to ? to : "");
    else if (n > 1)
        rc = dg_error_set(err, DG_EINVAL, "%s translates %s%s: choose with --from and --to",
            dg_bundle_name(b), names.data ? names.data : "", n > NAMED ? ", ..." : "");
    dg_buffer_deinit(&names);
    return rc;
}
