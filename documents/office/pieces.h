/* The content of a paragraph in order, and which formatting most of its words have. Only for
 * documents/office. One thread at a time. */
#ifndef DG_DOCUMENTS_OFFICE_PIECES_H
#define DG_DOCUMENTS_OFFICE_PIECES_H

#include "documents/office/runs.h"

enum dg_piece_kind {
    DG_PIECE_WORDS,
    DG_PIECE_FIELD, /* a field's words, which stay */
    DG_PIECE_RAW,   /* something between words */
    DG_PIECE_BREAK, /* the same, where a sentence ends */
    DG_PIECE_OPEN,  /* the start of a container or a field */
    DG_PIECE_CLOSE, /* its end */
};

struct dg_piece {
    enum dg_piece_kind kind;
    /* WORDS: written instead of bytes of the part, or NULL */
    const char *instead;
    /* WORDS, FIELD: their bytes; OPEN: the opening tag's; RAW, BREAK: all bytes */
    size_t begin, end;
    /* FIELD, and WORDS in a run: the whole element that they are in */
    size_t whole, whole_end;
    /* properties of the run that it is in; equal: none */
    size_t run, run_end;
    /* it is in a run */
    bool in_run;
    /* WORDS: within a link or a field */
    bool linked;
    /* WORDS: number of bytes that tell the paragraph's formatting; set by dg_pieces_main */
    size_t weight;
    /* OPEN: its closing tag */
    size_t close, close_end;
    /* as in struct dg_slot */
    size_t range, key, key_end;
};

struct dg_pieces {
    struct dg_runs *r;
    /* containers and fields around what is read now; how many of them are links or fields */
    size_t depth, links;
    /* [n] malloc'd */
    struct dg_piece *list;
    size_t n, cap;
    /* out of memory */
    bool failed;
};

void dg_pieces_add(struct dg_pieces *q, struct dg_piece piece);

/* Set the range of p, if the empty tag t is an end of one. */
void dg_ranges_read(const struct dg_runs *r, const struct dg_xml_tag *t, struct dg_piece *p);
/* Make the run at tag i part of the range's end right before it, if it refers to what is said about
 * the range, as a comment's run does; false: it does not. */
bool dg_ranges_extend(struct dg_pieces *q, size_t i);
/* Tell the slots of g that are the end of a range which one is its start. */
void dg_ranges_link(const char *s, struct dg_segment *g);

/* True if the piece's run has the properties at these bytes. */
bool dg_pieces_same_run(
    const struct dg_pieces *q, const struct dg_piece *p, size_t run, size_t run_end);

/* A piece with the formatting that most of the words have; NULL: there are no words. Links, fields
 * and addresses often have a formatting of their own, which must not spread to what is beside them:
 * they count only if there are no other words. */
const struct dg_piece *dg_pieces_main(struct dg_pieces *q);

/* How many pieces from i on, a container or words in one formatting, are the number of a note
 * after a word, such as a raised "1" or "2,3": it means nothing to the model. 0: they are not. */
size_t dg_pieces_note_number(const struct dg_pieces *q, size_t i);

/* Append the pieces as markup (runs.h), with a slot of g for each tag in it. */
int dg_pieces_write(
    const struct dg_pieces *q, struct dg_segment *g, struct dg_buffer *text, struct dg_error *err);

#endif
