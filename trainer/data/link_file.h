/* Alignments of a shard's pairs (trainer/data/shard.h), in a file beside it, mapped and used in
 * place (little endian):
 *   0  "DGLINKS1", then zeros to 64
 *  64  struct dg_link of each pair, sorted by query (target piece), then key (source piece);
 *      zeros to a multiple of 8
 *   …  u64 [sentences + 1]: index of each pair's first link
 *   …  struct dg_link_info, then XXH3-64 of that struct
 * Reader: const after open, any thread. Writer: one thread. */
#ifndef DG_TRAINER_DATA_LINK_FILE_H
#define DG_TRAINER_DATA_LINK_FILE_H

#include "kernels/train.h"
#include "trainer/data/shard.h"

struct dg_link_info {
    uint64_t sentences, links;
    /* checksum of the shard that the file belongs to */
    uint64_t shard;
    /* XXH3-64 of everything between the head and this struct */
    uint64_t checksum;
    /* size of the whole file */
    uint64_t bytes;
};

struct dg_link_file;

/* Map PATH; counts, order and every link's range against the shard are checked. */
int dg_link_file_open(const char *path, const struct dg_shard *shard, struct dg_link_file **out,
    struct dg_error *err);
void dg_link_file_close(struct dg_link_file *f); /* NULL is fine */
/* The *n links of pair i of the shard; borrowed. */
const struct dg_link *dg_link_file_links(const struct dg_link_file *f, uint64_t i, size_t *n);

struct dg_link_file_writer;
int dg_link_file_begin(const char *path, struct dg_link_file_writer **out, struct dg_error *err);
/* Append the next pair's links. */
int dg_link_file_add(
    struct dg_link_file_writer *w, const struct dg_link *links, size_t n, struct dg_error *err);
/* Sync and rename; w is freed in every case. */
int dg_link_file_commit_take(struct dg_link_file_writer *w, const struct dg_shard *shard,
    struct dg_link_info *info, struct dg_error *err);
void dg_link_file_abort(struct dg_link_file_writer *w); /* NULL is fine */

#endif
