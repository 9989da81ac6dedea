/* Reads the indexes that the services publish. Nothing here uses the network: an index is JSON that
 * the caller has fetched. Any thread. */
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

/* Find a student model of Firefox in the records of its Remote Settings ({"data": [...]}; `base` is
 * the address of attachments), or in the registry that its training writes ({"baseUrl", "models"};
 * base is ignored). pair: "en-de"; architecture "tiny", "base-memory", "base", or NULL: the largest
 * that a desktop gets. The message of DG_ENOTFOUND says how to list the models. */
int dg_firefox_find(const struct dg_json *index, const char *base, const char *pair,
    const char *architecture, struct dg_listing *out, struct dg_error *err);
/* Append one line per model. */
int dg_firefox_list(const struct dg_json *index, struct dg_buffer *out, struct dg_error *err);

/* Argos packages. */
int dg_argos_find(
    const struct dg_json *index, const char *pair, struct dg_listing *out, struct dg_error *err);
int dg_argos_list(const struct dg_json *index, struct dg_buffer *out, struct dg_error *err);

/* Find the files of a hub's repository in the answer of api/models/OWNER/REPO?blobs=true; `hub` is
 * the address before "/OWNER/REPO/resolve/". Only files that a converter reads are taken. */
int dg_hub_find(const struct dg_json *answer, const char *hub, const char *repository,
    struct dg_listing *out, struct dg_error *err);
/* Append a line for each repository opus-mt-SOURCE-TARGET of an api/models answer. */
int dg_hub_list(const struct dg_json *answer, struct dg_buffer *out, struct dg_error *err);

#endif
