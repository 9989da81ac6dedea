/* Verifies every byte of an open weights file: the tensors' checksums, and the zeros between
 * them. */
#include "weights/disk.h"

/* A block of a form's bytes, and their checksum according to the table. */
struct block {
    const char *field;
    uint64_t offset, bytes, checksum;
};

static int check_sum(const struct dg_weights *w, const char *name, uint32_t form,
    const struct block *b, struct dg_error *err)
{
    const uint64_t sum = dg_disk_checksum(w->data + b->offset, b->bytes),
                   end = b->offset + b->bytes;
    if (sum != b->checksum)
        return dg_error_field(err, DG_EFORMAT, b->field,
            "tensor %s, form %u: %s is %016llx, its bytes give %016llx", name, form, b->field,
            (unsigned long long)b->checksum, (unsigned long long)sum);
    for (uint64_t i = end; i < dg_disk_align(end); i++) {
        if (w->data[i])
            return dg_error_field(err, DG_EFORMAT, "padding",
                "tensor %s, form %u: padding at byte %llu is %u, expected 0", name, form,
                (unsigned long long)i, w->data[i]);
    }
    return 0;
}

int dg_weights_verify(const struct dg_weights *w, struct dg_error *err)
{
    if (w->memory)
        return 0; /* verified when it was loaded; some of it may be freed by now */
    for (uint32_t i = 0; i < w->header.tensor_count; i++) {
        const struct dg_disk_tensor *t = &w->entries[i];
        for (uint32_t j = 0; j < t->form_count; j++) {
            const struct dg_disk_form *f = &w->forms[t->first_form + j];
            const struct block data = {
                "data_checksum", f->data_offset, f->data_bytes, f->data_checksum};
            const struct block scales = {
                "scales_checksum", f->scales_offset, f->scales_bytes, f->scales_checksum};
            int rc = check_sum(w, w->tensors[i].name, j, &data, err);
            if (!rc && f->scales_bytes)
                rc = check_sum(w, w->tensors[i].name, j, &scales, err);
            if (rc)
                return rc;
        }
    }
    return 0;
}
