/* Errors, names and the version. */
#include "library/internal.h"

#include <stdio.h>
#include <string.h>

const char *dragoman_version(void)
{
    return DG_VERSION;
}

int dragoman_abi(void)
{
    return DRAGOMAN_ABI;
}

const char *dragoman_code_name(int code)
{
    return dg_code_name(code);
}

const char *dragoman_flag_name(uint32_t bit)
{
    return dg_flag_name(bit);
}

void dg_library_begin(struct dragoman_error *error)
{
    if (error)
        *error = (struct dragoman_error){.index = -1};
}

int dg_library_error(
    int rc, const struct dg_error *err, int64_t index, struct dragoman_error *error)
{
    if (!error)
        return rc;
    error->code = rc;
    error->index = index;
    snprintf(error->field, sizeof error->field, "%s", err->field);
    snprintf(error->message, sizeof error->message, "%s", err->message);
    return rc;
}
