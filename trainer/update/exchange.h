/* Sums gradients over ranks while backward still runs, layer by layer: the decoder's last layer
 * first, embeddings at the end. The order is the same on every rank (grad_order.h). On CPUs a
 * thread waits until all of this process's workers have finished a layer, adds their shares and
 * then the ranks'; if each rank has one thread, the sums are bit for bit those of one process with
 * as many threads as there are ranks. On devices: exchange_device.h. */
#ifndef DG_TRAINER_UPDATE_EXCHANGE_H
#define DG_TRAINER_UPDATE_EXCHANGE_H

#include "trainer/update/ranks.h"
#include "trainer/update/crew.h"

struct dg_exchange;

/* crew and ranks are borrowed. */
int dg_exchange_open(struct dg_crew *crew, const struct dg_ranks *ranks, struct dg_exchange **out,
    struct dg_error *err);
void dg_exchange_close(struct dg_exchange *x); /* NULL is fine */
const struct dg_ranks *dg_exchange_ranks(const struct dg_exchange *x);
const char *dg_exchange_what(const struct dg_exchange *x); /* what does the sums, for the log */

/* Call before a pass. The returned watch goes into the pass. */
const struct dg_crew_watch *dg_exchange_begin(struct dg_exchange *x);
/* Call after the pass: sums worker 0's block and *sums over all ranks. failed: this rank's pass
 * failed, with the reason in err. An error on any rank is an error on all. */
int dg_exchange_finish(
    struct dg_exchange *x, bool failed, struct dg_loss_sums *sums, struct dg_error *err);
/* Call after that: DG_EINVAL on a device unless every rank's gradients have the same norm. Devices'
 * libraries promise equal sums, but drifting parameters would go unnoticed. */
int dg_exchange_check(struct dg_exchange *x, double grad_norm, struct dg_error *err);

#endif
