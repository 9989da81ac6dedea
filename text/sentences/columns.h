/* Parts of a line that are texts of their own: cells of a table that is drawn with signs or blanks,
 * links side by side, the parts of a signature or of a title. Any thread. Only for text/.
 *
 *   Home | About us | Contact        dogs|cats        Home › Dogs        Price·List is one text
 *   Red dog            $12.50        Name<tab>Anna    Home · Dogs        "He said « yes » ." also
 *
 * Options of a command before two blanks or more are no text: "-a, --all  do not ignore entries".
 */
#ifndef DG_TEXT_SENTENCES_COLUMNS_H
#define DG_TEXT_SENTENCES_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

struct dg_columns {
    const char *text;
    /* the rest of the line */
    size_t at, end;
    /* blanks of the least number that part two columns */
    size_t blanks;
    /* number of "«" and "‹" so far: "»" after one is a quotation mark */
    size_t open_quotes;
};

/* Begin with a line text[begin, end). */
void dg_columns_open(struct dg_columns *c, const char *text, size_t begin, size_t end);
/* The next column that is a text, without white space at its ends; false: there is none. */
bool dg_columns_next(struct dg_columns *c, size_t *begin, size_t *end);

#endif
