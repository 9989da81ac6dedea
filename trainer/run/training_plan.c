#include "trainer/run/training_plan.h"

#include "base/cores.h"
#include "model/param_block.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* DEVICE_MICRO_MOST: the paper's batch, 25,000 source and as many target tokens, in one pass. */
enum { MICRO_MOST = 4096, DEVICE_MICRO_MOST = 50000, MICRO_LEAST = 512 };

/* Uses limits and not the memory free at the moment, as a control group counts the page cache as
 * used. */
void dg_training_plan_memory(
    struct dg_training_plan *p, double machine, const struct dg_cgroup *group)
{
    p->grouped = group->memory_bytes >= 0 && (machine <= 0 || group->memory_bytes < machine);
    p->available = (size_t)(p->grouped ? group->memory_bytes : machine);
}

static const char *who_allows(const struct dg_training_plan *p)
{
    return p->device    ? "the device has"
           : p->limited ? "ulimit allows"
           : p->grouped ? "the control group allows"
                        : "the machine has";
}

static void find_memory(struct dg_training_plan *p)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    struct dg_cgroup group;
    dg_cgroup_read(NULL, NULL, &group);
    dg_training_plan_memory(p, pages > 0 && size > 0 ? (double)pages * (double)size : 0, &group);
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i], &limit) || limit.rlim_cur == RLIM_INFINITY ||
            (p->available && limit.rlim_cur >= p->available))
            continue;
        p->available = (size_t)limit.rlim_cur;
        p->limited = true;
    }
}

/* Assumes that half of a micro-batch's tokens are source tokens, which fails only for pairs of very
 * different lengths. */
static size_t activation_bytes(const struct dg_config *c, const struct dg_training_place *place,
    uint64_t micro, uint32_t longest)
{
    size_t rows = (size_t)micro / 2 + longest;
    return dg_tape_bytes(c, &place->tape, rows, rows, longest);
}

/* The largest micro-batch whose activations fit half of the available memory, but at least
 * MICRO_LEAST. */
static uint64_t choose_micro_tokens(const struct dg_training_plan *p, const struct dg_config *c,
    const struct dg_training_place *place, size_t workers, uint32_t longest)
{
    uint64_t micro = p->device ? DEVICE_MICRO_MOST : MICRO_MOST;
    while (micro > MICRO_LEAST &&
           workers * activation_bytes(c, place, micro, longest) > p->available / 2)
        micro /= 2;
    return micro > MICRO_LEAST ? micro : MICRO_LEAST;
}

void dg_training_plan_make(const struct dg_recipe *r, const struct dg_config *c, uint32_t longest,
    const struct dg_training_place *place, struct dg_training_plan *out)
{
    const size_t elements = dg_param_block_size(c), block = elements * sizeof(float);
    memset(out, 0, sizeof *out);
    out->parameters = dg_params_elements(c);
    out->threads = (uint64_t)(r->training.threads > 0 ? r->training.threads : dg_cores_available());
    if (place->tape.own_memory) {
        out->device = true;
        out->available = place->free;
    } else {
        find_memory(out);
    }
    /* A device trains with one worker; the host's threads only validate. */
    const size_t workers = out->device ? 1 : (size_t)out->threads;
    out->micro_tokens = (uint64_t)r->training.micro_tokens;
    if (!out->micro_tokens)
        out->micro_tokens = choose_micro_tokens(out, c, place, workers, longest);
    /* `weights` includes a 16-bit copy for products; a device holds the averages twice, the second
     * time as the block that is validated. */
    const bool narrow = place->tape.element < sizeof(float);
    const bool ema = r->training.ema > 0;
    out->weights = block + (narrow ? elements * place->tape.element : 0);
    out->optimizer = (size_t)(2 + (ema ? 1 + out->device : 0)) * block;
    out->gradients = workers * block;
    out->activations = workers * activation_bytes(c, place, out->micro_tokens, longest);
    const size_t search = 2 * block + out->threads * ((size_t)64 << 20),
                 average = 3 * block; /* sums in double, and their mean */
    out->validation = search > average ? search : average;
    out->total = out->weights + out->optimizer + out->gradients + out->activations +
                 (out->device ? 0 : out->validation);
}

static void add_line(struct dg_buffer *b, const char *what, size_t bytes)
{
    dg_buffer_addf(b, "  %-38s %9.1f MiB\n", what, (double)bytes / (1 << 20));
}

void dg_training_plan_print(
    const struct dg_training_plan *p, const struct dg_dataset_worst *worst, struct dg_buffer *out)
{
    dg_buffer_addf(out,
        "%" PRIu64 " parameters, %" PRIu64 " threads, passes of %" PRIu64
        " source + target tokens a thread\n",
        p->parameters, p->threads, p->micro_tokens);
    if (worst)
        dg_buffer_addf(out,
            "  an update takes at most %" PRIu64 " source and %" PRIu64 " target tokens\n",
            worst->source_tokens, worst->target_tokens);
    add_line(out, "parameters", p->weights);
    add_line(out, "Adam's moments and averages", p->optimizer);
    add_line(out, "gradients, one block a thread", p->gradients);
    add_line(out, "activations, about", p->activations);
    add_line(out, "validation or averaging, about", p->validation);
    add_line(out, "together", p->total);
    if (p->list)
        add_line(out, "a shortlist, after training, about", p->list);
    add_line(out, who_allows(p), p->available);
}

int dg_training_plan_check(const struct dg_training_plan *p, struct dg_error *err)
{
    if (p->available && !p->device && p->list > p->available)
        return dg_error_field(err, DG_ELIMIT, "validation.shortlist",
            "a shortlist, learnt after training, needs up to %.1f GiB and %s %.1f GiB: "
            "validation.shortlist 0 makes none",
            (double)p->list / (1 << 30), who_allows(p), (double)p->available / (1 << 30));
    if (!p->available || p->total <= p->available)
        return 0;
    return dg_error_field(err, DG_ELIMIT, "training.micro_tokens",
        "training needs up to %.1f GiB and %s %.1f GiB: take fewer threads (%" PRIu64
        ") or a smaller training.micro_tokens (%" PRIu64 ")",
        (double)p->total / (1 << 30), who_allows(p), (double)p->available / (1 << 30), p->threads,
        p->micro_tokens);
}
