/* Parts of running text with which dialects of Markdown extend it, and which md4c takes for text.
 * Any thread. Only for text/format.
 *
 *   kept    $a_1 + b$    {#id .class width=300}    [[a page]]    @fig-dog    ++ctrl+alt++
 *           #group/tag   %%a comment%%             ^id-of-a-block
 *   pairs   [[a page|its name]]    ==marked==    [small]{.class}    [a link]({{< ref "a" >}}) */
#ifndef DG_TEXT_FORMAT_DIALECT_H
#define DG_TEXT_FORMAT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

struct dg_dialect {
    /* end of the part, or of a pair's opening mark */
    size_t end;
    /* bytes of a pair's closing mark; equal: it is no pair */
    size_t close, close_end;
    /* bytes of a kept part that the model sees; equal: none */
    size_t letters, letters_end;
};

/* True if such a part begins at s[at], and ends before `end` on the same line. */
bool dg_dialect_read(const char *s, size_t at, size_t end, struct dg_dialect *out);
/* The end of the list of attributes, such as {#id .class}, that begins at s[at]; `at`: none does.
 */
size_t dg_dialect_attributes(const char *s, size_t at, size_t end);
/* The end of the text s[begin, end) of a block without its id, " ^37066d", and the blanks before.
 */
size_t dg_dialect_trim_id(const char *s, size_t begin, size_t end);

#endif
