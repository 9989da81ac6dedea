/* Lines with which site generators extend Markdown, and which md4c takes for text. Any thread. Only
 * for text/format.
 *
 *   MkDocs                        !!! note "Title"    ??? tip    === "Tab"    --8<-- "file"
 *   Docusaurus, VitePress         :::note[Title]    ::: tip Title    import A from 'b';
 *   Pandoc, Quarto, MyST          ::: {.note title="Title"}    :::{note} Title    (target)=
 *   Hugo, Jekyll                  {{< tabs >}}    {% include a.html %}    {: .class #id}
 *   definitions                   :   a text that explains the line before it
 *   MyST, Pandoc                  +++ {"a": "b"}    % a comment
 *   whole blocks                  export const A = 1;    \begin{equation}    +-----+ (a grid) */
#ifndef DG_TEXT_FORMAT_DIRECTIVE_H
#define DG_TEXT_FORMAT_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

struct dg_directive {
    /* bytes of the line's text, which readers see; equal: it has none */
    size_t text, text_end;
    /* the text is between quotation marks */
    bool quoted;
    /* the text may go on in the lines after it */
    bool goes_on;
    /* lines after it that are indented by four spaces are its content */
    bool indents;
    /* lines after it may be its options, ":name: value" */
    bool has_options;
    /* so are all lines after it, up to the next blank one */
    bool all;
};

/* True if the line s[at, end), without white space on both sides, of the source s[n] is a
 * directive. before: that of the line before it, or NULL. */
bool dg_directive_read(const char *s, size_t n, size_t at, size_t end,
    const struct dg_directive *before, struct dg_directive *out);

#endif
