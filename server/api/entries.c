#include "server/api/entries.h"

#include "server/glossaries/set.h"
#include "store/csv.h"
#include "store/tmx.h"
#include "store/tsv.h"
#include "text/language_code.h"

#include <string.h>

/* Collects the rows in two languages, and gives them the codes as the request writes them. */
struct taker {
    const struct dg_entries *entries;
    struct dg_pair_list *out;
};

static int take(void *arg, const struct dg_memory_pair *pair, struct dg_error *err)
{
    const struct taker *t = arg;
    struct dg_memory_pair own = *pair;
    if (!dg_language_same(pair->source_lang, t->entries->source) ||
        !dg_language_same(pair->target_lang, t->entries->target))
        return DG_OK;
    own.source_lang = t->entries->source;
    own.target_lang = t->entries->target;
    return dg_pair_list_add(t->out, &own, err);
}

static int read_text(const struct dg_entries *e, const char *s, size_t n, struct dg_pair_list *out,
    struct dg_error *err)
{
    struct taker t = {e, out};
    const char *format = e->format ? e->format : "tsv";
    if (memchr(s, '\0', n))
        return dg_error_set(err, DG_EINVAL, "the text contains the character U+0000");
    if (strcmp(format, "tsv") == 0)
        return dg_tsv_read(s, n, e->source, e->target, take, &t, err);
    if (strcmp(format, "csv") == 0)
        return dg_csv_read(s, n, e->source, e->target, take, &t, err);
    return dg_tmx_read(s, n, take, &t, err);
}

/* White space alone counts as empty, as in the other formats. */
static bool is_empty(const char *s)
{
    return s[strspn(s, " \t\r\n")] == '\0';
}

static int read_object(const struct dg_entries *e, struct dg_pair_list *out, struct dg_error *err)
{
    int rc = DG_OK;
    for (const char *k = dg_json_next_key(e->entries, NULL); k && rc == DG_OK;
         k = dg_json_next_key(e->entries, k)) {
        struct dg_memory_pair p = {e->source, e->target, k, NULL, strlen(k), 0};
        const struct dg_json *target = dg_json_get(e->entries, k);
        p.target = dg_json_string(target, &p.target_len);
        const bool removed = e->may_remove && dg_json_typeof(target) == DG_JSON_NULL;
        if (!removed && (!p.target || memchr(p.target, '\0', p.target_len)))
            rc = dg_error_set(err, DG_EINVAL,
                "the target of \"%.60s\" must be a string without U+0000%s", k,
                e->may_remove ? ", or null" : "");
        else if (is_empty(p.source) || (p.target && is_empty(p.target)))
            rc = dg_error_set(err, DG_EINVAL, "an entry has an empty %s",
                is_empty(p.source) ? "source" : "target");
        else
            rc = dg_pair_list_add(out, &p, err);
    }
    return rc;
}

int dg_entries_read(const struct dg_entries *e, struct dg_pair_list *out, struct dg_error *err)
{
    struct dg_error why = {0};
    char code[DG_MEMORY_LANGUAGE];
    const size_t before = out->n;
    const enum dg_json_type type = dg_json_typeof(e->entries);
    size_t n = 0;
    const char *s = dg_json_string(e->entries, &n);
    int rc = dg_memory_language(e->source, code, &why);
    if (rc == DG_OK)
        rc = dg_memory_language(e->target, code, &why);
    if (rc == DG_OK)
        rc = type == DG_JSON_STRING   ? read_text(e, s, n, out, &why)
             : type == DG_JSON_OBJECT ? read_object(e, out, &why)
                                      : dg_error_set(&why, DG_EINVAL,
                                            "must be a text, or an object of sources with their "
                                            "targets, not %s",
                                            dg_json_type_name(type));
    if (rc == DG_OK && out->n == before)
        rc = dg_error_set(
            &why, DG_EINVAL, "there are no entries from %s to %s", e->source, e->target);
    if (rc == DG_OK)
        return rc;
    return dg_error_field(
        err, rc == DG_EFORMAT ? DG_EINVAL : rc, e->where, "%s: %s", e->where, why.message);
}

int dg_entries_check(
    enum dg_memory_kind kind, const struct dg_pair_list *pairs, struct dg_error *err)
{
    struct dg_glossary_set *set = NULL;
    struct dg_error why = {0};
    if (kind != DG_MEMORY_GLOSSARY)
        return DG_OK;
    int rc = dg_glossary_set_make("of the request", pairs, &set, &why);
    dg_glossary_set_unref(set);
    return rc == DG_OK ? rc : dg_error_field(err, rc, "entries", "%s", why.message);
}

static int write_tsv(void *out, const struct dg_memory_pair *pair, struct dg_error *err)
{
    (void)err;
    dg_tsv_write(pair, out);
    return DG_OK;
}

static int write_csv(void *out, const struct dg_memory_pair *pair, struct dg_error *err)
{
    (void)err;
    dg_csv_write(pair, out);
    return DG_OK;
}

int dg_entries_write(struct dg_memory *m, const char *id, const char *const languages[2],
    const char *accept, const char **type, struct dg_buffer *out, struct dg_error *err)
{
    const bool csv = strcasestr(accept, "text/csv") != NULL;
    *type = csv ? "text/csv; charset=utf-8" : "text/tab-separated-values; charset=utf-8";
    int rc = dg_memory_read(m, id, languages, csv ? write_csv : write_tsv, out, err);
    return rc == DG_OK && out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for entries") : rc;
}
