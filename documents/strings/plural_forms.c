#include "documents/strings/plural_forms.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* As in gettext's plural-table.c; bs, id, lo, ms, my, th and zh as in the CLDR. */
static const struct {
    /* with a blank after each */
    const char *codes, *forms;
} rows[] = {
    {"pt-BR fr ", "nplurals=2; plural=(n > 1);"},
    {"bg ca da de el en eo es et fi fo he hu it nb nl nn no pt sv tr ",
        "nplurals=2; plural=(n != 1);"},
    {"id ja ko lo ms my th vi zh ", "nplurals=1; plural=0;"},
    {"be bs hr ru sr uk ",
        "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || "
        "n%100>=20) ? 1 : 2);"},
    {"cs sk ", "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"},
    {"lt ", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? "
            "1 : 2);"},
    {"lv ", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);"},
    {"pl ", "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : "
            "2);"},
    {"ro ", "nplurals=3; plural=n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2;"},
    {"sl ", "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);"},
};

static bool lists(const char *codes, const char *code, size_t n)
{
    for (size_t len; *codes; codes += len + 1) {
        len = strcspn(codes, " ");
        if (len == n && memcmp(codes, code, n) == 0)
            return true;
    }
    return false;
}

const char *dg_plural_forms(const char *language)
{
    const size_t all = strlen(language), base = strcspn(language, "-");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (lists(rows[i].codes, language, all) || lists(rows[i].codes, language, base))
            return rows[i].forms;
    return DG_PLURAL_FORMS_UNKNOWN;
}

size_t dg_plural_forms_count(const char *forms)
{
    const char *count = strstr(forms, "nplurals=");
    return count ? strtoul(count + strlen("nplurals="), NULL, 10) : 0;
}

bool dg_plural_one_is_exact(const char *language)
{
    static const char languages[] =
        "af ar az bg ca cs cy da de el en eo es et eu fi fo ga gl he hu it ka kk ky ml mn mr mt nb "
        "ne nl nn no pl ro sk sq sv sw ta te tr ur uz ";
    return strcmp(language, "pt-PT") == 0 || lists(languages, language, strcspn(language, "-"));
}

unsigned dg_plural_category(const char *name, size_t n)
{
    static const char *const names[DG_PLURAL_CATEGORIES] = {
        "zero", "one", "two", "few", "many", "other"};
    unsigned i = 0;
    while (i < DG_PLURAL_CATEGORIES && (strlen(names[i]) != n || memcmp(names[i], name, n) != 0))
        i++;
    return i;
}

bool dg_plural_lacks(unsigned set, const char *category)
{
    return !(set & 1u << dg_plural_category(category, strlen(category)));
}

bool dg_plural_has_forms(unsigned set)
{
    const unsigned other = 1u << DG_PLURAL_OTHER;
    return (set & other) && set != other;
}

const struct dg_plural_sample *dg_plural_samples(const char *language)
{
    static const struct dg_plural_sample none = {NULL, {NULL, NULL}};
    static const struct {
        const char *languages;
        /* up to a row of zeros */
        struct dg_plural_sample samples[4];
    } all[] = {
        {"be pl ru uk ", {{"few", {"3", "4"}}, {"many", {"5", "6"}}}},
        {"bs cs hr lt ro sk sr ", {{"few", {"3", "4"}}}},
        {"sl ", {{"two", {"2", "102"}}, {"few", {"3", "4"}}}},
        {"he ", {{"two", {"2", "2"}}}},
        {"lv ", {{"zero", {"10", "20"}}}},
        {"ar ", {{"two", {"2", "2"}}, {"few", {"3", "4"}}, {"many", {"11", "12"}}}},
        {"ga ", {{"two", {"2", "2"}}, {"few", {"3", "4"}}, {"many", {"7", "8"}}}},
        {"mt ", {{"few", {"3", "4"}}, {"many", {"11", "12"}}}},
        {"cy ", {{"two", {"2", "2"}}, {"few", {"3", "3"}}, {"many", {"6", "6"}}}},
    };
    const size_t n = strcspn(language, "-");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (lists(all[i].languages, language, n))
            return all[i].samples;
    return &none;
}

const char *dg_plural_rare(const char *language)
{
    const size_t n = strcspn(language, "-");
    return lists("ar cy ", language, n)            ? "zero"
           : lists("ca es fr it pt ", language, n) ? "many"
                                                   : NULL;
}
