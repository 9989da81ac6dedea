/* Reading every byte of a weights file that is open: the tensors' checksums, and zeros between
 * them. */
#include "weights/format.h"

static int check_sum(const struct dg_weights *w, const char *name, uint32_t form, const char *field,
    uint64_t offset, uint64_t bytes, uint64_t expected, struct dg_error *err)
{
    uint64_t sum = dg_disk_checksum(w->data + offset, bytes);
    if (sum != expected)
        return dg_error_field(err, DG_EFORMAT, field,
            "tensor %s, form %u: %s is %016llx, its bytes give %016llx", name, form, field,
            (unsigned long long)expected, (unsigned long long)sum);
    for (uint64_t i = offset + bytes; i < dg_disk_align(offset + bytes); i++) {
        if (w->data[i])
            return dg_error_field(err, DG_EFORMAT, "padding",
                "tensor %s, form %u: padding at byte %llu is %u, expected 0", name, form,
                (unsigned long long)i, w->data[i]);
    }
    return 0;
}

int dg_weights_verify(const struct dg_weights *w, struct dg_error *err)
{
    if (w->kept)
        return 0; /* when it was loaded; some of it may be gone */
    for (uint32_t i = 0; i < w->header.tensor_count; i++) {
        const struct dg_disk_tensor *t = &w->entries[i];
        for (uint32_t j = 0; j < t->form_count; j++) {
            const struct dg_disk_form *f = &w->forms[t->first_form + j];
            int rc = check_sum(w, w->tensors[i].name, j, "data_checksum", f->data_offset,
                f->data_bytes, f->data_checksum, err);
            if (!rc && f->scales_bytes)
                rc = check_sum(w, w->tensors[i].name, j, "scales_checksum", f->scales_offset,
                    f->scales_bytes, f->scales_checksum, err);
            if (rc)
                return rc;
        }
    }
    return 0;
}
