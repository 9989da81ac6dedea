#include "text/sentences/language.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Each table is one string of words between spaces, so that it can be read and extended as a list.
 * A word in small letters matches in any case; one with a capital needs that capital ("Ill." is not
 * "ill."). */
struct dg_language {
    const char *code;
    bool ordinal_dot;
    const char *always, *name, *number, *starters, *months;
};

/* clang-format off */
static const struct dg_language languages[] = {
    {
        .code = "en",
        .always =
            " mr mrs ms messrs dr prof Hon Gov Sen Rep Gen Col Maj Capt Lt Sgt Cpl Cmdr Cdr Adm "
            "Brig Pvt Supt Insp Rev Fr Pres Dept Univ Mt Ft Msgr Mme Mlle Assoc Asst vs v e.g i.e "
            "eg ie cf viz resp approx ca esp incl excl a.k.a w.r.t ",
        .name =
            " St jr sr inc corp co ltd bros plc Ph.D PhD M.D B.A M.A D.C U.S U.K U.N E.U al est "
            "Ave Blvd Rd Sq Hwy Assn Dist Mfg Intl Natl Calif Fla Mass Wash Conn Tex Penn Mich "
            "Minn Ill Ind Ore Ariz Colo Va Pa Ga Md Mo Tenn Wis Okla Nev Del Vt Ark Ala Miss ",
        .number =
            " no nos vol vols p pp pg fig figs ch chap sec sect Art para par eq eqs ver Jan Feb "
            "Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec ext tel ref rm apt Bk Lot Rte Nr Op Ps ",
        .starters =
            " A An And Another As At After Although All Also Because Before But By Both Did Do "
            "Does During Each Even Every Few First For From Had Has Have He Her Here His How "
            "However I If In It Its Is Just Last Let Many Meanwhile More Most My No Nor Not Now "
            "On Once One Only Or Other Our Over She Since So Some Still Such That The Their Then "
            "There These They This Those Though Thus To Today Under Until Was We Were What When "
            "Where Which While Who Why With Yes Yet You Your ",
        .months = " ",
    },
    {
        .code = "de",
        .ordinal_dot = true,
        .always =
            " dr prof mr mrs ms hr hrn Fr frl Ing Dipl Mag Hptm Ft Maj Dres Univ nat phil med jur "
            "rer rer.nat St Hl z.B zB d.h dh u.U z.T z.Zt z.Z z.Hd i.d.R i.A i.V i.S m.E u.E v.a "
            "i.e.S sog sogen bzw bspw beispielsw ggf ggfs evtl vgl gem lt inkl exkl einschl zzgl "
            "abzgl ca bes insb insbes vs resp o.g geb gest verh Hrsg jew mind kath ev evang dt "
            "engl frz franz lat griech ital span amerik gebr allg abzügl zuzügl dgl einschließl "
            "ehem i.B i.H.v m.a.W mtl jährl Fa Kto vet mult eig eigl eigtl eigentl pseud urspr ugs "
            "gegr gestr Msp Pck Päck Essl Teel überarb österr Österr schweiz brit russ chin jap "
            "poln tschech türk niederl dän schwed nördl südl östl westl städt staatl ü ",
        .name =
            " jun sen max min Chr v.Chr n.Chr Mio Mrd Tsd Std Jh Jhd Str Co Inc Corp Ltd e.V a.D "
            "o.Ä o.ä s.o s.u u.a u.ä d.J Pl Mill Bill Bros al U.S U.K M.Sc B.Sc M.A B.A LL.M Hbf "
            "Bhf Nachf BGBl RGBl GBl GVBl BStBl ABl ",
        .number =
            " nr nrn Art Abs Abb Bd Bde Kap S Ziff Tab Fig Anm Aufl Jg Kl Pkt Pos Rn Rdnr Sp Taf "
            "Tel Vers Vol Jan Jän Feb Febr Apr Aug Sep Sept Okt Nov Dez Mo Di Mi Do Sa So Anl Hs "
            "Lfd Abschn No Sek Ver Az Gz ",
        .starters =
            " Aber Alle Allerdings Als Also Am An Auch Auf Aus Außerdem Bei Beim Bis Da Dabei "
            "Dadurch Dafür Daher Damals Damit Danach Dann Daran Darauf Darum Das Dass Davon Dazu "
            "Dem Den Denn Der Des Deshalb Die Dies Diese Diesem Diesen Dieser Dieses Doch Dort Du "
            "Durch Ein Eine Einem Einen Einer Einige Er Es Für Gegen Gestern Heute Hier Ich Ihr "
            "Ihre Im In Ist Ja Jedoch Jetzt Kein Keine Man Manche Mehr Mein Meine Mit Nach "
            "Nachdem Nein Nicht Noch Nun Nur Ob Obwohl Oder Ohne Schon Sein Seine Seit Seitdem "
            "Sie So Sogar Trotzdem Um Und Unser Unsere Unter Viele Vom Von Vor Warum Was Weil "
            "Wenn Wer Wie Wir Wo Während Zu Zudem Zum Zur Zwar Über ",
        .months =
            " Januar Jänner Februar Feber März April Mai Juni Juli August September Oktober "
            "November Dezember Jan Feb Mär Apr Aug Sep Sept Okt Nov Dez Jahrhundert Jh Klasse "
            "Stock Platz Geburtstag Jahrestag Auflage Kapitel Etage Tag Woche Runde Liga "
            "Bundesliga ",
    },
    {
        .code = "fr",
        .always =
            " M MM mr mrs ms Mgr Dr Drs Pr Prof St Ste av apr env cf p.ex c.-à-d c-à-d vs resp "
            "boul N.B mme mmes mlle mlles Sté approx éd Éd ndlr Vve Gal Cdt Col Lt Cne Adj Ft Maj "
            "coll trad dir rte Ets Éts ",
        .name = " J.-C Cie Inc Corp Co Ltd Jr al U.S O.N.U Bros Bd ",
        .number =
            " p pp art al chap ch fig vol no n° nº nos réf tél ill janv févr avr juil sept oct "
            "nov déc t par § civ crim req mob qté ",
        .starters =
            " Ainsi Alors Après Au Aucun Aujourd Aussi Autre Aux Avant Avec C Ce Cela Celle Celui "
            "Ces Cet Cette Ceux Chaque Comme Comment Dans Depuis Des Deux Donc D Du Elle Elles En "
            "Enfin Entre Est Et Il Ils Ici J Je L La Le Les Leur Leurs Lors Lorsque Ma Mais "
            "Malgré Mes Mon N Ne Non Nos Notre Nous On Or Ou Où Oui Par Parce Pas Pendant Plus "
            "Plusieurs Pour Pourquoi Pourtant Puis Qu Quand Que Quel Quelle Qui Quoi S Sa Sans Se "
            "Selon Ses Si Son Sous Sur Ta Toujours Tous Tout Toute Toutefois Toutes Très Tu Un "
            "Une Votre Vos Vous Y À ",
        .months = " ",
    },
};
/* clang-format on */

/* For every other language: abbreviations that many languages share. */
#define COMMON_TABLES                                                                              \
    .code = "",                                                                                    \
    .always = " dr dra drs prof mr mrs ms sra srta ud uds dott avv dhr mevr bijv vs cf ca e.g "    \
              "i.e z.B p.ex p.ej ",                                                                \
    .name = " jr sr Inc Corp Co Ltd U.S U.K EE.UU ",                                               \
    .number = " no nr núm vol p pp pág págs pag fig art cap ", .starters = " ", .months = " "

static const struct dg_language common = {COMMON_TABLES};
static const struct dg_language common_ordinal = {COMMON_TABLES, .ordinal_dot = true};

enum { MAX_ENTRY = 40 }; /* bytes; no entry is longer */

/* True if the list has word[n]. */
static bool listed(const char *list, const char *word, size_t n)
{
    char key[MAX_ENTRY + 3] = " ";
    if (n == 0 || n > MAX_ENTRY)
        return false;
    memcpy(key + 1, word, n);
    memcpy(key + 1 + n, " ", 2);
    return strstr(list, key) != NULL;
}

/* The same, but an entry in small letters matches in any (ASCII) case, and one that begins with a
 * small letter ("z.B") also matches with a capital first letter. A single letter matches only as it
 * is. */
static bool listed_any_case(const char *list, const char *word, size_t n)
{
    char small[MAX_ENTRY];
    if (listed(list, word, n))
        return true;
    if (n < 2 || n > MAX_ENTRY || !isupper((unsigned char)word[0]))
        return false;
    memcpy(small, word, n);
    small[0] = (char)tolower((unsigned char)small[0]);
    if (listed(list, small, n))
        return true;
    for (size_t i = 1; i < n; i++)
        small[i] = (char)tolower((unsigned char)small[i]);
    return listed(list, small, n);
}

const struct dg_language *dg_language_find(const char *code)
{
    static const char ordinal[] = " da nb nn no fi cs sk sl hr sr bs hu pl et lv lt is tr eu ";
    size_t n = code ? strcspn(code, "-_@") : 0;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (strlen(languages[i].code) == n && strncasecmp(languages[i].code, code, n) == 0)
            return &languages[i];
    }
    return n && listed_any_case(ordinal, code, n) ? &common_ordinal : &common;
}

bool dg_language_has_tables(const struct dg_language *language)
{
    return language->code[0] != '\0';
}

bool dg_language_has_ordinal_dot(const struct dg_language *language)
{
    return language->ordinal_dot;
}

bool dg_language_starts_sentence(const struct dg_language *language, const char *word, size_t n)
{
    return listed(language->starters, word, n);
}

bool dg_language_is_month(const struct dg_language *language, const char *word, size_t n)
{
    return listed(language->months, word, n);
}

enum dg_abbreviation dg_language_abbreviation(
    const struct dg_language *language, const char *word, size_t n)
{
    if (listed_any_case(language->always, word, n))
        return DG_ABBREVIATION_ALWAYS;
    if (listed_any_case(language->name, word, n))
        return DG_ABBREVIATION_NAME;
    if (listed_any_case(language->number, word, n))
        return DG_ABBREVIATION_NUMBER;
    return DG_ABBREVIATION_NONE;
}
