/* Running text of HTML or XML as units: the reader passes its tags in byte order, and they become
 * text and marks. Any white space between words is one space to the model; a line end or an indent
 * is a mark, unless line ends end units. Any thread. Only for text/format. */
#ifndef DG_TEXT_FORMAT_FLOW_H
#define DG_TEXT_FORMAT_FLOW_H

#include "text/format/internal.h"

struct dg_flow_value {
    size_t begin, end;
    enum dg_encoding encoding;
};

struct dg_flow {
    struct dg_document *d;
    /* [n] */
    const char *s;
    size_t n;
    /* line ends end the unit, as in <pre> */
    bool lines;
    /* a unit has begun */
    bool open;
    /* pending white space, perhaps including <br>, written before whatever follows; equal: none */
    size_t space, space_end;
    /* bytes that are white space and tags, followed by text; equal: none are known */
    size_t textless, textless_end;
    /* [n_values] attributes of the open unit's tags: they become inner units when it ends */
    struct dg_flow_value *values;
    size_t n_values, values_cap;
};

void dg_flow_init(struct dg_flow *f, struct dg_document *d, const char *s, size_t n);
void dg_flow_deinit(struct dg_flow *f);

/* While a unit is open, each call starts at the end of the previous one. */
void dg_flow_text(struct dg_flow *f, size_t begin, size_t end);
/* A tag that may enclose words. An opening tag begins a unit if none is open; a closing tag
 * directly after its opening tag is merged with it into one point. */
void dg_flow_tag(struct dg_flow *f, size_t begin, size_t end, bool opens);
/* A mark that encloses words up to another one; returns the pair's number. It begins a unit if none
 * is open. */
uint32_t dg_flow_open_pair(struct dg_flow *f, size_t begin, size_t end);
void dg_flow_close_pair(struct dg_flow *f, size_t begin, size_t end, uint32_t id);
/* Something between words: an image, a comment. */
void dg_flow_point(struct dg_flow *f, size_t begin, size_t end);
/* A protected span with letters for the model to see. */
void dg_flow_protect(
    struct dg_flow *f, size_t begin, size_t end, size_t letters, size_t letters_end);
/* A visible line end: it ends the text unless the next line continues with a lower-case letter. */
void dg_flow_line_end(struct dg_flow *f, size_t begin, size_t end);
/* The same within words: it is a space to the model. */
void dg_flow_space(struct dg_flow *f, size_t begin, size_t end);
/* The last character of the open unit's text; 0: there is none, or white space follows it. */
int32_t dg_flow_last(const struct dg_flow *f);
/* True if a letter or digit is before what comes next, or after it at byte `end`. */
bool dg_flow_is_beside_word(const struct dg_flow *f, size_t end);
/* End the unit, if one is open. */
void dg_flow_end(struct dg_flow *f);

/* A value to translate within the tag that was passed last, or between units. */
void dg_flow_value(struct dg_flow *f, struct dg_flow_value value);

/* Write the text of markup s[begin, end), without its tags; the caller deinitialises *out. */
void dg_flow_letters(const char *s, size_t begin, size_t end, struct dg_buffer *out);

#endif
