/* Files of pairs, each read by its extension: NAME.tsv, NAME.csv or NAME.tmx. A name that ends in
 * languages before the extension, such as terms.en-de.tsv, gives those of all its rows. Any
 * thread. */
#ifndef DG_STORE_PAIRS_FILE_H
#define DG_STORE_PAIRS_FILE_H

#include "store/memory.h"

/* Bytes of one file. */
#define DG_PAIRS_FILE_BYTES (512u << 20)

/* Get the languages in a file's name into source and target[36] each; false if it has none. */
bool dg_pairs_file_languages(const char *path, char source[36], char target[36]);
/* Is the name one of a file of pairs? */
bool dg_pairs_file_is(const char *path);
/* Visit all pairs. source_lang and target_lang are those of a file that names none (NULL: such a
 * file is refused). DG_EINVAL: another kind of file; DG_EFORMAT, DG_EIO, DG_ELIMIT. Messages name
 * the file. */
int dg_pairs_file_read(const char *path, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err);
/* The file at path, or the files of a directory that are named as such files are, by name:
 * *out[*n], to be freed with dg_pairs_files_free. DG_EIO, DG_ENOMEM. */
int dg_pairs_files(const char *path, char ***out, size_t *n, struct dg_error *err);
void dg_pairs_files_free(char **files, size_t n);
/* Whether both codes name the same language as far as both specify it ("en", "en-US"; any case). */
bool dg_pairs_same_language(const char *a, const char *b);

#endif
