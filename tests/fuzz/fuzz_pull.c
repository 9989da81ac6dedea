/* libFuzzer target for the indexes of services that models are pulled from (convert/pull/): the
 * first byte chooses one, the rest is the index. Property: it is refused with a message, or every
 * file has a plain, unique name and an https address. */
#include "convert/pull/sources.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <strings.h>

enum { FIREFOX, FIREFOX_TINY, ARGOS, HUB, KINDS };

static int find(int kind, const struct dg_json *index, struct dg_listing *l, struct dg_error *err)
{
    switch (kind) {
    case FIREFOX: return dg_firefox_find(index, DG_FIREFOX_ATTACHMENTS, "en-de", NULL, l, err);
    case FIREFOX_TINY: return dg_firefox_find(index, "https://x", "de_EN", "tiny", l, err);
    case ARGOS: return dg_argos_find(index, "en-de", l, err);
    default: return dg_hub_find(index, DG_HUB, "OWNER/REPO", l, err);
    }
}

static void check_listing(const struct dg_listing *l)
{
    for (size_t i = 0; i < l->n_files; i++) {
        const struct dg_listing_file *f = &l->files[i];
        require(f->name[0] && f->name[0] != '.' && !strpbrk(f->name, "/\\ \n\"'$`;|&<>*?"));
        require(strncasecmp(f->url, "https://", 8) == 0 && !strpbrk(f->url, " \r\n\t"));
        require(!f->sha256[0] || strlen(f->sha256) == DG_SHA256_DIGITS);
        require(!f->git[0] || strlen(f->git) == DG_GIT_DIGITS);
        for (size_t k = 0; k < i; k++)
            require(strcmp(f->name, l->files[k].name) != 0);
    }
    dg_listing_size(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dg_error err = {0};
    struct dg_listing l;
    struct dg_buffer list;
    if (size == 0)
        return 0;
    const int kind = data[0] % KINDS;
    struct dg_json *index = dg_json_parse((const char *)data + 1, size - 1, &err);
    if (!index)
        return 0;
    dg_listing_init(&l);
    dg_buffer_init(&list);
    int rc = find(kind, index, &l, &err);
    require(rc == DG_OK || (rc == err.code && err.message[0] != '\0'));
    check_listing(&l);
    err = (struct dg_error){0};
    rc = kind == ARGOS ? dg_argos_list(index, &list, &err)
         : kind == HUB ? dg_hub_list(index, &list, &err)
                       : dg_firefox_list(index, &list, &err);
    require(rc == DG_OK || (rc == err.code && err.message[0] != '\0'));
    require(!list.failed);
    dg_buffer_deinit(&list);
    dg_listing_deinit(&l);
    dg_json_free(index);
    return 0;
}
