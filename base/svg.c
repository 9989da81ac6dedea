#include "base/svg.h"

void dg_svg_begin(struct dg_buffer *b, size_t width, size_t height, int font_size)
{
    dg_buffer_addf(b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
        "viewBox=\"0 0 %zu %zu\" font-family=\"sans-serif\" font-size=\"%d\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height, font_size);
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
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
        "#56b4e9", "#7f3c8d", "#6b6b00", "#a51d2d", "#1c4966", "#2e8540", "#8c510a", "#5e4fa2",
        "#d6288c", "#404040", "#00868b"};
    return colours[i % (sizeof colours / sizeof colours[0])];
}
