#include "text/language_code.h"

#include <ctype.h>
#include <string.h>

/* ISO 639-2 (both its terminology and its bibliographic codes), each followed by its ISO 639-1
 * code; sorted. */
static const char three_to_two[] =
    "aaraa abkab afraf akaak albsq amham araar argan armhy asmas avaav aveae aymay azeaz "
    "bakba bambm baqeu belbe benbn bihbh bisbi bodbo bosbs brebr bulbg burmy catca cescs "
    "chach chece chizh chucu chvcv corkw cosco crecr cymcy czecs danda deude divdv dutnl "
    "dzodz ellel engen epoeo estet euseu eweee faofo fasfa fijfj finfi frafr frefr fryfy "
    "fulff geoka gerde glagd glega glggl glvgv greel grngn gujgu hatht hauha hebhe herhz "
    "hinhi hmoho hrvhr hunhu hyehy iboig iceis idoio iiiii ikuiu ileie inaia indid ipkik "
    "islis itait javjv jpnja kalkl kankn kasks katka kaukr kazkk khmkm kikki kinrw kirky "
    "komkv konkg korko kuakj kurku laolo latla lavlv limli linln litlt ltzlb lublu luglg "
    "macmk mahmh malml maomi marmr mayms mkdmk mlgmg mltmt monmn mrimi msams myamy nauna "
    "navnv nblnr ndend ndong nepne nldnl nnonn nobnb norno nyany ocioc ojioj orior ormom "
    "ossos panpa perfa plipi polpl porpt pusps quequ rohrm ronro rumro runrn rusru sagsg "
    "sansa sinsi slksk slosk slvsl smese smosm snasn sndsd somso sotst spaes sqisq srdsc "
    "srpsr sswss sunsu swasw swesv tahty tamta tattt telte tgktg tgltl thath tibbo tirti "
    "tonto tsntn tsots tuktk turtr twitw uigug ukruk urdur uzbuz venve vievi volvo welcy "
    "wlnwa wolwo xhoxh yidyi yoryo zhaza zhozh zulzu ";

enum { ENTRY = 6 }; /* "aaraa " */

/* The two-letter code of a three-letter one, or NULL. */
static const char *two_letters(const char *three)
{
    size_t low = 0, high = (sizeof three_to_two - 1) / ENTRY;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = memcmp(three_to_two + mid * ENTRY, three, 3);
        if (order == 0)
            return three_to_two + mid * ENTRY + 3;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* Replace the beginning of a code by its preferred form: of Chinese by region, with its script, and
 * of codes that ISO 639 has withdrawn. False: the result is too long for a code. */
static bool prefer(char code[DG_LANGUAGE_MAX])
{
    static const char *const others[][2] = {{"zh-cn", "zh-hans-cn"}, {"zh-sg", "zh-hans-sg"},
        {"zh-tw", "zh-hant-tw"}, {"zh-hk", "zh-hant-hk"}, {"zh-mo", "zh-hant-mo"}, {"iw", "he"},
        {"in", "id"}, {"ji", "yi"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t from = strlen(others[i][0]), to = strlen(others[i][1]), n = strlen(code);
        if (n < from || memcmp(code, others[i][0], from) != 0 || (n > from && code[from] != '-'))
            continue;
        if (n - from + to >= DG_LANGUAGE_MAX)
            return false;
        memmove(code + to, code + from, n - from + 1);
        memcpy(code, others[i][1], to);
        return true;
    }
    return true;
}

/* Writes the code in lower case, with "-" for "_" and the two-letter code of a three-letter
 * language. False: too long for a code. */
static bool write_lower(const char *code, char out[DG_LANGUAGE_MAX])
{
    size_t n = 0;
    memset(out, 0, DG_LANGUAGE_MAX);
    for (; n < DG_LANGUAGE_MAX - 1 && code[n] != '\0'; n++)
        out[n] = code[n] == '_' ? '-' : (char)tolower((unsigned char)code[n]);
    if (code[n] != '\0')
        return false;
    const char *two = strcspn(out, "-") == 3 ? two_letters(out) : NULL;
    if (two) {
        memcpy(out, two, 2);
        memmove(out + 2, out + 3, n - 3 + 1);
    }
    return true;
}

bool dg_language_canonical(const char *code, char out[DG_LANGUAGE_MAX])
{
    return write_lower(code, out) && prefer(out);
}

bool dg_language_usual(const char *code, char out[DG_LANGUAGE_MAX])
{
    if (!write_lower(code, out))
        return false;
    for (char *part = strchr(out, '-'); part; part = strchr(part + 1, '-')) {
        const size_t length = strcspn(part + 1, "-");
        if (length == 1)
            break; /* what follows is private, or an extension's */
        if (length == 2 || length == 4)
            part[1] = (char)toupper((unsigned char)part[1]);
        if (length == 2)
            part[2] = (char)toupper((unsigned char)part[2]);
    }
    return true;
}

/* How many more subtags `longer` has than its beginning, `shorter`; -1: it does not begin with
 * that. */
static int subtags_more(const char *longer, const char *shorter)
{
    size_t n = strlen(shorter);
    int more = 0;
    if (n == 0 || strncmp(longer, shorter, n) != 0 || (longer[n] != '\0' && longer[n] != '-'))
        return -1;
    for (const char *p = longer + n; *p; p++)
        more += *p == '-';
    return more;
}

int dg_language_canonical_distance(const char *asked, const char *served)
{
    int narrower = subtags_more(asked, served);
    if (narrower >= 0)
        return narrower;
    int wider = subtags_more(served, asked);
    return wider >= 0 ? DG_LANGUAGE_WIDER + wider : -1;
}

bool dg_language_says_more(int distance)
{
    return distance > 0 && distance < DG_LANGUAGE_WIDER;
}

int dg_language_distance(const char *asked, const char *served)
{
    char a[DG_LANGUAGE_MAX], s[DG_LANGUAGE_MAX];
    if (!dg_language_canonical(asked, a) || !dg_language_canonical(served, s))
        return -1;
    return dg_language_canonical_distance(a, s);
}

bool dg_language_same(const char *a, const char *b)
{
    return dg_language_distance(a, b) >= 0;
}
