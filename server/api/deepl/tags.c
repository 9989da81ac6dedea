#include "server/api/deepl/tags.h"

#include "server/api/deepl/deepl.h"

#include <string.h>

/* Per list: each tag of a text is compared with the names one by one. */
#define MOST_NAMES 256

static size_t count_names(const char *s)
{
    size_t n = 0;
    for (; *s; s += strcspn(s, ", ")) {
        s += strspn(s, ", ");
        n += *s != '\0';
    }
    return n;
}

/* Adds the names of "a,b" to list[*n]; false: memory is out. */
static bool add_names(struct dg_arena *arena, const char *s, const char **list, size_t *n)
{
    while (*(s += strspn(s, ", "))) {
        size_t len = strcspn(s, ", ");
        list[*n] = dg_arena_strndup(arena, s, len);
        if (!list[(*n)++])
            return false;
        s += len;
    }
    return true;
}

/* Reads an array of names, or comma-separated names, which a form may repeat. */
static int read_list(const struct dg_json *o, const char *key, struct dg_arena *arena,
    const char *const **out, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(o, key);
    const bool array = dg_json_typeof(v) == DG_JSON_ARRAY;
    size_t n = 0, most = 0;
    if (!v || dg_json_typeof(v) == DG_JSON_NULL)
        return DG_OK;
    const size_t items = array ? dg_json_length(v) : 1;
    for (size_t i = 0; i < items; i++) {
        const char *s = dg_json_string(array ? dg_json_at(v, i) : v, NULL);
        if (!s)
            return dg_deepl_not_supported(key, err);
        most += count_names(s);
    }
    if (most > MOST_NAMES)
        return dg_error_field(err, DG_EINVAL, key,
            "Value for '%s' not supported: %zu names, the limit is %d.", key, most, MOST_NAMES);
    const char **list = dg_arena_array(arena, most + 1, sizeof *list);
    for (size_t i = 0; list && i < items; i++)
        if (!add_names(arena, dg_json_string(array ? dg_json_at(v, i) : v, NULL), list, &n))
            list = NULL;
    *out = list;
    return list ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a list of tags");
}

/* Reads the lists; without tag_handling they have no effect, but they are checked. */
static int read_lists(
    const struct dg_json *o, struct dg_arena *arena, struct dg_markup *m, struct dg_error *err)
{
    int rc = read_list(o, "splitting_tags", arena, &m->splitting, err);
    if (rc == DG_OK)
        rc = read_list(o, "non_splitting_tags", arena, &m->non_splitting, err);
    return rc == DG_OK ? read_list(o, "ignore_tags", arena, &m->ignored, err) : rc;
}

/* The requested version changes nothing; with tag_handling the answer repeats it. */
static int read_version(const struct dg_json *o, bool *first, struct dg_error *err)
{
    const struct dg_json *v = dg_deepl_option(o, "tag_handling_version");
    const char *version = dg_json_string(v, NULL);
    *first = version && strcmp(version, "v1") == 0;
    if (!v || *first || (version && strcmp(version, "v2") == 0))
        return DG_OK;
    return dg_deepl_not_supported("tag_handling_version", err);
}

int dg_deepl_read_tags(const struct dg_json *o, struct dg_arena *arena,
    struct dg_request_options *out, bool *first, struct dg_error *err)
{
    const struct dg_json *v = dg_deepl_option(o, "tag_handling");
    const char *handling = dg_json_string(v, NULL);
    struct dg_markup *m = dg_arena_alloc(arena, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for a request");
    int rc = read_lists(o, arena, m, err);
    if (rc == DG_OK)
        rc = read_version(o, first, err);
    if (rc != DG_OK || !v)
        return rc;
    if (handling && strcmp(handling, "html") == 0)
        out->format = DG_FORMAT_HTML;
    else if (handling && strcmp(handling, "xml") == 0)
        out->format = DG_FORMAT_XML;
    else if (handling && strcmp(handling, "off") == 0)
        return DG_OK; /* what clients with a menu of three send */
    else
        return dg_deepl_not_supported("tag_handling", err);
    m->no_outline =
        dg_deepl_option(o, "outline_detection") && !dg_deepl_is_true(o, "outline_detection");
    out->markup = m;
    return DG_OK;
}
