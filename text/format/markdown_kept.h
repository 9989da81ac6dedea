/* Parts of Markdown that stay although they may have blank lines, which end a block to md4c: code
 * and comments between the tags of site generators. Any thread. Only for text/format.
 *
 *   Jekyll      {% highlight ruby %} ... {% endhighlight %}    {% comment %} ... {% endcomment %}
 *   Hugo        {{< highlight go >}} ... {{< /highlight >}}    {{< code-toggle >}} ...
 *   Obsidian    %% ... %% */
#ifndef DG_TEXT_FORMAT_MARKDOWN_KEPT_H
#define DG_TEXT_FORMAT_MARKDOWN_KEPT_H

#include "text/sentences/split.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_md_kept {
    /* [n] bytes of the source, in order, whole lines without white space at their ends */
    struct dg_span *list;
    size_t n, cap;
};

/* Find those of the source s[n] from byte `at` on. The caller frees out->list. False: no memory. */
bool dg_markdown_kept_find(const char *s, size_t n, size_t at, struct dg_md_kept *out);

/* The end of the part that byte `at` is in; `at`: in none. */
size_t dg_markdown_kept_end(const struct dg_md_kept *kept, size_t at);

#endif
