/* SANITIZED: 1 in a build with a sanitizer. Its own malloc ends the process when memory runs out
 * and counts nothing; it uses memory itself, and code is an order of magnitude slower. */
#ifndef DG_TESTS_SANITIZED_H
#define DG_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
