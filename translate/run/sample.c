#include "translate/run/sample.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *language, *sentence;
} sentences[] = {
    {"en", "The house is small."},
    {"ar", "البيت صغير."},
    {"bg", "Къщата е малка."},
    {"ca", "La casa és petita."},
    {"cs", "Dům je malý."},
    {"da", "Huset er lille."},
    {"de", "Das Haus ist klein."},
    {"el", "Το σπίτι είναι μικρό."},
    {"es", "La casa es pequeña."},
    {"et", "Maja on väike."},
    {"fa", "خانه کوچک است."},
    {"fi", "Talo on pieni."},
    {"fr", "La maison est petite."},
    {"he", "הבית קטן."},
    {"hi", "घर छोटा है।"},
    {"hu", "A ház kicsi."},
    {"id", "Rumah itu kecil."},
    {"it", "La casa è piccola."},
    {"ja", "家は小さいです。"},
    {"ko", "집이 작습니다."},
    {"lt", "Namas yra mažas."},
    {"lv", "Māja ir maza."},
    {"nb", "Huset er lite."},
    {"nl", "Het huis is klein."},
    {"pl", "Dom jest mały."},
    {"pt", "A casa é pequena."},
    {"ro", "Casa este mică."},
    {"ru", "Дом маленький."},
    {"sk", "Dom je malý."},
    {"sl", "Hiša je majhna."},
    {"sv", "Huset är litet."},
    {"tr", "Ev küçük."},
    {"uk", "Будинок маленький."},
    {"vi", "Ngôi nhà nhỏ."},
    {"zh", "房子很小。"},
};

const char *dg_sample_sentence(const char *language)
{
    const size_t n = strcspn(language, "-_");
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
        if (strlen(sentences[i].language) == n &&
            strncasecmp(sentences[i].language, language, n) == 0)
            return sentences[i].sentence;
    return sentences[0].sentence;
}
