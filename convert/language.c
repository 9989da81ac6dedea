#include "convert/language.h"

#include <ctype.h>
#include <string.h>

/* ISO 639-3 codes followed by the two letters of ISO 639-1, where the standards have both.
 * Mandarin stands for Chinese, as in BCP 47. */
static const char two_letters[] =
    "aaraa abkab afraf akaak amham araar argan asmas avaav aveae aymay azeaz bakba bambm "
    "belbe benbn bisbi bodbo bosbs brebr bulbg catca cescs chach chece chucu chvcv corkw "
    "cosco crecr cymcy danda deude divdv dzodz ellel engen epoeo estet euseu eweee faofo "
    "fasfa fijfj finfi frafr fryfy fulff glagd glega glggl glvgv grngn gujgu hatht hauha "
    "hbssh hebhe herhz hinhi hmoho hrvhr hunhu hyehy iboig idoio iiiii ikuiu ileie inaia "
    "indid ipkik islis itait javjv jpnja kalkl kankn kasks katka kaukr kazkk khmkm kikki "
    "kinrw kirky komkv konkg korko kuakj kurku laolo latla lavlv limli linln litlt ltzlb "
    "lublu luglg mahmh malml marmr mkdmk mlgmg mltmt monmn mrimi msams myamy nauna navnv "
    "nblnr ndend ndong nepne nldnl nnonn nobnb norno nyany ocioc ojioj orior ormom ossos "
    "panpa plipi polpl porpt pusps quequ rohrm ronro runrn rusru sagsg sansa sinsi slksk "
    "slvsl smese smosm snasn sndsd somso sotst spaes sqisq srdsc srpsr sswss sunsu swasw "
    "swesv tahty tamta tattt telte tgktg tgltl thath tirti tonto tsntn tsots tuktk turtr "
    "twitw uigug ukruk urdur uzbuz venve vievi volvo wlnwa wolwo xhoxh yidyi yoryo zhaza "
    "zhozh zulzu "
    "cmnzh ";

/* Write the language s[n] in lower case, or its two-letter code if it has one. Returns the number
 * of bytes. */
static size_t put_language(const char *s, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)s[i]);
    for (const char *p = two_letters; n == 3 && *p; p += 6) {
        if (memcmp(p, out, 3) == 0) {
            memcpy(out, p + 3, 2);
            return 2;
        }
    }
    return n;
}

/* Write regions in capitals (BR), scripts with a capital (Hans), anything else as it is. */
static void put_subtag(const char *s, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++) {
        bool upper = n == 2 || (n == 4 && i == 0), lower = n == 4 && i > 0;
        out[i] = upper   ? (char)toupper((unsigned char)s[i])
                 : lower ? (char)tolower((unsigned char)s[i])
                         : s[i];
    }
}

bool dg_language_tag(const char *code, char out[DG_LANGUAGE_BYTES])
{
    size_t n = strlen(code), at = 0, begin = 0;
    if (n < 1 || n >= DG_LANGUAGE_BYTES)
        return false;
    for (size_t i = 0; i <= n; i++) {
        if (isalnum((unsigned char)code[i]))
            continue;
        if (i == begin || (code[i] != '\0' && code[i] != '_' && code[i] != '-'))
            return false;
        if (begin == 0) {
            at = put_language(code, i, out);
        } else {
            out[at++] = '-';
            put_subtag(code + begin, i - begin, out + at);
            at += i - begin;
        }
        begin = i + 1;
    }
    out[at] = '\0';
    return true;
}
