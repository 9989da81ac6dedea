/* Is this a build with a sanitizer? Its malloc is its own, ends the process where it has no memory
 * and counts nothing; it takes memory for itself, and code is an order slower. */
#ifndef DG_TESTS_SANITIZED_H
#define DG_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
