/* The services that models come from, each by the index that it publishes. Nothing here touches the
 * network: an index is JSON that the caller has fetched. Any thread. */
#ifndef DG_CONVERT_PULL_SOURCES_H
#define DG_CONVERT_PULL_SOURCES_H

#include "base/buffer.h"
#include "base/json.h"
#include "convert/pull/listing.h"

#define DG_FIREFOX_INDEX                                                                           \
    "https://firefox.settings.services.mozilla.com/v1/buckets/main/collections/"                   \
    "translations-models-v2/records"
#define DG_FIREFOX_ATTACHMENTS "https://firefox-settings-attachments.cdn.mozilla.net/"
#define DG_ARGOS_INDEX                                                                             \
    "https://raw.githubusercontent.com/argosopentech/argospm-index/main/index.json"
#define DG_HUB "https://huggingface.co"

/* Firefox's students: records of its Remote Settings ({"data": [...]}; `base` is where attachments
 * are), or the registry that its training writes ({"baseUrl", "models"}; base is not looked at).
 * pair: "en-de"; architecture "tiny", "base-memory", "base", or NULL: the largest that a desktop
 * gets. DG_ENOTFOUND lists alternatives. */
int dg_firefox_find(const struct dg_json *index, const char *base, const char *pair,
    const char *architecture, struct dg_listing *out, struct dg_error *err);
/* Append a line a model. */
int dg_firefox_list(const struct dg_json *index, struct dg_buffer *out, struct dg_error *err);

/* Argos packages. */
int dg_argos_find(
    const struct dg_json *index, const char *pair, struct dg_listing *out, struct dg_error *err);
int dg_argos_list(const struct dg_json *index, struct dg_buffer *out, struct dg_error *err);

/* A repository of a hub, by what its api/models/OWNER/REPO?blobs=true answers; `hub` is the address
 * before "/OWNER/REPO/resolve/". Only files that a converter reads are used. */
int dg_hub_find(const struct dg_json *answer, const char *hub, const char *repository,
    struct dg_listing *out, struct dg_error *err);
/* Append a line for each repository opus-mt-SOURCE-TARGET of an api/models answer. */
int dg_hub_list(const struct dg_json *answer, struct dg_buffer *out, struct dg_error *err);

#endif
