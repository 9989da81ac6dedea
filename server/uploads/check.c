#include "server/uploads/check.h"

#include "server/config.h"
#include "server/glossaries/collections.h"
#include "server/glossaries/glossaries.h"
#include "server/models/listing.h"
#include "server/models/models.h"
#include "text/detect/detect.h"
#include "text/utf8.h"
#include "translate/translator/way_back.h"

#include <stdio.h>
#include <string.h>

#define DETECTED_BYTES 4000 /* of the first texts, to detect their language */

struct dg_extract_limits dg_upload_limits(size_t text_bytes)
{
    return (struct dg_extract_limits){.file_bytes = DG_UPLOAD_MOST_BYTES,
        .unpacked_bytes = DG_UPLOAD_MOST_BYTES,
        .tags = 2u << 20,
        .texts = 50000,
        .text_bytes = text_bytes};
}

/* Detects the language of the document's first texts. */
static void find_source(
    const struct dg_app *app, const struct dg_extract *x, char out[DG_UPLOAD_LANGUAGE])
{
    struct dg_model_languages sources;
    struct dg_detected d;
    struct dg_buffer text;
    struct dg_extract_text t;
    dg_models_languages(app->models, DG_SOURCES, &sources);
    dg_buffer_init(&text);
    for (size_t i = 0; i < dg_extract_count(x) && text.len < DETECTED_BYTES; i++) {
        dg_extract_text(x, i, &t);
        dg_buffer_add(&text, t.s, t.n);
        dg_buffer_adds(&text, "\n");
    }
    dg_detect(sources.codes, sources.n, text.data ? text.data : "", text.len, &d);
    snprintf(out, DG_UPLOAD_LANGUAGE, "%s", sources.codes[d.language]);
    dg_buffer_deinit(&text);
}

/* Checks that a single model translates the pair, which glossaries require, and that the glossary
 * has entries for it. */
static int check_glossary(const struct dg_app *app, const struct dg_upload *made,
    const struct dg_way *way, struct dg_error *err)
{
    struct dg_glossary_set *set = dg_glossaries_find(app->glossaries, made->glossary);
    struct dg_error why = {0};
    int rc = DG_OK;
    if (!set)
        rc = dg_collections_glossary(app->collections, made->owner, made->glossary, &set, &why);
    if (rc != DG_OK)
        rc = dg_error_field(err, rc, "glossary", "glossary: %.400s", why.message);
    else if (way->n > 1)
        rc = dg_error_field(err, DG_EINVAL, "glossary",
            "glossary: %s is translated to %s through %s, and pivot translation does not "
            "support glossaries",
            way->hops[0].pair[0], way->hops[1].pair[1], way->hops[0].pair[1]);
    else if (!way->same && !dg_glossary_set_pair(set, way->hops[0].pair[0], way->hops[0].pair[1]))
        rc = dg_error_field(err, DG_EINVAL, "glossary",
            "glossary: \"%s\" has no entries for %s to %s", made->glossary, way->hops[0].pair[0],
            way->hops[0].pair[1]);
    dg_glossary_set_unref(set);
    return rc;
}

/* Checks that the last model can read its answers back. */
static int check_rerank(const struct dg_way *way, struct dg_error *err)
{
    const struct dg_search usual = {.alpha = -1};
    size_t back;
    if (way->same)
        return DG_OK;
    const struct dg_bundle *last = way->hops[way->n - 1].listing->bundle;
    const char *const *pair = way->hops[way->n - 1].pair;
    return dg_way_back_find(last, &usual, pair[0], pair[1], &back, err);
}

int dg_upload_check(const struct dg_app *app, const struct dg_upload_order *o,
    struct dg_upload *made, struct dg_error *err)
{
    struct dg_extract *x = NULL;
    struct dg_extract_text t;
    struct dg_way way;
    const int64_t most = app->config.max_batch_characters;
    const struct dg_extract_limits limits = dg_upload_limits(4 * (size_t)most + 1024);
    int rc = dg_extract_open(o->name, o->bytes, o->n, o->target, &limits, &x, err);
    for (size_t i = 0; rc == DG_OK && i < dg_extract_count(x); i++) {
        dg_extract_text(x, i, &t);
        made->characters += (int64_t)dg_utf8_count(t.s, t.n);
    }
    if (rc == DG_OK && made->characters > most)
        rc = dg_error_field(err, DG_ELIMIT, "file",
            "the document has %lld characters, the limit is %lld", (long long)made->characters,
            (long long)most);
    snprintf(made->target, sizeof made->target, "%s", o->target);
    snprintf(made->source, sizeof made->source, "%s", o->source ? o->source : "");
    if (rc == DG_OK && !o->source)
        find_source(app, x, made->source);
    dg_extract_close(x);
    if (rc == DG_OK)
        rc = dg_models_way(app->models, made->source, made->target, true, &way, err);
    if (rc != DG_OK)
        return rc;
    if (o->glossary && strlen(o->glossary) >= sizeof made->glossary)
        rc = dg_error_field(err, DG_ENOTFOUND, "glossary", "glossary: no glossary has this name");
    else if (o->glossary) {
        snprintf(made->glossary, sizeof made->glossary, "%s", o->glossary);
        rc = check_glossary(app, made, &way, err);
    }
    made->rerank = o->rerank;
    if (rc == DG_OK && o->rerank)
        rc = check_rerank(&way, err);
    dg_way_release(&way);
    return rc;
}
