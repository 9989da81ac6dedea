#include "text/placeholder.h"

#include "text/placeholder_word.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unicode/uchar.h>

#define LONGEST_CODE 24
#define LONGEST_BLOCK 512 /* maximum length of a placeholder with arbitrary content */

/* Skips `open`, anything but a line end, and `close`; `at` if that is not there. */
static size_t block(const char *s, size_t at, size_t end, const char *open, const char *close)
{
    size_t n = strlen(open), m = strlen(close);
    if (end - at < n + m || memcmp(s + at, open, n) != 0)
        return at;
    end = end - at > LONGEST_BLOCK ? at + LONGEST_BLOCK : end;
    const char *found = memmem(s + at + n, end - at - n, close, m);
    if (!found || memchr(s + at, '\n', (size_t)(found - s) - at) || found == s + at + n)
        return at;
    return (size_t)(found - s) + m;
}

/* %1% and %|3$s| of boost, %name% of Symfony. */
static size_t enclosed(const char *s, size_t at, size_t end)
{
    const bool bar = at + 1 < end && s[at + 1] == '|';
    const size_t name = at + 1 + bar;
    size_t i = name, digits = 0;
    while (i < end && i < at + DG_PLACEHOLDER_NAME &&
           (dg_placeholder_is_word(s[i]) || (s[i] && strchr(bar ? "$.-+# ='" : ".-", s[i])))) {
        digits += isdigit((unsigned char)s[i]) != 0;
        i++;
    }
    if (i >= end || i == name || s[i] != (bar ? '|' : '%'))
        return at;
    const bool number = digits == i - name,
               letters = i > name + 1 && isalpha((unsigned char)s[name]);
    const bool named = (number || letters) && (i + 1 == end || !dg_placeholder_is_word(s[i + 1]));
    return bar || named ? i + 1 : at;
}

/* What follows the "%" of a conversion: flags, width, %1$, and the name of %(name)s and %<n>d. */
static size_t skip_flags(const char *s, size_t i, size_t end)
{
    const size_t at = i;
    if (i < end && strchr("(<", s[i])) {
        char close = s[i] == '(' ? ')' : '>';
        while (i < end && i < at + DG_PLACEHOLDER_NAME && s[i] != close &&
               !isspace((unsigned char)s[i]))
            i++;
        i += i < end;
    }
    while (i < end && (isdigit((unsigned char)s[i]) || (s[i] && strchr("$.-+#*',", s[i]))))
        i++;
    return i;
}

static size_t percent(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (i < end && s[i] == '%') {
        i = dg_placeholder_skip_word(s, at + 2, end);
        return i > at + 2 && end - i >= 2 && memcmp(s + i, "%%", 2) == 0 ? i + 2 : at + 2;
    }
    if (i < end && s[i] == '{') {
        i = dg_placeholder_skip_word(s, i + 1, end);
        return i < end && s[i] == '}' && i > at + 2 ? i + 1 : at;
    }
    if (at > 0 && isdigit((unsigned char)s[at - 1]))
        return at; /* 100%d... */
    i = skip_flags(s, i, end);
    if (i < end && s[i] == '@' && s[i - 1] == '#') { /* %#@name@ of Apple's plurals */
        const size_t name = dg_placeholder_skip_word(s, i + 1, end);
        if (name > i + 1 && name < end && s[name] == '@')
            return name + 1;
    }
    if (i < end && s[i - 1] == '$' && isdigit((unsigned char)s[at + 1]) && s[i] &&
        strchr("sd@", s[i]))
        return i + 1; /* the number tells it from "%share": a word may follow, as in %1$shere%2$s */
    for (int k = 0; k < 2 && i < end && s[i] && strchr("hlzjtL", s[i]); k++)
        i++;
    bool letter = i < end && s[i] && strchr("diouxXeEfFgGcsmpn@", s[i]) &&
                  (i + 1 == end || !dg_placeholder_is_word(s[i + 1]));
    return letter ? i + 1 : enclosed(s, at, end);
}

/* Skips {n, plural, one {# file} other {# files}} to the brace that closes the first one; `at` if
 * it is none. */
static size_t message(const char *s, size_t at, size_t end)
{
    size_t i = dg_placeholder_skip_word(s, at + 1, end), depth = 0;
    end = end - at > LONGEST_BLOCK ? at + LONGEST_BLOCK : end;
    if (i == at + 1 || i >= end || s[i] != ',')
        return at;
    for (i = at; i < end; i++) {
        depth += s[i] == '{';
        if (s[i] == '}' && --depth == 0)
            return i + 1;
    }
    return at;
}

/* Skips {name}, {/name}, {0}, {}, {a.b}, {0:N2}, {name!r}, {$name}; Fluent's { $name }, { -brand };
 * or returns `at`. */
static size_t braces(const char *s, size_t at, size_t end)
{
    size_t i = at + 1, sign = i + (i < end && s[i] == ' ');
    if (sign + 1 < end && strchr("$-", s[sign]) && isalpha((unsigned char)s[sign + 1])) {
        i = sign + 1;
        while (i < end && i < at + DG_PLACEHOLDER_NAME &&
               (dg_placeholder_is_word(s[i]) || s[i] == '-' || s[i] == '.'))
            i++;
        i += i < end && s[i] == ' ';
        return i < end && s[i] == '}' ? i + 1 : at;
    }
    i += i + 1 < end && s[i] == '/' && dg_placeholder_is_word(s[i + 1]);
    while (i < end && i < at + DG_PLACEHOLDER_NAME && (dg_placeholder_is_word(s[i]) || s[i] == '.'))
        i++;
    if (i > at + 1 && i < end && (s[i] == ':' || s[i] == '!'))
        while (i < end && i < at + DG_PLACEHOLDER_NAME && s[i] > ' ' && s[i] != '{' && s[i] != '}')
            i++;
    return i < end && s[i] == '}' ? i + 1 : at;
}

static size_t curly(const char *s, size_t at, size_t end)
{
    static const char *const pairs[][2] = {
        {"{{{", "}}}"}, {"{{", "}}"}, {"{%", "%}"}, {"{#", "#}"}};
    size_t to = at;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && to == at; k++)
        to = block(s, at, end, pairs[k][0], pairs[k][1]);
    if (to == at)
        to = message(s, at, end);
    return to == at ? braces(s, at, end) : to;
}

/* ${name}, $name, $NAME$ of browser extensions, $t(key) of i18next; not $5. */
static size_t dollar(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (i < end && s[i] == '{')
        return block(s, at, end, "${", "}");
    if (dg_placeholder_follows_word(s, at) || i >= end ||
        !(isalpha((unsigned char)s[i]) || s[i] == '_'))
        return at;
    i = dg_placeholder_skip_word(s, i, end);
    if (i < end && s[i] == '$' &&
        (i + 1 == end || !(dg_placeholder_is_word(s[i + 1]) || s[i + 1] == '{')))
        return i + 1;
    return i == at + 2 && s[at + 1] == 't' ? block(s, i, end, "(", ")") : i;
}

/* @:key and @.lower:key of Vue. */
static size_t linked(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (i < end && s[i] == '.')
        i = dg_placeholder_skip_word(s, i + 1, end);
    const size_t key = i + 1;
    if (i >= end || s[i] != ':' || dg_placeholder_follows_word(s, at))
        return at;
    for (i = key; i < end && i < at + DG_PLACEHOLDER_NAME &&
                  (dg_placeholder_is_word(s[i]) || strchr(".-", s[i]));)
        i++;
    while (i > key && !dg_placeholder_is_word(s[i - 1]))
        i--;
    return i > key ? i : at;
}

/* The byte after the ":" that ends an icon's name, :material-account:, from its first "-" on; 0:
 * none does. */
static size_t icon_end(const char *s, size_t at, size_t end)
{
    size_t i = at;
    while (i < end && i < at + DG_PLACEHOLDER_NAME && (isalnum((unsigned char)s[i]) || s[i] == '-'))
        i++;
    return i > at && i < end && s[i] == ':' ? i + 1 : 0;
}

/* :name, :smile:, :material-account:; not ":D", "a:b", "::". */
static size_t colon(const char *s, size_t at, size_t end)
{
    size_t i = dg_placeholder_skip_word(s, at + 1, end);
    if (dg_placeholder_follows_word(s, at) || (at > 0 && strchr(":)]}", s[at - 1])) || i < at + 3 ||
        !isalpha((unsigned char)s[at + 1]))
        return at;
    const size_t icon = i < end && s[i] == '-' ? icon_end(s, i, end) : 0;
    return icon ? icon : i < end && s[i] == ':' ? i + 1 : i;
}

/* __NAME__ */
static size_t underscores(const char *s, size_t at, size_t end)
{
    size_t i = dg_placeholder_skip_word(s, at, end);
    bool closed = i > at + 4 && s[at + 1] == '_' && s[i - 1] == '_' && s[i - 2] == '_' &&
                  isalpha((unsigned char)s[at + 2]) && !dg_placeholder_follows_word(s, at);
    for (size_t k = at; closed && k < i; k++)
        closed = !islower((unsigned char)s[k]);
    return closed ? i : at;
}

/* &nbsp;, &#39;, &#x27; */
static size_t entity(const char *s, size_t at, size_t end)
{
    size_t name = at + 1 + (at + 1 < end && s[at + 1] == '#'),
           i = dg_placeholder_skip_word(s, name, end);
    bool numeric = name == at + 2; /* a name has two letters or more: not "R&D;" */
    return i > name + !numeric && i < end && s[i] == ';' ? i + 1 : at;
}

/* <%= name %>, and the address in "%{sender} <%{address}>" */
static size_t angle(const char *s, size_t at, size_t end)
{
    const size_t to = block(s, at, end, "<%", "%>");
    const size_t inner = to == at && at + 1 < end && s[at + 1] == '%' ? percent(s, at + 1, end) : 0;
    return inner > at + 1 && inner < end && s[inner] == '>' ? inner + 1 : to;
}

/* Skips the code by which a program finds again what it holds back from the translator: letters,
 * digits and signs, with a digit; or returns `at`. */
static size_t code(const char *s, size_t at, size_t end)
{
    size_t i = at, digits = 0;
    for (; i < end && i < at + LONGEST_CODE && s[i] &&
           (dg_placeholder_is_word(s[i]) || strchr("/:.-", s[i]));
         i++)
        digits += isdigit((unsigned char)s[i]) != 0;
    return digits ? i : at;
}

/* [[1]], <<1>>, @@PH0@@, ##1##, $$1$$, ^^1^^ */
static size_t doubled(const char *s, size_t at, size_t end)
{
    static const char open[] = "[<@#$^", close[] = "]>@#$^";
    const char *k = s[at] ? strchr(open, s[at]) : NULL;
    if (!k || end - at < 2 || s[at + 1] != s[at] || (at > 0 && s[at - 1] == s[at]))
        return at;
    const size_t i = code(s, at + 2, end);
    const char c = close[k - open];
    return i > at + 2 && end - i >= 2 && s[i] == c && s[i + 1] == c &&
                   (end - i == 2 || s[i + 2] != c)
               ? i + 2
               : at;
}

/* True for the brackets of mathematics, ornaments, and 【. */
static bool is_rare_bracket(int32_t c)
{
    return ((c >= 0x2700 && c < 0x2A00) || c == 0x3010) &&
           u_getIntPropertyValue(c, UCHAR_BIDI_PAIRED_BRACKET_TYPE) == U_BPT_OPEN;
}

/* ⟦1⟧, 【PH0】, ❰/1❱ */
static size_t bracketed(const char *s, size_t at, size_t end)
{
    size_t begin = at;
    const int32_t open = dg_scan_next(s, end, &begin);
    size_t i = is_rare_bracket(open) ? code(s, begin, end) : begin;
    return i > begin && i < end && dg_scan_next(s, end, &i) == u_getBidiPairedBracket(open) ? i
                                                                                            : at;
}

/* Skips a terminal's escape sequence such as ESC [1m, or else the ESC alone. */
static size_t control_sequence(const char *s, size_t at, size_t end)
{
    size_t i = at + 2;
    if (end - at < 3 || s[at + 1] != '[')
        return at + 1;
    while (i < end && i < at + LONGEST_CODE && s[i] >= ' ' && s[i] < '@')
        i++;
    return i < end && s[i] >= '@' && s[i] <= '~' ? i + 1 : at + 1;
}

size_t dg_placeholder_end(const char *s, size_t at, size_t end)
{
    const size_t to = (unsigned char)s[at] < 0x80 ? doubled(s, at, end) : bracketed(s, at, end);
    if (to > at)
        return to;
    switch (s[at]) {
    case '%': return percent(s, at, end);
    case '{': return curly(s, at, end);
    case '$': return dollar(s, at, end);
    case '#': return block(s, at, end, "#{", "}");
    case '<': return angle(s, at, end);
    case ':': return colon(s, at, end);
    case '@': return linked(s, at, end);
    case '_': return underscores(s, at, end);
    case '*': return block(s, at, end, "*|", "|*");
    case '&': return entity(s, at, end);
    case '\a': return at + 1;
    case '\x1B': return control_sequence(s, at, end);
    default: return at;
    }
}
