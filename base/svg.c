#include "base/svg.h"

#define INK "#1f2328"
#define PAPER "#fff"
#define DARK_INK "#e6edf3"
#define DARK_PAPER "#0d1117"

struct colour {
    const char *on_white;
    /* NULL: the same */
    const char *on_dark;
};

/* Okabe and Ito's eight, then darker ones. */
static const struct colour colours[] = {{"#0072b2", NULL}, {"#d55e00", NULL}, {"#009e73", NULL},
    {"#cc79a7", NULL}, {"#e69f00", NULL}, {"#56b4e9", NULL}, {"#7f3c8d", "#b579c4"},
    {"#6b6b00", "#8f8f1f"}, {"#a51d2d", "#e0606e"}, {"#1c4966", "#5f95b8"}, {"#2e8540", NULL},
    {"#8c510a", "#b87a30"}, {"#5e4fa2", "#978bd6"}, {"#d6288c", NULL}, {"#404040", "#a0a0a0"},
    {"#00868b", NULL}};

enum { COLOURS = sizeof colours / sizeof colours[0] };

/* Styles for the reader's colour scheme, which the viewer tells the picture. */
static void add_style(struct dg_buffer *b)
{
    dg_buffer_adds(b,
        "<style>.ink{fill:" INK "}.soft{fill:#57606a}.grid{stroke:#d0d7de}.paper{fill:" PAPER "}\n"
        "@media(prefers-color-scheme:dark){.ink{fill:" DARK_INK "}.soft{fill:#9aa7b4}"
        ".grid{stroke:#36404b}.paper{fill:" DARK_PAPER "}\n");
    for (size_t i = 0; i < COLOURS; i++) {
        const struct colour *c = &colours[i];
        if (c->on_dark)
            dg_buffer_addf(b, "[fill=\"%s\"]{fill:%s}[stroke=\"%s\"]{stroke:%s}\n", c->on_white,
                c->on_dark, c->on_white, c->on_dark);
    }
    dg_buffer_adds(b, "}</style>\n");
}

void dg_svg_begin(struct dg_buffer *b, size_t width, size_t height, int font_size)
{
    dg_buffer_addf(b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
        "viewBox=\"0 0 %zu %zu\" font-family=\"sans-serif\" font-size=\"%d\" "
        "class=\"ink\">\n",
        width, height, width, height, font_size);
    add_style(b);
    dg_buffer_adds(b, "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n");
}

void dg_svg_end(struct dg_buffer *b)
{
    dg_buffer_adds(b, "</svg>\n");
}

void dg_svg_text(struct dg_buffer *b, const char *s, bool utf8)
{
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '&')
            dg_buffer_adds(b, "&amp;");
        else if (c == '<')
            dg_buffer_adds(b, "&lt;");
        else if (c == '>')
            dg_buffer_adds(b, "&gt;");
        else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8))
            dg_buffer_adds(b, "\xEF\xBF\xBD");
        else
            dg_buffer_add(b, s, 1);
    }
}

const char *dg_svg_colour(size_t i)
{
    return colours[i % COLOURS].on_white;
}
