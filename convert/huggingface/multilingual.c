#include "convert/huggingface/multilingual.h"

#include "base/file.h"
#include "convert/language.h"
#include "tokenizer/spm_processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

/* Languages of M2M-100, of WMT21's models in its format, and of NLLB-200, in the order of their
 * pieces' ids, each followed by a space. */
static const char m2m100[] =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv "
    "mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su "
    "sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu ";
static const char wmt21[] = "en ha is ja cs ru zh de ";
static const char nllb[] =
    "ace_Arab ace_Latn acm_Arab acq_Arab aeb_Arab afr_Latn ajp_Arab aka_Latn amh_Ethi "
    "apc_Arab arb_Arab ars_Arab ary_Arab arz_Arab asm_Beng ast_Latn awa_Deva ayr_Latn "
    "azb_Arab azj_Latn bak_Cyrl bam_Latn ban_Latn bel_Cyrl bem_Latn ben_Beng bho_Deva "
    "bjn_Arab bjn_Latn bod_Tibt bos_Latn bug_Latn bul_Cyrl cat_Latn ceb_Latn ces_Latn "
    "cjk_Latn ckb_Arab crh_Latn cym_Latn dan_Latn deu_Latn dik_Latn dyu_Latn dzo_Tibt "
    "ell_Grek eng_Latn epo_Latn est_Latn eus_Latn ewe_Latn fao_Latn pes_Arab fij_Latn "
    "fin_Latn fon_Latn fra_Latn fur_Latn fuv_Latn gla_Latn gle_Latn glg_Latn grn_Latn "
    "guj_Gujr hat_Latn hau_Latn heb_Hebr hin_Deva hne_Deva hrv_Latn hun_Latn hye_Armn "
    "ibo_Latn ilo_Latn ind_Latn isl_Latn ita_Latn jav_Latn jpn_Jpan kab_Latn kac_Latn "
    "kam_Latn kan_Knda kas_Arab kas_Deva kat_Geor knc_Arab knc_Latn kaz_Cyrl kbp_Latn "
    "kea_Latn khm_Khmr kik_Latn kin_Latn kir_Cyrl kmb_Latn kon_Latn kor_Hang kmr_Latn "
    "lao_Laoo lvs_Latn lij_Latn lim_Latn lin_Latn lit_Latn lmo_Latn ltg_Latn ltz_Latn "
    "lua_Latn lug_Latn luo_Latn lus_Latn mag_Deva mai_Deva mal_Mlym mar_Deva min_Latn "
    "mkd_Cyrl plt_Latn mlt_Latn mni_Beng khk_Cyrl mos_Latn mri_Latn zsm_Latn mya_Mymr "
    "nld_Latn nno_Latn nob_Latn npi_Deva nso_Latn nus_Latn nya_Latn oci_Latn gaz_Latn "
    "ory_Orya pag_Latn pan_Guru pap_Latn pol_Latn por_Latn prs_Arab pbt_Arab quy_Latn "
    "ron_Latn run_Latn rus_Cyrl sag_Latn san_Deva sat_Beng scn_Latn shn_Mymr sin_Sinh "
    "slk_Latn slv_Latn smo_Latn sna_Latn snd_Arab som_Latn sot_Latn spa_Latn als_Latn "
    "srd_Latn srp_Cyrl ssw_Latn sun_Latn swe_Latn swh_Latn szl_Latn tam_Taml tat_Cyrl "
    "tel_Telu tgk_Cyrl tgl_Latn tha_Thai tir_Ethi taq_Latn taq_Tfng tpi_Latn tsn_Latn "
    "tso_Latn tuk_Latn tum_Latn tur_Latn twi_Latn tzm_Tfng uig_Arab ukr_Cyrl umb_Latn "
    "urd_Arab uzn_Latn vec_Latn vie_Latn war_Latn wol_Latn xho_Latn ydd_Hebr yor_Latn "
    "yue_Hant zho_Hans zho_Hant zul_Latn ";

/* ISO 639-3 codes of single languages, each followed by the code that BCP 47 usually uses: that of
 * the wider language which most of its speakers speak in this form. */
static const char usual[] =
    "alssq arbar ayray azjaz gazom khkmn kmrku knckr lvslv npine oryor pbtps pesfa pltmg swhsw "
    "tgltl uznuz yddyi zsmms ";

/* For a language in two scripts, the one that its bare code means. */
static const char bare[] = "ace_Latn bjn_Latn kas_Arab knc_Latn taq_Latn ";

static const char *codes_of(const struct dg_hf_options *o)
{
    if (o->kind == DG_HF_NLLB)
        return nllb;
    return o->language_codes && strcmp(o->language_codes, "wmt21") == 0 ? wmt21 : m2m100;
}

/* Get code i of the list. */
static bool code_at(const char *list, size_t i, char out[16])
{
    for (; i > 0 && *list; i--)
        list += strcspn(list, " ") + 1;
    snprintf(out, 16, "%.*s", (int)strcspn(list, " "), list);
    return out[0] != '\0';
}

/* Has the list ("deu_Latn ...") this language in another script, too? */
static bool has_other_script(const char *list, const char *code)
{
    for (const char *p = strstr(list, "_"); p; p = strchr(p + 1, '_'))
        if (strncmp(p - 3, code, 3) == 0 && strncmp(p + 1, code + 4, 4) != 0)
            return true;
    return false;
}

/* deu_Latn is de, zho_Hans zh-Hans. */
static bool name_nllb(const char *code, char out[DG_LANGUAGE_BYTES])
{
    char plain[16];
    if (strlen(code) != 8 || code[3] != '_')
        return false;
    const bool script = has_other_script(nllb, code) && !strstr(bare, code);
    snprintf(plain, sizeof plain, "%.3s", code);
    for (const char *p = usual; *p; p += 6)
        if (strncmp(p, code, 3) == 0)
            snprintf(plain, sizeof plain, "%.2s", p + 3);
    if (script)
        strcat(plain, code + 3);
    return dg_language_tag(plain, out);
}

bool dg_hf_language_of(
    const struct dg_hf_options *o, const char *piece, char out[DG_LANGUAGE_BYTES])
{
    char code[16];
    const size_t n = strlen(piece);
    const bool framed = n > 4 && n < sizeof code && strncmp(piece, "__", 2) == 0 &&
                        strcmp(piece + n - 2, "__") == 0;
    if (o->kind == DG_HF_NLLB) {
        snprintf(code, sizeof code, "%.8s ", piece);
        return n == 8 && piece[3] == '_' && strstr(nllb, code) && name_nllb(piece, out);
    }
    if (!framed)
        return false;
    snprintf(code, sizeof code, "%.*s", (int)(n - 4), piece + 2);
    /* The only code of the list that ISO 639 gives to another language: Northern Sotho. */
    return dg_language_tag(strcmp(code, "ns") == 0 ? "nso" : code, out);
}

/* Add the languages after the vocabulary, from id `first` on. */
static int add_languages(
    const struct dg_hf_options *o, uint32_t first, struct dg_convert_vocab *v, struct dg_error *err)
{
    char code[16], piece[24];
    for (size_t i = 0; code_at(codes_of(o), i, code); i++) {
        snprintf(piece, sizeof piece, o->kind == DG_HF_NLLB ? "%s" : "__%s__", code);
        if (first + i >= v->size)
            return WRONG("vocab_size",
                "config.json: vocab_size %u has no room for the piece of language %s, id %zu",
                v->size, code, first + i);
        if (v->pieces[first + i])
            return WRONG("vocab", "id %zu is \"%.60s\", expected the language %s", first + i,
                v->pieces[first + i], piece);
        if (!(v->pieces[first + i] = dg_arena_strdup(&v->arena, piece)))
            return dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    return 0;
}

/* Take fairseq's four first pieces, then the SentencePiece model's from id 3 on. */
static int take_spm(
    const char *path, struct dg_convert_vocab *v, uint32_t *n_pieces, struct dg_error *err)
{
    static const char *const first[] = {"<s>", "<pad>", "</s>", "<unk>"};
    struct dg_spm *spm = NULL;
    int rc = dg_spm_open(path, &spm, err);
    const int32_t size = rc ? 0 : dg_spm_size(spm);
    *n_pieces = (uint32_t)size + 1;
    if (!rc && (size < 4 || (uint32_t)size >= v->size))
        rc = WRONG(
            "vocab_size", "%s has %d pieces, config.json's vocab_size is %u", path, size, v->size);
    for (int32_t i = 0; i <= size && !rc; i++) {
        size_t n = i < 4 ? strlen(first[i]) : 0;
        const char *piece = i < 4 ? first[i] : dg_spm_piece(spm, i - 1, &n);
        if (!(v->pieces[i] = dg_arena_strndup(&v->arena, piece, n)))
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a vocabulary");
    }
    dg_spm_close(spm);
    return rc;
}

int dg_hf_multilingual_vocab(const struct dg_hf_options *o, const char *dir, const char *spm,
    uint32_t size, struct dg_convert_vocab *v, struct dg_error *err)
{
    char *path = dg_file_join(dir, "vocab.json");
    uint32_t n_pieces = 0;
    int rc = path ? dg_convert_vocab_init(v, size, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    if (!rc)
        rc = o->kind == DG_HF_NLLB ? take_spm(spm, v, &n_pieces, err)
                                   : dg_hf_vocab_take(path, v, &n_pieces, err);
    if (!rc)
        rc = add_languages(o, n_pieces, v, err);
    if (!rc)
        rc = dg_hf_vocab_fill(v, o->kind == DG_HF_NLLB ? spm : path, err);
    free(path);
    return rc;
}
