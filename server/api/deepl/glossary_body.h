/* Bodies of requests about DeepL's glossaries: a name, and dictionaries, each for a language pair
 * of a model of this server. Other keys of a body are ignored, as DeepL does. Runs on the thread of
 * dg_collections_post. */
#ifndef DG_SERVER_API_DEEPL_GLOSSARY_BODY_H
#define DG_SERVER_API_DEEPL_GLOSSARY_BODY_H

#include "base/json.h"
#include "server/api/side.h"
#include "store/pair_list.h"

struct dg_deepl_glossary_body {
    /* [n_existing] dictionaries of the glossary that the body changes, set before it is read:
     * languages that one of them has keep its codes. Others get this server's. */
    const struct dg_memory_dictionary *existing;
    size_t n_existing;
    struct dg_json *json;
    /* NULL: not given; borrowed from json */
    const char *name;
    struct dg_pair_list pairs;
};

/* Contents of a body. */
enum dg_deepl_glossary_form {
    DG_DEEPL_MONOLINGUAL,  /* v2: name and one dictionary's fields */
    DG_DEEPL_MULTILINGUAL, /* v3: name and dictionaries */
    DG_DEEPL_CHANGE,       /* v3: a name, dictionaries, both or nothing */
    DG_DEEPL_DICTIONARY,   /* v3: one dictionary's fields, without a name */
};

/* Read the body; but for its dictionaries, b is zero before. The caller deinits b in every case.
 * DG_EINVAL, DG_ELIMIT with DeepL's messages; DG_EUNSUP: v3 accepts only JSON
 * and forms. */
int dg_deepl_glossary_read(const struct dg_side *s, enum dg_deepl_glossary_form form,
    struct dg_deepl_glossary_body *b, struct dg_error *err);
void dg_deepl_glossary_body_deinit(struct dg_deepl_glossary_body *b);

/* Read source_lang and target_lang from the query; languages borrows from *out, which the caller
 * frees. DG_EINVAL. */
int dg_deepl_glossary_query(
    const struct dg_side *s, struct dg_json **out, const char *languages[2], struct dg_error *err);

#endif
