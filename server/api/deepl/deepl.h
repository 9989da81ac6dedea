/* DeepL's API v2 and v3, so that its clients need only another URL. Texts, documents, glossaries,
 * pages. Unsupported options (formality, styles) are refused as DeepL refuses them. Errors are
 * {"message": a sentence}. HTTP threads; answers as side.h has them. */
#ifndef DG_SERVER_API_DEEPL_DEEPL_H
#define DG_SERVER_API_DEEPL_DEEPL_H

#include "server/api/dialect.h"
#include "server/api/endpoints.h"
#include "server/api/side.h"

extern const struct dg_dialect dg_deepl;
extern const struct dg_endpoint dg_deepl_translate;

/* Documents: 403 unless --documents enables them. */
void dg_deepl_document(struct dg_app *app, struct dg_http_exchange *x);
void dg_deepl_document_status(struct dg_app *app, struct dg_http_exchange *x);
void dg_deepl_document_result(struct dg_app *app, struct dg_http_exchange *x);
/* /v2/glossaries and /v3/glossaries: the same answers for both; the path says which. */
dg_side_answer dg_deepl_glossaries_list, dg_deepl_glossary_make, dg_deepl_glossary_get,
    dg_deepl_glossary_change, dg_deepl_glossary_remove, dg_deepl_glossary_entries,
    dg_deepl_dictionary_remove;
/* GET /v3/translation_memories, and a single one. */
dg_side_answer dg_deepl_memories_list, dg_deepl_memory_get;
/* GET /v2/glossary-language-pairs. */
void dg_deepl_glossary_pairs(struct dg_app *app, struct dg_http_exchange *x);
void dg_deepl_languages(struct dg_app *app, struct dg_http_exchange *x);
void dg_deepl_usage(struct dg_app *app, struct dg_http_exchange *x);
/* GET /v3/languages, /v3/languages/resources. */
void dg_deepl_resource_languages(struct dg_app *app, struct dg_http_exchange *x);
void dg_deepl_resources(struct dg_app *app, struct dg_http_exchange *x);

/* Fill r with an error. */
void dg_deepl_fail(struct dg_http_reply *r, const struct dg_error *err);
/* The same for a document, glossary or memory: DG_ENOTFOUND gives 404, DG_EUNSUP gives 415. */
void dg_deepl_fail_resource(struct dg_http_reply *r, const struct dg_error *err);
/* Fill r with a value (NULL with status 204), taken, or with err if its code is not DG_OK. */
void dg_deepl_reply_take(
    struct dg_http_reply *r, int status, struct dg_json *value, const struct dg_error *err);
/* Set err to DeepL's words for a parameter with a wrong value; returns DG_EINVAL. */
int dg_deepl_not_supported(const char *key, struct dg_error *err);

/* A parameter that may be left out; NULL: absent, null, or an empty string, which forms send for a
 * field left open. */
const struct dg_json *dg_deepl_option(const struct dg_json *o, const char *key);
/* Is a parameter true or 1 in JSON, "1" or "true" in a form? */
bool dg_deepl_is_true(const struct dg_json *o, const char *key);

/* Read source_lang and target_lang as served codes, the arena's; *source NULL: to be detected.
 * DG_EINVAL with DeepL's message. */
int dg_deepl_read_languages(struct dg_models *models, struct dg_arena *arena,
    const struct dg_json *o, const char **source, const char **target, struct dg_error *err);
/* Refuse options that would change the answer but are not supported: DG_EINVAL. */
int dg_deepl_check_options(const struct dg_json *o, const char *target, struct dg_error *err);

/* DeepL's names of a served target language in out, which borrows them; returns their number. It is
 * the code itself, except for English and Portuguese: there DeepL's clients accept only the
 * varieties. */
size_t dg_deepl_varieties(const char *code, const char *out[2]);

/* A code as DeepL writes it: in capitals. */
void dg_deepl_code(const char *code, char out[36]);

#endif
