#include "documents/units.h"

#include "text/format/document.h"

int dg_units_add(struct dg_extract *x, struct dg_extract_part *p, enum dg_format format,
    const struct dg_markup *markup, enum dg_format as, struct dg_error *err)
{
    struct dg_document d;
    size_t end = 0; /* of the last unit that may have others within it */
    int rc = dg_document_open_markup(p->s, p->n, format, markup, &d, err);
    if (rc != DG_OK)
        return rc;
    for (size_t i = 0; i < d.n_units && rc == DG_OK; i++) {
        const struct dg_unit *u = &d.units[i];
        const struct dg_segment like = {.begin = u->source,
            .end = dg_document_source(&d, u, u->end, true),
            .format = as,
            .encoding = u->encoding};
        if (like.begin < end && like.end <= end)
            continue;
        rc = dg_segment_add_own(x, p, like, err);
        end = u->encoding == DG_ENCODING_MARKUP ? like.end : end;
    }
    dg_document_close(&d);
    return rc;
}
