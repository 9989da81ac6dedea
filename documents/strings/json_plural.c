#include "documents/strings/json_plural.h"

#include "documents/strings/plural_forms.h"

#include <string.h>

/* True if there are forms of numbers, and `other` is a string. */
static bool has_forms(const struct dg_json_plural *f)
{
    const bool bare = f->stem.begin == f->stem.end;
    return f->other.value.end > 0 && dg_plural_has_forms(f->seen) && !(bare && f->other_keys);
}

static int add_form(struct dg_extract *x, struct dg_extract_part *p, const struct dg_json_plural *f,
    const char *category, struct dg_error *err)
{
    struct dg_buffer before = {0};
    if (!dg_plural_lacks(f->seen, category))
        return DG_OK;
    dg_buffer_adds(&before, ",");
    dg_plural_copy_space(p->s, f->key.begin, &before);
    dg_buffer_adds(&before, "\"");
    dg_buffer_add(&before, p->s + f->stem.begin, f->stem.end - f->stem.begin);
    dg_buffer_addf(&before, "%s\"", category);
    dg_buffer_add(&before, p->s + f->key.end, f->other.value.begin - f->key.end);
    const int rc = dg_plural_copy_add(x, p, &f->other, f->other.value.end, &before, "\"", err);
    dg_buffer_deinit(&before);
    return rc;
}

int dg_json_plural_end(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_json_plural *f, struct dg_error *err)
{
    const struct dg_plural_sample *sample = dg_plural_samples(x->target);
    const char *rare = dg_plural_rare(x->target);
    int rc = DG_OK;
    if (!has_forms(f))
        return DG_OK;
    for (; sample->category && rc == DG_OK; sample++)
        rc = add_form(x, p, f, sample->category, err);
    return rc == DG_OK && rare ? add_form(x, p, f, rare, err) : rc;
}

/* Ordinal numbers have other categories: "place_ordinal_one". */
static bool is_ordinal(const char *s, struct dg_span stem)
{
    static const char end[] = "ordinal_";
    const size_t n = sizeof end - 1;
    return stem.end - stem.begin >= n && memcmp(s + stem.end - n, end, n) == 0;
}

int dg_json_plural_read_key(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_json_plural *f, struct dg_span key, struct dg_error *err)
{
    const char *s = p->s;
    const size_t end = key.end - 1;
    size_t at = end;
    while (at > key.begin + 1 && s[at - 1] != '_')
        at--;
    const struct dg_span stem = {key.begin + 1, at};
    unsigned category = dg_plural_category(s + at, end - at);
    if (category < DG_PLURAL_CATEGORIES && is_ordinal(s, stem))
        category = DG_PLURAL_CATEGORIES;
    const size_t n = stem.end - stem.begin;
    const bool same = category < DG_PLURAL_CATEGORIES && f->seen != 0 &&
                      n == f->stem.end - f->stem.begin &&
                      memcmp(s + stem.begin, s + f->stem.begin, n) == 0;
    if (!same) {
        const bool other_keys =
            f->other_keys || f->seen != 0 || category == DG_PLURAL_CATEGORIES || n > 0;
        const int rc = f->stem.begin < f->stem.end ? dg_json_plural_end(x, p, f, err) : DG_OK;
        *f = (struct dg_json_plural){.stem = stem, .other_keys = other_keys};
        if (rc != DG_OK)
            return rc;
    }
    f->at_other = category == DG_PLURAL_OTHER;
    if (category < DG_PLURAL_CATEGORIES)
        f->seen |= 1u << category;
    if (f->at_other)
        f->key = key;
    return DG_OK;
}

void dg_json_plural_read_value(
    struct dg_json_plural *f, const struct dg_extract_part *p, struct dg_span value, size_t first)
{
    if (f->at_other)
        dg_plural_copy_note(&f->other, p, value, first);
    f->at_other = false;
}
