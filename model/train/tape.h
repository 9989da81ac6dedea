/* Training's pass over a micro-batch: forward through model/layers/layers.h with a slot for every
 * layer, label-smoothed loss, backward from the last layer to the first. Sentences are packed
 * one after another: there is no padding to work on. A tape belongs to one worker: one thread at a
 * time. Parameters are only read, gradients are added to. */
#ifndef DG_MODEL_TRAIN_TAPE_H
#define DG_MODEL_TRAIN_TAPE_H

#include "kernels/train.h"
#include "model/config.h"
#include "model/params.h"

struct dg_tape;

/* A micro-batch of sentence pairs. */
struct dg_micro_batch {
    size_t n;
    /* [n], </s> counted */
    const uint32_t *source_len, *target_len;
    /* [sum of the lengths] ids, the pairs' one after another; targets end with </s> */
    const int32_t *source, *target;
    /* [n] global sentence index, which is the key of its dropout */
    const uint64_t *index;
    /* Source positions of each target piece, for dg_objective.guide; the pairs' lists one after the
     * other, each in the order of the target pieces (= queries). NULL: none */
    const struct dg_link *links;
    /* [n + 1] */
    const size_t *first_link;
};

/* Called for each layer once this pass has added all it will to the layer's gradients (side 1:
 * decoder, last layer first, then side 0: encoder). */
struct dg_tape_watch {
    void (*layer_done)(void *arg, int side, uint32_t layer);
    void *arg;
};

/* Cross-attention of one decoder layer is trained to follow the links. */
struct dg_guidance {
    /* from 0 */
    uint32_t layer;
    /* from 0; the mean of this many heads */
    uint32_t head, n_heads;
    /* weight of its loss, relative to the translation's */
    float weight;
};

struct dg_objective {
    /* label smoothing */
    float epsilon;
    /* of the gradient: 1 / target pieces of the global batch */
    float scale;
    /* 0: none */
    float dropout, attention_dropout, act_dropout;
    /* key of this update's dropout masks */
    uint64_t seed, step;
    /* NULL: no callback */
    const struct dg_tape_watch *watch;
    /* NULL: none. Used only in passes with gradients */
    const struct dg_guidance *guide;
};

/* DG_EUNSUP names the field of a model that this device cannot train. */
int dg_tape_check(
    const struct dg_config *config, const struct dg_train *train, struct dg_error *err);
/* max_positions: the longest sentence's length with </s>. config is copied. */
int dg_tape_open(const struct dg_config *config, struct dg_train *train, uint32_t max_positions,
    struct dg_tape **out, struct dg_error *err);
void dg_tape_close(struct dg_tape *t); /* NULL is fine */

/* Properties of a device that determine the size of tapes on it. Plain data. */
struct dg_tape_device {
    /* bytes of an activation */
    size_t element;
    /* as in struct dg_train_ops */
    size_t loss_bytes, room_bytes, weight_bytes;
    bool masks;
    /* the device has memory of its own */
    bool own_memory;
};
struct dg_tape_device dg_tape_device(const struct dg_train *train, size_t element);

/* Bytes that a micro-batch of at most S source and T target rows in sentences of at most `longest`
 * pieces needs for activations, with those that a device's ops keep for themselves. */
size_t dg_tape_bytes(const struct dg_config *config, const struct dg_tape_device *device, size_t S,
    size_t T, uint32_t longest);

/* Forward, loss and, unless grads is NULL, backward; adds to *sums, or to the device's sums
 * (dg_train_sums). With grads NULL there is no dropout. DG_ELIMIT: a sentence is longer than
 * max_positions; DG_EUNSUP: the device has no guided alignment; DG_ENOMEM. */
int dg_tape_run(struct dg_tape *t, const struct dg_params *w, struct dg_params *grads,
    const struct dg_micro_batch *pairs, const struct dg_objective *o, struct dg_loss_sums *sums,
    struct dg_error *err);

#endif
