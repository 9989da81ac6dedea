#include "trainer/update/ranks_device.h"

#include "base/alloc.h"
#include "trainer/data/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_S = 600 };

int dg_ranks_device_route(enum dg_ranks_device_route *out, struct dg_error *err)
{
    static const char *const words[] = {"auto", "nccl", "host", "shared"};
    const char *word = getenv("DRAGOMAN_RANKS");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word && *word ? word : words[0], words[i])) {
            *out = (enum dg_ranks_device_route)i;
            return DG_OK;
        }
    return dg_error_field(err, DG_EINVAL, "DRAGOMAN_RANKS",
        "DRAGOMAN_RANKS is \"%.32s\": expected auto, nccl, host or shared", word);
}

int dg_ranks_device_wait(double *seconds, struct dg_error *err)
{
    const char *word = getenv("DRAGOMAN_RANKS_WAIT");
    char *end = NULL;
    *seconds = word && *word ? strtod(word, &end) : WAIT_S;
    if (!end || (!*end && *seconds > 0))
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, "DRAGOMAN_RANKS_WAIT",
        "DRAGOMAN_RANKS_WAIT is \"%.32s\": expected seconds", word);
}

/* Count the ranks of this host before this one; all[ranks] is scratch space. */
static int count_before(
    const struct dg_ranks *r, uint64_t *all, size_t *before, struct dg_error *err)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    int rc = dg_ranks_gather(r, dg_hash64(host, strlen(host)), all, err);
    *before = 0;
    for (size_t i = 0; i < r->rank && !rc; i++)
        *before += all[i] == all[r->rank];
    return rc;
}

/* With "auto" the rank probes the one device that is its own: a context on another rank's device
 * would take memory there. */
static int choose(const struct dg_device_options *wish, size_t before, struct dg_device *out,
    struct dg_error *err)
{
    struct dg_device_options o = *wish;
    struct dg_devices all;
    struct dg_error why = {0};
    const char *word = o.device && *o.device ? o.device : getenv("DRAGOMAN_DEVICE");
    const bool automatic = !word || !*word || !strcmp(word, "auto");
    if (automatic || !strcmp(word, "cuda"))
        o.device = "cuda:all";
    int rc = dg_devices_choose(&o, &all, automatic ? &why : err);
    *out = all.list[all.n ? before % all.n : 0];
    if (!automatic || (!rc && !dg_device_probe(out, &why)))
        return rc;
    o.device = "cpu";
    rc = dg_device_choose(&o, out, err);
    snprintf(out->note, sizeof out->note, "%.240s", why.message);
    return rc;
}

/* Compares identities and not numbers: a launcher may show each rank a single device, as number
 * 0. */
static int check_shared(
    const struct dg_ranks *r, const struct dg_device *device, uint64_t *all, struct dg_error *err)
{
    unsigned char id[DG_DEVICE_ID];
    int rc = dg_device_identity(device, id, err);
    if (!rc)
        rc = dg_ranks_gather(r, dg_hash64(id, sizeof id), all, err);
    for (size_t i = 0; i < r->ranks && !rc; i++)
        for (size_t k = 0; k < i && !rc; k++)
            if (all[i] == all[k])
                rc = dg_error_field(err, DG_EINVAL, "device",
                    "ranks %zu and %zu would share one CUDA device: start as many ranks on a host "
                    "as it has devices, or set DRAGOMAN_RANKS=shared if that is wanted",
                    k, i);
    return rc;
}

int dg_ranks_device(const struct dg_ranks *r, const struct dg_device_options *wish,
    struct dg_device *out, struct dg_error *err)
{
    enum dg_ranks_device_route way;
    size_t before = 0;
    uint64_t *all = dg_alloc(r->ranks, sizeof *all, "ranks");
    int rc = dg_ranks_device_route(&way, err);
    if (!rc) /* first, because the calls below depend on it */
        rc = dg_ranks_same(r, (uint64_t)way, "a DRAGOMAN_RANKS", err);
    if (!rc)
        rc = count_before(r, all, &before, err);
    if (!rc)
        rc = choose(wish, before, out, err);
    if (!rc)
        rc = dg_ranks_same(r, out->cuda, "a kind of device (--device cpu or cuda for all)", err);
    if (!rc && out->cuda && way != DG_RANKS_SHARED)
        rc = check_shared(r, out, all, err);
    free(all);
    return rc;
}
