/* Revision of this program. Linked into the program and not the library, so that a commit rebuilds
 * nothing else. Any thread. */
#ifndef DG_SERVER_BUILD_H
#define DG_SERVER_BUILD_H

/* git's revision, abbreviated, or "unknown". */
extern const char dg_build_revision[];

#endif
