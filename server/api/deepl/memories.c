/* GET /v3/translation_memories and a single one: the sentences of /v1/memories, as DeepL describes
 * them. They apply without being named; a request that names one (translation_memory_id) is
 * refused. */
#include "server/api/answer.h"
#include "server/api/deepl/deepl.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/api/side.h"
#include "server/glossaries/collections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 10
#define MOST_OF_PAGE 25

/* *out stays NULL for a memory without sentences, because DeepL's description needs a source
 * language. A memory with several source languages is described by the first. */
static int describe(
    struct dg_memory *m, const struct dg_memory_info *i, struct dg_json **out, struct dg_error *err)
{
    struct dg_memory_dictionary *list;
    int64_t segments = 0;
    size_t n;
    int rc = dg_memory_dictionaries(m, i->id, &list, &n, err);
    if (rc != DG_OK || n == 0) {
        free(list);
        return rc;
    }
    struct dg_json *o = dg_json_new_object(), *targets = dg_json_new_array();
    for (size_t k = 0; k < n && strcmp(list[k].source_lang, list[0].source_lang) == 0; k++) {
        const char *target = list[k].target_lang;
        dg_json_append_take(targets, dg_json_new_string(target, strlen(target)));
        segments += list[k].pairs;
    }
    dg_json_set_string(o, "translation_memory_id", i->id);
    dg_json_set_string(o, "name", i->name);
    dg_json_set_string(o, "source_language", list[0].source_lang);
    dg_json_set_take(o, "target_languages", targets);
    dg_json_set_int(o, "segment_count", segments);
    dg_answer_time(o, "creation_time", i->created_s, ".000Z");
    free(list);
    *out = o;
    return rc;
}

/* Reads a number from the query; *out stays as it is if there is none. */
static int read_number(
    const struct dg_json *o, const char *key, long min, long max, long *out, struct dg_error *err)
{
    const char *s = dg_parameter_string(o, key);
    char *end = NULL;
    if (!dg_parameter(o, key))
        return DG_OK;
    errno = 0;
    const long v = s ? strtol(s, &end, 10) : -1;
    if (!s || end == s || *end || errno || v < min || v > max)
        return dg_deepl_not_supported(key, err);
    *out = v;
    return DG_OK;
}

static int list(const struct dg_side *s, struct dg_memory *m, const long page[2],
    struct dg_json *root, struct dg_error *err)
{
    struct dg_memory_info *infos;
    struct dg_json *all = dg_json_new_array();
    size_t n;
    long count = 0;
    int rc = dg_memory_list(m, DG_MEMORY_SENTENCES, s->owner, &infos, &n, err);
    for (size_t i = 0; rc == DG_OK && i < n; i++) {
        struct dg_json *o = NULL;
        rc = describe(m, &infos[i], &o, err);
        if (o && count / page[1] == page[0])
            dg_json_append_take(all, o);
        else
            dg_json_free(o);
        count += o != NULL;
    }
    free(infos);
    dg_json_set_take(root, "translation_memories", all);
    dg_json_set_int(root, "total_count", count);
    return rc;
}

void dg_deepl_memories_list(const struct dg_side *s, struct dg_http_reply *r)
{
    struct dg_json *root = dg_json_new_object(), *query = NULL;
    struct dg_error err = {0};
    long page[2] = {0, PAGE};
    int rc = dg_parameters_read(s->request, &query, NULL, &err);
    if (rc == DG_OK)
        rc = read_number(query, "page", 0, DG_MEMORY_COLLECTIONS, &page[0], &err);
    if (rc == DG_OK)
        rc = read_number(query, "page_size", 1, MOST_OF_PAGE, &page[1], &err);
    if (rc == DG_OK) {
        struct dg_memory *m = dg_collections_take_reader(s->app->collections);
        list(s, m, page, root, &err);
        dg_collections_give_reader(s->app->collections);
    }
    dg_json_free(query);
    dg_deepl_reply_take(r, 200, root, &err);
}

void dg_deepl_memory_get(const struct dg_side *s, struct dg_http_reply *r)
{
    char id[DG_MEMORY_ID];
    struct dg_memory_info info;
    struct dg_json *root = NULL;
    struct dg_error err = {0};
    dg_routes_id(s->request->path, id, sizeof id);
    struct dg_memory *m = dg_collections_take_reader(s->app->collections);
    int rc = dg_memory_get(m, DG_MEMORY_SENTENCES, s->owner, id, &info, &err);
    if (rc == DG_OK)
        rc = describe(m, &info, &root, &err);
    dg_collections_give_reader(s->app->collections);
    if (rc == DG_OK && !root)
        dg_error_set(&err, DG_ENOTFOUND, "the translation memory has no segments");
    dg_deepl_reply_take(r, 200, root, &err);
}
