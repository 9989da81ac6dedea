/* Version and revision of this program. Linked into the program and not the library, so that a
 * commit makes nothing else new. Any thread. */
#ifndef DG_SERVER_BUILD_H
#define DG_SERVER_BUILD_H

/* git's revision, abbreviated, or "unknown". */
extern const char dg_build_revision[];

#endif
