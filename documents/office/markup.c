/* The content of a paragraph as markup for the translator, and the slots for its tags. */
#include "documents/office/pieces.h"

static int add_slot(struct dg_segment *g, struct dg_buffer *text, const char *format,
    struct dg_slot slot, struct dg_error *err)
{
    dg_buffer_addf(text, format, g->n_slots);
    return dg_slot_add(g, slot, err);
}

/* Writes a piece that is not words. */
static int write_other(
    struct dg_segment *g, const struct dg_piece *p, struct dg_buffer *text, struct dg_error *err)
{
    const struct dg_slot slot = {.kind = p->kind == DG_PIECE_OPEN ? DG_SLOT_TAGS
                                         : p->in_run              ? DG_SLOT_CHILD
                                                                  : DG_SLOT_RAW,
        .begin = p->begin,
        .end = p->end,
        .close = p->kind == DG_PIECE_OPEN ? p->close : p->run,
        .close_end = p->kind == DG_PIECE_OPEN ? p->close_end : p->run_end,
        .range = p->range,
        .key = p->key,
        .key_end = p->key_end};
    switch (p->kind) {
    case DG_PIECE_OPEN: return add_slot(g, text, "<g i=\"%zu\">", slot, err);
    case DG_PIECE_CLOSE: dg_buffer_adds(text, "</g>"); return DG_OK;
    case DG_PIECE_BREAK: return add_slot(g, text, "<b i=\"%zu\"/>", slot, err);
    default: return add_slot(g, text, "<x i=\"%zu\"/>", slot, err);
    }
}

static int write_field(const struct dg_pieces *q, struct dg_segment *g, const struct dg_piece *p,
    struct dg_buffer *text, struct dg_error *err)
{
    int rc = add_slot(g, text, "<f i=\"%zu\">",
        (struct dg_slot){.kind = DG_SLOT_RAW, .begin = p->whole, .end = p->whole_end}, err);
    dg_buffer_add(text, q->r->xml.s + p->begin, p->end - p->begin);
    dg_buffer_adds(text, "</f>");
    return rc;
}

/* Writes n pieces that are the number of a note: each piece of a run is one element, a container is
 * one with what is in it. */
static int write_number(struct dg_segment *g, const struct dg_piece *p, size_t n,
    struct dg_buffer *text, struct dg_error *err)
{
    const struct dg_piece as_one = {.kind = DG_PIECE_RAW, .begin = p->begin, .end = p->close_end};
    if (p->kind == DG_PIECE_OPEN)
        return write_other(g, &as_one, text, err);
    int rc = DG_OK;
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        const struct dg_piece word = {.kind = DG_PIECE_RAW,
            .in_run = true,
            .begin = p[i].whole,
            .end = p[i].whole_end,
            .run = p[i].run,
            .run_end = p[i].run_end};
        rc = write_other(g, &word, text, err);
    }
    return rc;
}

int dg_pieces_write(
    const struct dg_pieces *q, struct dg_segment *g, struct dg_buffer *text, struct dg_error *err)
{
    /* the first piece of the open <g> for formatting; NULL: none is open */
    const struct dg_piece *open = NULL;
    int rc = DG_OK;
    for (size_t i = 0; i < q->n && rc == DG_OK; i++) {
        const struct dg_piece *p = &q->list[i];
        const bool other =
            p->kind == DG_PIECE_WORDS && !dg_pieces_same_run(q, p, g->run, g->run_end);
        if (open && !(other && dg_pieces_same_run(q, open, p->run, p->run_end))) {
            dg_buffer_adds(text, "</g>");
            open = NULL;
        }
        const bool marked = p->kind == DG_PIECE_OPEN || (other && !open);
        const size_t number = marked ? dg_pieces_note_number(q, i) : 0;
        if (number > 0) {
            rc = write_number(g, p, number, text, err);
            i += number - 1;
            continue;
        }
        if (other && !open) {
            rc = add_slot(g, text, "<g i=\"%zu\">",
                (struct dg_slot){.kind = DG_SLOT_RUN, .begin = p->run, .end = p->run_end}, err);
            open = p;
        }
        if (p->instead)
            dg_buffer_adds(text, p->instead);
        else if (p->kind == DG_PIECE_WORDS)
            dg_buffer_add(text, q->r->xml.s + p->begin, p->end - p->begin);
        else if (p->kind == DG_PIECE_FIELD)
            rc = write_field(q, g, p, text, err);
        else if (rc == DG_OK)
            rc = write_other(g, p, text, err);
    }
    if (open)
        dg_buffer_adds(text, "</g>");
    dg_ranges_link(q->r->xml.s, g);
    return rc;
}
