/* The settings of a CTranslate2 directory, under version 6's names. Version 6 has them in
 * config.json. In files of versions 4 and 5, they are variables: unk_token, bos_token and eos_token
 * as texts, and the flags with_source_bos, with_source_eos, with_target_bos and
 * user_decoder_start_tokens. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_CTRANSLATE2_SETTINGS_H
#define DG_CONVERT_CTRANSLATE2_SETTINGS_H

#include "base/json.h"
#include "convert/ctranslate2/reader.h"

/* Read unk_token, bos_token, eos_token, decoder_start_token (null: each call must give it),
 * add_source_bos and add_source_eos, and whatever else config.json has. Before version 6, variables
 * go before config.json, absent ones have CTranslate2's defaults, and config.json may be missing.
 * DG_EFORMAT names a variable. Caller frees *out. */
int dg_ct2_settings_read(
    const char *dir, const struct dg_ct2 *m, struct dg_json **out, struct dg_error *err);

/* Is a variable of this name a setting? */
bool dg_ct2_is_setting(const char *name);

#endif
