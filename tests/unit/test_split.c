/* Sentences and gaps. The cases were written by hand: '|' separates the expected sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "text/sentences/split.h"

#include <stdlib.h>
#include <string.h>

struct split_case {
    const char *lang, *text, *expected;
};

static const struct split_case english[] = {
    {"en", "Hello there. How are you? Fine!", "Hello there.|How are you?|Fine!"},
    {"en", "No full stop at the end", "No full stop at the end"},
    {"en", "Dr. Smith met Mr. Jones. They talked.", "Dr. Smith met Mr. Jones.|They talked."},
    {"en", "Mrs. and Ms. Lee, Prof. Brown and Gen. Grant came.",
        "Mrs. and Ms. Lee, Prof. Brown and Gen. Grant came."},
    {"en", "J. R. R. Tolkien wrote it. I read it.", "J. R. R. Tolkien wrote it.|I read it."},
    {"en", "George W. Bush spoke.", "George W. Bush spoke."},
    {"en", "The U.S. Army left. The U.S. It is large.",
        "The U.S. Army left.|The U.S.|It is large."},
    {"en", "We need fruit, e.g. Apples, i.e. Food.", "We need fruit, e.g. Apples, i.e. Food."},
    {"en", "Apples, pears, etc. They are good.", "Apples, pears, etc.|They are good."},
    {"en", "He works for Acme Inc. The pay is good.", "He works for Acme Inc.|The pay is good."},
    {"en", "Apple Inc. CEO Tim Cook spoke.", "Apple Inc. CEO Tim Cook spoke."},
    {"en", "It starts at 5 p.m. Bring food.", "It starts at 5 p.m.|Bring food."},
    {"en", "See Fig. 3 and No. 5. Then stop.", "See Fig. 3 and No. 5.|Then stop."},
    {"en", "He said no. Nobody believed him.", "He said no.|Nobody believed him."},
    {"en", "Pi is 3.14. That is known.", "Pi is 3.14.|That is known."},
    {"en", "It costs $1.50. Cheap!", "It costs $1.50.|Cheap!"},
    {"en", "Visit http://a.example/?q=1&r=2. Then call.",
        "Visit http://a.example/?q=1&r=2.|Then call."},
    {"en", "Go to www.example.com. It works.", "Go to www.example.com.|It works."},
    {"en", "Open config.txt and main.c. Save them.", "Open config.txt and main.c.|Save them."},
    {"en", "Wait... What? Really?!", "Wait...|What?|Really?!"},
    {"en", "Well… Then he left. And… so on.", "Well…|Then he left.|And… so on."},
    {"en", "\"Stop!\" he said. \"Why?\" she asked.", "\"Stop!\" he said.|\"Why?\" she asked."},
    {"en", "He said “Go.” Then he left.", "He said “Go.”|Then he left."},
    {"en", "(See page 4.) It is there.", "(See page 4.)|It is there."},
    {"en", "This (really?) happened to me (!) Today.", "This (really?) happened to me (!) Today."},
    {"en", "It rains.[1] It pours.[2, 3] The old man snores.",
        "It rains.[1]|It pours.[2, 3]|The old man snores."},
    {"en", "He was born in 1990. 15 people came.", "He was born in 1990.|15 people came."},
    {"en", "She is here. 3 men left.", "She is here.|3 men left."},
    {"en", "Vol. 3, pp. 5 ff. and sec. 2 apply.", "Vol. 3, pp. 5 ff. and sec. 2 apply."},
    {"en", "On Nov. 29 he joined.", "On Nov. 29 he joined."},
    {"en", "Yahoo! and others came.", "Yahoo! and others came."},
    {"en", "So do I. He does not.", "So do I.|He does not."},
    {"en", "World War II. The end.", "World War II.|The end."},
    {"en", "I like it. - So do I. – Good.", "I like it.|So do I.|Good."},
    {"fr", "– Tu viens ? — Non, je reste. -", "Tu viens ?|Non, je reste. -"},
    {"en", "He holds a Ph.D. from Yale.", "He holds a Ph.D. from Yale."},
    {"en", "A. The first. B. The second.", "The first.|B. The second."},
    {"en", "Great! 😀", "Great!|😀"},
    {"en", "Order no. AB-12 is late. So no. Nobody came.",
        "Order no. AB-12 is late.|So no.|Nobody came."},
    {"en", "What is this ? !", "What is this ? !"},
    {"en", "St. Louis is big. He lives on Main St. The house is red.",
        "St. Louis is big.|He lives on Main St.|The house is red."},
};

static const struct split_case german[] = {
    {"de", "Das ist gut. Danke!", "Das ist gut.|Danke!"},
    {"de", "Herr Dr. Müller kommt am 3. Mai. Er bleibt.",
        "Herr Dr. Müller kommt am 3. Mai.|Er bleibt."},
    {"de", "Es gibt Tiere, z. B. Hunde, d. h. Säugetiere.",
        "Es gibt Tiere, z. B. Hunde, d. h. Säugetiere."},
    {"de", "Es gibt Tiere, z.B. Hunde. Alle bellen.", "Es gibt Tiere, z.B. Hunde.|Alle bellen."},
    {"de", "Äpfel bzw. Birnen und ggf. Kirschen.", "Äpfel bzw. Birnen und ggf. Kirschen."},
    {"de", "Äpfel, Birnen usw. Danach gab es Kuchen.", "Äpfel, Birnen usw.|Danach gab es Kuchen."},
    {"de", "In der Regel, i. d. R. Montags, geht es.", "In der Regel, i. d. R. Montags, geht es."},
    {"de", "Das 19. Jahrhundert und der 2. Weltkrieg.",
        "Das 19. Jahrhundert und der 2. Weltkrieg."},
    {"de", "Er wurde 3. Das freute ihn.", "Er wurde 3.|Das freute ihn."},
    {"de", "Er kam 1990. Sie kam 1991.", "Er kam 1990.|Sie kam 1991."},
    {"de", "Vom 1. bis 5. Juni ist zu.", "Vom 1. bis 5. Juni ist zu."},
    {"de", "3. Mai 2020 war ein Sonntag.", "3. Mai 2020 war ein Sonntag."},
    {"de", "Ludwig XIV. Herrschte lange. Karl V. Auch.",
        "Ludwig XIV. Herrschte lange.|Karl V.|Auch."},
    {"de", "Nach Art. 5 Abs. 3 S. 1 GG und Nr. 7 gilt das.",
        "Nach Art. 5 Abs. 3 S. 1 GG und Nr. 7 gilt das."},
    {"de", "Es kostet ca. 500 Euro inkl. MwSt. Das ist viel.",
        "Es kostet ca. 500 Euro inkl. MwSt.|Das ist viel."},
    {"de", "Im Jahr 44 v. Chr. Starb Caesar.", "Im Jahr 44 v. Chr. Starb Caesar."},
    {"de", "„Halt!“, rief er. „Warum?“ fragte sie.", "„Halt!“, rief er.|„Warum?“ fragte sie."},
    {"de", "Er sagte: „Geh.“ Dann ging er.", "Er sagte: „Geh.“|Dann ging er."},
    {"de", "»Komm her!« Er kam. »Na also!«", "»Komm her!«|Er kam.|»Na also!«"},
    {"de", "Es sind 3,5 Mio. Euro. Das sind 1.000.000. Oder?",
        "Es sind 3,5 Mio. Euro.|Das sind 1.000.000.|Oder?"},
    {"de", "Er wohnt in der Hauptstr. 5 in Ulm. Dort ist es schön.",
        "Er wohnt in der Hauptstr. 5 in Ulm.|Dort ist es schön."},
    {"de", "Dipl.-Ing. Huber, Prof. Dr. med. Maier und Fr. Kunz.",
        "Dipl.-Ing. Huber, Prof. Dr. med. Maier und Fr. Kunz."},
    {"de", "Ach so … Das wusste ich nicht. Nun ja… gut.",
        "Ach so …|Das wusste ich nicht.|Nun ja… gut."},
    {"de", "Um 12.30 Uhr. Oder um 13.45. Es eilt.", "Um 12.30 Uhr.|Oder um 13.45.|Es eilt."},
    {"de", "Die Fa. Meier, Kto. Nr. 5, Kundennr. 17, Nr. WDB123 und Nr. A-512. Ende.",
        "Die Fa. Meier, Kto. Nr. 5, Kundennr. 17, Nr. WDB123 und Nr. A-512.|Ende."},
    {"de",
        "Vgl. BGBl. I S. 5, ABl. EG Nr. L 61, Az. IV ZB 12/17. Das steht im BGBl. Der Rest nicht.",
        "Vgl. BGBl. I S. 5, ABl. EG Nr. L 61, Az. IV ZB 12/17.|Das steht im BGBl.|Der Rest nicht."},
    {"de",
        "1 gestr. TL Salz und 4 Essl. Zucker. Dr. med. vet. Meier (eigtl. Maier), österr. Autor.",
        "1 gestr. TL Salz und 4 Essl. Zucker.|Dr. med. vet. Meier (eigtl. Maier), österr. Autor."},
    {"de-AT", "Im Jänner, am 6. Jänner, ist frei.", "Im Jänner, am 6. Jänner, ist frei."},
};

static const struct split_case french[] = {
    {"fr", "Bonjour. Comment ça va ? Bien !", "Bonjour.|Comment ça va ?|Bien !"},
    {"fr", "M. Dupont et Mme. Durand sont là. Ils parlent.",
        "M. Dupont et Mme. Durand sont là.|Ils parlent."},
    {"fr", "MM. Martin et Petit, le Dr. Roux et Mlle. Blanc.",
        "MM. Martin et Petit, le Dr. Roux et Mlle. Blanc."},
    {"fr", "« Bonjour ! » dit-il. « Ça va ? »", "« Bonjour ! » dit-il.|« Ça va ? »"},
    {"fr", "Il a dit : « Venez. » Puis il est parti.", "Il a dit : « Venez. »|Puis il est parti."},
    {"fr", "«\u00A0Ah\u00A0!\u00A0» Elle rit.", "«\u00A0Ah\u00A0!\u00A0»|Elle rit."},
    {"fr", "Des pommes, des poires, etc. Elles sont bonnes.",
        "Des pommes, des poires, etc.|Elles sont bonnes."},
    {"fr", "En 52 av. J.-C. César vint. Il vit.", "En 52 av. J.-C. César vint.|Il vit."},
    {"fr", "Voir p. 12, art. 5 et chap. 3. C'est clair.",
        "Voir p. 12, art. 5 et chap. 3.|C'est clair."},
    {"fr", "J.-P. Sartre et A. Camus écrivaient.", "J.-P. Sartre et A. Camus écrivaient."},
    {"fr", "Le prix est de 1,50 €. C'est peu.", "Le prix est de 1,50 €.|C'est peu."},
    {"fr", "Il est né le 1er mai 1990. 300 personnes sont venues.",
        "Il est né le 1er mai 1990.|300 personnes sont venues."},
    {"fr", "Peut-être… Qui sait ? Personne… sauf lui.",
        "Peut-être…|Qui sait ?|Personne… sauf lui."},
    {"fr", "Éd. Gallimard, coll. Folio, trad. Jean Petit. Cass. civ. 1re, art. R. 12. Il dit.",
        "Éd. Gallimard, coll. Folio, trad. Jean Petit.|Cass. civ. 1re, art. R. 12.|Il dit."},
    {"fr", "L'O.N.U. a voté. L'Europe aussi.", "L'O.N.U. a voté.|L'Europe aussi."},
};

static const struct split_case others[] = {
    {"zh", "你好。我是学生！你呢？好。", "你好。|我是学生！|你呢？|好。"},
    {"ja", "これは本です。「はい。」と言った。", "これは本です。|「はい。」|と言った。"},
    {"ja", "価格は３．５円です。安い!本当?", "価格は３．５円です。|安い!|本当?"},
    {"hi", "यह अच्छा है। वह गया।", "यह अच्छा है।|वह गया।"},
    {"ru", "Привет. Как дела? А. С. Пушкин писал.", "Привет.|Как дела?|А. С. Пушкин писал."},
    {"es", "¿Qué tal? ¡Bien! El Sr. García y la Dra. Ruiz.",
        "¿Qué tal?|¡Bien!|El Sr. García y la Dra. Ruiz."},
    {"ar", "كيف حالك؟ أنا بخير. شكرا", "كيف حالك؟|أنا بخير.|شكرا"},
    {"el", "Τι κάνεις; Είμαι καλά.", "Τι κάνεις;|Είμαι καλά."},
    {"da", "Den 3. Maj kom han. Godt!", "Den 3. Maj kom han.|Godt!"},
    {"", "One. Two? Three!", "One.|Two?|Three!"},
    {"xx-unheard-of", "One. Two? Three!", "One.|Two?|Three!"},
};

static const struct split_case layout[] = {
    /* columns of help texts, and of others */
    {"en", "  -a, --all             do not ignore entries\n  FILE   the file\n",
        "do not ignore entries|FILE|the file"},
    {"en", "      --numbers[=FROM]  same as -d. Stop.\n  -v     (ignored)\n   [-]hup  send",
        "same as -d.|Stop.|(ignored)|send"},
    {"en", "  -q,  --quiet        quiet (no output)", "quiet (no output)"},
    {"en", "  -s, --kernel     print the name.  Then stop", "print the name.|Then stop"},
    {"en", "no dogs | one dog |  {n} dogs | a|b ||", "no dogs|one dog|{n} dogs|a|b"},
    /* justified, and accidental */
    {"en", "It   is   a  dog", "It   is   a  dog"},
    {"en", "Two  dogs play", "Two  dogs play"},
    {"en", "-Come here,  now", "-Come here,  now"},
    {"en", "-I am here,  now.\n-5  \n--", "-I am here,  now.|-5|--"},
    {"en", "", ""},
    {"en", " \t\r\n\n\u00A0\u3000\uFEFF\u2028", ""},
    {"en", "- ", ""},
    {"en", "Title\n\nFirst line\nSecond line.", "Title|First line|Second line."},
    {"en", "One\r\nTwo\rThree\u2028Four\u2029Five\xC2\x85Six\fSeven\vEight",
        "One|Two|Three|Four|Five|Six|Seven|Eight"},
    {"en", "  indented. \tTabbed\t", "indented.|Tabbed"},
    {"en", "[10:33] Bob: Hi. [10:34] No.\n[10/03/24, 2:22:05 PM] Al: yes\n[10] no\n[see 1:2] it",
        "Bob: Hi. [10:34] No.|Al: yes|[10] no|[see 1:2] it"},
    {"en", "- one\n* two\n• three\n– four\n+ five", "one|two|three|four|five"},
    {"en", "1. one\n12) two\n(3) three\na) four\n(b) five\niv) six", "one|two|three|four|five|six"},
    {"en", "1.2.3 Heading\n4.1. Heading\n1.5 million people", "Heading|Heading|1.5 million people"},
    {"en", "1.1 The customer\n1.2 \"Dog\" means\n2.10 A dog", "The customer|\"Dog\" means|A dog"},
    {"en", "2.5 GB of data\n1.5 Million dogs\n9.99 Euro",
        "2.5 GB of data|1.5 Million dogs|9.99 Euro"},
    {"de", "1.1 Der Hund\n9.30 Uhr beginnt es", "Der Hund|9.30 Uhr beginnt es"},
    {"en", "## Title\n> quoted\n>> twice\n- [ ] open\n- [x] done", "Title|quoted|twice|open|done"},
    {"en", "-5 degrees\n*bold* text\n#tag\n---\n24.12.2024 was a Tuesday",
        "-5 degrees|*bold* text|#tag|---|24.12.2024 was a Tuesday"},
    {"de", "A. Der Hund\nI. Teil\nB. Brecht\nI. M. Pei kam\nII. Teil",
        "Der Hund|Teil|B. Brecht|I. M. Pei kam|II. Teil"},
    {"fr", "M. Le Pen\nA. Le chien\nB. L. Petit", "M. Le Pen|Le chien|B. L. Petit"},
    {"de", "1. Einleitung\n2. Weltkrieg\n3. Oktober", "Einleitung|Weltkrieg|3. Oktober"},
    {"en", "I agree.\n(1990) was good.\nI) no", "I agree.|(1990) was good.|no"},
    {"en", "\uFEFFHello.\u200B World.", "Hello.|World."},
    {"en", "😀😀\nHi", "😀😀|Hi"},
    {"en", "Name\tTwo dogs\t \tA girl\n1.\tOne\t2 of 3\n\t-\tTwo\tof",
        "Name|Two dogs|A girl|One|2 of 3|Two|of"},
    {"en", "Print the page\tCtrl+P", "Print the page|Ctrl+P"},
    {"en", "12345\n!!!\n... and so on.", "12345|!!!|... and so on."},
};

static char *join(const char *text, const struct dg_span *spans, size_t count)
{
    size_t len = 0;
    char *out = malloc(strlen(text) + count + 1);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            out[len++] = '|';
        memcpy(out + len, text + spans[i].begin, spans[i].end - spans[i].begin);
        len += spans[i].end - spans[i].begin;
    }
    out[len] = '\0';
    return out;
}

static void run_cases(const struct split_case *cases, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        struct dg_span *spans = NULL;
        size_t count = 0;
        struct dg_error err = {0};
        int rc = dg_split_sentences(
            cases[i].text, strlen(cases[i].text), cases[i].lang, &spans, &count, &err);
        assert_int_equal(rc, DG_OK);
        char *got = join(cases[i].text, spans, count);
        if (strcmp(got, cases[i].expected) != 0) {
            print_error(
                "%s: expected %s\n    got      %s\n", cases[i].lang, cases[i].expected, got);
            wrong++;
        }
        free(got);
        free(spans);
    }
    assert_int_equal(wrong, 0);
}

#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof *(cases))

static void test_english(void **state)
{
    (void)state;
    RUN(english);
}

static void test_german(void **state)
{
    (void)state;
    RUN(german);
}

static void test_french(void **state)
{
    (void)state;
    RUN(french);
}

static void test_others(void **state)
{
    (void)state;
    RUN(others);
}

static void test_layout(void **state)
{
    (void)state;
    RUN(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_english),
        cmocka_unit_test(test_german),
        cmocka_unit_test(test_french),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
