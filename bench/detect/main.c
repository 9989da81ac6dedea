/* detect-bench: `detect-bench CODE...` reads lines from stdin and writes for each a line with the
 * language that text/detect/detect.h finds among the codes, its confidence and whether it is
 * doubtful. With --cld2 before the codes: CLD2's answer alone. */
#include "text/detect/cld2.h"
#include "text/detect/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* CLD2's first guess that is one of the codes, or "-". */
static const char *cld2_alone(const char *const *codes, size_t n, const char *s, size_t len)
{
    struct dg_cld2_result r;
    dg_cld2_detect(s, len, NULL, &r);
    for (size_t g = 0; g < DG_CLD2_GUESSES; g++)
        for (size_t i = 0; i < n; i++)
            if (!strcmp(r.guesses[g].code, codes[i]))
                return codes[i];
    return "-";
}

int main(int argc, char **argv)
{
    const int first = argc > 1 && !strcmp(argv[1], "--cld2") ? 2 : 1;
    const char *const *codes = (const char *const *)argv + first;
    const size_t n = (size_t)(argc - first);
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    if (argc <= first) {
        fprintf(stderr, "usage: detect-bench [--cld2] CODE... < LINES\n");
        return 2;
    }
    while ((len = getline(&line, &cap, stdin)) > 0) {
        struct dg_detected d = {0};
        if (line[len - 1] == '\n')
            len--;
        if (first == 2) {
            puts(cld2_alone(codes, n, line, (size_t)len));
            continue;
        }
        dg_detect(codes, n, line, (size_t)len, &d);
        printf("%s %d %d\n", codes[d.language], d.confidence, d.doubtful);
    }
    free(line);
    return 0;
}
