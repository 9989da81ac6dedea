#include "text/detect/cld2.h"

#include "text/detect/code.h"

#include <algorithm>
#include <cstdint>
#include <cstdio> // compact_lang_det.h uses FILE without it
#include <cstring>
#include <new>

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

namespace
{

constexpr int MAX_BYTES = 100000;

CLD2::Language by_code(const char *language)
{
    /* The library looks through a list of 600 names. A thread's last answer is kept, because
     * sentence after sentence is in the same language. */
    static thread_local char last[16] = "";
    static thread_local CLD2::Language answer = CLD2::UNKNOWN_LANGUAGE;
    char code[16] = "";
    size_t n = std::strcspn(language, "-_");
    if (n == 0 || n >= sizeof code)
        return CLD2::UNKNOWN_LANGUAGE;
    std::memcpy(code, language, n);
    if (std::strcmp(code, last) != 0) {
        answer = CLD2::GetLanguageFromName(code);
        const char *other = dg_code_other(code, n);
        if (answer == CLD2::UNKNOWN_LANGUAGE && other)
            answer = CLD2::GetLanguageFromName(other);
        std::memcpy(last, code, sizeof last);
    }
    return answer;
}

/* CLD2's answers for this thread's last texts: the same sentences come again, and CLD2 took 7 of
 * the 120 us of a sentence from the answer cache. */
struct Recent {
    /* bytes of text; 0: empty entry */
    size_t n;
    CLD2::Language hint;
    char text[240];
    dg_cld2_result result;
};
constexpr size_t RECENT = 32;
__thread Recent recent[RECENT];

/* The cache entry for a text; null: the text is empty or too long. */
Recent *place_of(const char *text, size_t n, CLD2::Language hint)
{
    if (n == 0 || n > sizeof recent->text)
        return nullptr;
    uint32_t h = 2166136261U + static_cast<uint32_t>(hint); /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ static_cast<unsigned char>(text[i])) * 16777619U;
    return &recent[(h ^ h >> 16) % RECENT];
}

/* Asks the library. False: out of memory, and no language is given. */
bool ask(const char *text, size_t n, CLD2::Language hint, int flags, dg_cld2_result *out)
{
    CLD2::CLDHints hints = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, hint};
    bool memory = true;

    /* The library writes these only if it accepts the whole text, which it does not with control
     * characters. */
    CLD2::Language languages[DG_CLD2_GUESSES];
    std::fill_n(languages, DG_CLD2_GUESSES, CLD2::UNKNOWN_LANGUAGE);
    double scores[DG_CLD2_GUESSES] = {};
    int percents[DG_CLD2_GUESSES] = {}, valid = 0;
    size_t len = n < (size_t)MAX_BYTES ? n : (size_t)MAX_BYTES;
    while (len < n && len > 0 && (static_cast<unsigned char>(text[len]) & 0xC0) == 0x80)
        len--; /* no character is cut */
    out->bytes = 0;
    out->reliable = false;
    CLD2::Language found = CLD2::UNKNOWN_LANGUAGE;
    try {
        found = CLD2::ExtDetectLanguageSummaryCheckUTF8(text, static_cast<int>(len), true, &hints,
            flags, languages, percents, scores, nullptr, &out->bytes, &out->reliable, &valid);
    } catch (const std::bad_alloc &) { /* out of memory: no language */
        std::fill_n(languages, DG_CLD2_GUESSES, CLD2::UNKNOWN_LANGUAGE);
        memory = false;
    }
    const bool known = found != CLD2::UNKNOWN_LANGUAGE;
    out->reliable = out->reliable && known;
    std::snprintf(out->code, sizeof out->code, "%s", known ? CLD2::LanguageCode(found) : "");
    std::memset(out->guesses, 0, sizeof out->guesses);
    int used = 0;
    for (int i = 0; i < DG_CLD2_GUESSES; i++) {
        if (languages[i] == CLD2::UNKNOWN_LANGUAGE)
            continue;
        dg_cld2_guess &guess = out->guesses[used++];
        std::snprintf(guess.code, sizeof guess.code, "%s", CLD2::LanguageCode(languages[i]));
        guess.percent = percents[i];
    }
    return memory;
}

} // namespace

bool dg_cld2_knows(const char *language)
{
    return by_code(language) != CLD2::UNKNOWN_LANGUAGE;
}

void dg_cld2_detect(const char *text, size_t n, const char *hint, struct dg_cld2_result *out)
{
    const CLD2::Language expected = hint ? by_code(hint) : CLD2::UNKNOWN_LANGUAGE;
    Recent *r = hint ? place_of(text, n, expected) : nullptr;
    if (r && r->n == n && r->hint == expected && std::memcmp(r->text, text, n) == 0) {
        *out = r->result;
        return;
    }
    if (!ask(text, n, expected, hint ? 0 : CLD2::kCLDFlagBestEffort, out) || !r)
        return;
    r->n = n;
    r->hint = expected;
    std::memcpy(r->text, text, n);
    r->result = *out;
}
