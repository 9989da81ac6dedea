#include "text/numbers/number_words.h"

#include "text/scan.h"
#include "text/word_language.h"

#include <string.h>
#include <strings.h>

/* [v - 1] parts of words that say v, between blanks. "=" before a part: the word has
 * nothing else. ASCII letters match in any case, so that a part with others is listed in small
 * letters and in capitals. */
/* clang-format off */
static const char *const lists[DG_WORD_LANGUAGES][DG_NUMBER_WORDS_LAST] = {
    [DG_ENGLISH] = {
        " one once first single =a =an half third quarter thousand =jan january ½ ⅓ ¼ ",
        " two twice second both half halv pair couple double twin =feb february ½ ⅔ ",
        " three thrice third triple quarter =mar =march ⅓ ⅔ ¾ ",
        " four quart =apr april ¼ ¾ ",
        " five fifth =may ",
        " six =jun june ",
        " seven =jul july ",
        " eight =aug august ",
        " nine ninth =sep =sept september ",
        " ten tenth decade =oct october ",
        " eleven =nov november ",
        " twel dozen =dec december noon midday midnight ",
    },
    [DG_GERMAN] = {
        " ein erst halb hälfte HÄLFTE drittel viertel tausend =jan januar jänner JÄNNER ½ ⅓ ¼ ",
        " zwei zwo beid halb hälfte HÄLFTE paar doppel =feb februar feber ½ ⅔ ",
        " drei dritt =mär märz MÄRZ ⅓ ⅔ ¾ ",
        " vier =apr april ¼ ¾ ",
        " fünf FÜNF =mai ",
        " sech =jun juni ",
        " sieb =jul juli ",
        " acht =aug august ",
        " neun =sep =sept september ",
        " zehn =okt oktober ",
        " elf =nov november ",
        " zwölf ZWÖLF dutzend =dez dezember mittag mitternacht ",
    },
    [DG_FRENCH] = {
        " =un =une premi demi moiti tiers quart mille =janv janvier ½ ⅓ ¼ ",
        " deux second demi moiti doubl coupl paire févr FÉVR ½ ⅔ ",
        " trois tiers tripl =mars ⅓ ⅔ ¾ ",
        " quat quart =avr avril ¼ ¾ ",
        " cinq =mai ",
        " six juin ",
        " sept juil ",
        " huit août AOÛT aout ",
        " neuf neuv =sept septembre ",
        " dix diz décenn DÉCENN =oct octobre ",
        " onz =nov novembre ",
        " douz =déc =DÉC décembre DÉCEMBRE midi minuit ",
    },
};
/* clang-format on */

/* True if s[at, end) has no letter before or after it. */
static bool is_word(const char *s, size_t n, size_t at, size_t end)
{
    size_t before = at;
    return !(at > 0 && dg_scan_is_letter(dg_scan_prev(s, 0, &before))) &&
           !dg_scan_is_letter(dg_scan_peek(s, end, n));
}

static bool has_part(const char *s, size_t n, const char *part, size_t len)
{
    const bool whole = part[0] == '=';
    part += whole;
    len -= whole;
    for (size_t at = 0; at + len <= n; at++)
        if ((s[at] | 0x20) == (part[0] | 0x20) && strncasecmp(s + at, part, len) == 0 &&
            (!whole || is_word(s, n, at, at + len)))
            return true;
    return false;
}

bool dg_number_words_find(const char *language, const char *s, size_t n, unsigned *values)
{
    const enum dg_word_language of = dg_word_language_of(language);
    if (of == DG_WORD_LANGUAGES)
        return false;
    *values = 0;
    for (unsigned v = 1; v <= DG_NUMBER_WORDS_LAST; v++) {
        const char *part = lists[of][v - 1] + 1;
        for (size_t len; !(*values & 1U << v) && (len = strcspn(part, " ")) > 0; part += len + 1)
            if (has_part(s, n, part, len))
                *values |= 1U << v;
    }
    return true;
}
