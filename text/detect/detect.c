#include "text/detect/detect.h"

#include "text/detect/cld2.h"
#include "text/detect/code.h"
#include "text/detect/langcheck.h"
#include "text/detect/model.h"
#include "text/scan.h"

#include <math.h>
#include <string.h>
#include <unicode/uscript.h>

enum {
    MAX_CANDIDATES = 256, /* languages; others are ignored */
    MAX_SCRIPT_BYTES = 1000,
    MAX_SCRIPTS = 16,
    MAX_CODE = 24,       /* maximum bytes of a language code whose script is cached */
    FOREIGN_LETTERS = 6, /* fewer may be a symbol or a unit */
    DOUBT_WORDS = 3,
};
/* A language this improbable contradicts the text. Of texts of three words in the language stated
 * 0.07 % fall below it, of those in another language 93 %; of whole sentences 0.01 and 99.6 %
 * (newstest2013, FLORES dev and Multi30k val in English, German and French). */
#define DOUBT 0.002

/* The script of most letters of the text; USCRIPT_COMMON: it has none. *letters: how many. */
static UScriptCode main_script(const char *s, size_t n, size_t *letters)
{
    UScriptCode scripts[MAX_SCRIPTS], best = USCRIPT_COMMON;
    size_t counts[MAX_SCRIPTS], n_scripts = 0;
    *letters = 0;
    for (size_t at = 0; at < n && at < MAX_SCRIPT_BYTES;) {
        UErrorCode status = U_ZERO_ERROR;
        UChar32 c = dg_scan_next(s, n, &at);
        size_t i = 0;
        if (c < 0 || !dg_scan_is_letter(c))
            continue;
        const UScriptCode script = c < 0x80 ? USCRIPT_LATIN : uscript_getScript(c, &status);
        while (i < n_scripts && scripts[i] != script)
            i++;
        if (i == MAX_SCRIPTS)
            continue;
        if (i == n_scripts) {
            scripts[n_scripts] = script;
            counts[n_scripts++] = 0;
        }
        if (++counts[i] > *letters) {
            *letters = counts[i];
            best = script;
        }
    }
    return best;
}

/* True if ICU's locale data list the script for the language; a language that ICU does not know may
 * have any script. */
static bool has_script(const char *language, UScriptCode script)
{
    UScriptCode scripts[MAX_SCRIPTS];
    UErrorCode status = U_ZERO_ERROR;
    const int32_t n = uscript_getCode(language, scripts, MAX_SCRIPTS, &status);
    if (U_FAILURE(status) || n == 0)
        return true;
    for (int32_t i = 0; i < n; i++)
        if (scripts[i] == script)
            return true;
    return false;
}

/* has_script with a cache of this thread's last answer: has_script opens a locale each time, and
 * consecutive sentences are in the same language. */
static bool written_in(const char *language, UScriptCode script)
{
    static _Thread_local struct {
        char language[MAX_CODE];
        UScriptCode script;
        bool answer;
    } last;
    const size_t n = strlen(language);
    if (n == 0 || n >= sizeof last.language)
        return has_script(language, script);
    if (strcmp(language, last.language) != 0 || script != last.script) {
        memcpy(last.language, language, n + 1);
        last.script = script;
        last.answer = has_script(language, script);
    }
    return last.answer;
}

/* Index of the language in the model; m->n if the model does not know it. */
static size_t in_model(const struct dg_detect_model *m, const char *language)
{
    size_t i = 0;
    while (i < m->n && !dg_code_same(m->codes[i], language))
        i++;
    return i;
}

/* Compute the probabilities p[m->n]; returns the number of words used. */
static size_t ask_model(const struct dg_detect_model *m, const char *text, size_t len, double *p)
{
    double max = -INFINITY, sum = 0;
    const size_t words = dg_detect_model_logits(m, text, len, p);
    for (size_t i = 0; i < m->n; i++)
        max = p[i] > max ? p[i] : max;
    for (size_t i = 0; i < m->n; i++)
        sum += p[i] = exp(p[i] - max);
    for (size_t i = 0; i < m->n; i++)
        p[i] /= sum;
    return words;
}

/* Decide by CLD2 among candidates that the model does not all know; false: CLD2 names none of
 * them. */
static bool ask_cld2(const char *const *languages, const size_t *candidates, size_t n,
    const char *text, size_t len, struct dg_detected *out)
{
    struct dg_cld2_result r;
    dg_cld2_detect(text, len, NULL, &r);
    for (size_t g = 0; g < DG_CLD2_GUESSES && r.guesses[g].code[0]; g++)
        for (size_t i = 0; i < n; i++)
            if (dg_code_same(languages[candidates[i]], r.guesses[g].code)) {
                out->language = candidates[i];
                out->confidence = r.reliable ? r.guesses[g].percent : r.guesses[g].percent / 2;
                return true;
            }
    return false;
}

void dg_detect(
    const char *const *languages, size_t n, const char *text, size_t len, struct dg_detected *out)
{
    struct dg_detect_model model;
    double p[DG_DETECT_LANGUAGES], best = -1;
    size_t candidates[MAX_CANDIDATES], n_candidates = 0, known = 0;
    size_t letters;
    const UScriptCode script = main_script(text, len, &letters);
    memset(out, 0, sizeof *out);
    if (script == USCRIPT_COMMON)
        return;
    dg_detect_model_builtin(&model);
    for (size_t i = 0; i < n && n_candidates < MAX_CANDIDATES; i++)
        if (written_in(languages[i], script)) {
            candidates[n_candidates++] = i;
            known += in_model(&model, languages[i]) < model.n;
        }
    out->doubtful = n_candidates == 0;
    if (n_candidates == 0)
        return;
    out->language = candidates[0];
    const bool by_cld2 =
        known < n_candidates && ask_cld2(languages, candidates, n_candidates, text, len, out);
    if (!by_cld2 && known > 0) {
        ask_model(&model, text, len, p);
        for (size_t i = 0; i < n_candidates; i++) {
            const size_t at = in_model(&model, languages[candidates[i]]);
            if (at < model.n && p[at] > best) {
                best = p[at];
                out->language = candidates[i];
                out->confidence = (int)lrint(100 * best);
            }
        }
    }
    out->doubtful = dg_detect_contradicts(languages[out->language], text, len);
    if (out->doubtful)
        out->confidence = 0;
}

bool dg_detect_contradicts(const char *language, const char *text, size_t len)
{
    struct dg_detect_model model;
    double p[DG_DETECT_LANGUAGES];
    size_t letters;
    const UScriptCode script = main_script(text, len, &letters);
    if (letters >= FOREIGN_LETTERS && !written_in(language, script))
        return true;
    if (dg_langcheck_wrong(text, len, language))
        return true;
    dg_detect_model_builtin(&model);
    const size_t at = in_model(&model, language);
    return at < model.n && ask_model(&model, text, len, p) >= DOUBT_WORDS && p[at] < DOUBT;
}
