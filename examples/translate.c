/* Translates lines of standard input with libdragoman: a program to start from.
 *
 *     cc translate.c $(pkg-config --cflags --libs dragoman) -o translate
 *     echo "Two dogs play in the snow." | ./translate en-de-fr en de
 */
#include <dragoman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 1024 };

/* Lines of a text file, as many as there is room for; the caller frees them. */
static size_t read_lines(FILE *file, struct dragoman_text lines[LINES])
{
    size_t n = 0;
    while (n < LINES) {
        char *line = NULL;
        size_t room = 0;
        ssize_t length = getline(&line, &room, file);
        if (length < 0) {
            free(line);
            break;
        }
        if (line[length - 1] == '\n')
            length--;
        lines[n++] = (struct dragoman_text){line, (size_t)length};
    }
    return n;
}

static void show(const struct dragoman_result *result)
{
    uint32_t flags = dragoman_result_flags(result);
    printf("%s", dragoman_result_text(result, 0, NULL));
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (flags & bit)
            printf("  [%s]", dragoman_flag_name(bit));
    printf("\n");
}

int main(int argc, char **argv)
{
    struct dragoman_error error;
    struct dragoman_model *model;
    struct dragoman_options options;
    struct dragoman_text lines[LINES];
    size_t n;
    long long done = 0;
    int status = 0;
    if (argc != 4) {
        fprintf(stderr, "usage: translate MODEL SOURCE TARGET <FILE\n");
        return 2;
    }
    if (dragoman_open(argv[1], NULL, &model, &error)) {
        fprintf(stderr, "translate: %s\n", error.message);
        return 1;
    }
    dragoman_options_init(&options, sizeof options);
    options.source = argv[2];
    options.target = argv[3];
    while (status == 0 && (n = read_lines(stdin, lines)) > 0) {
        struct dragoman_results *results = NULL;
        if (dragoman_translate(model, lines, n, &options, &results, &error)) {
            fprintf(stderr, "translate: ");
            if (error.index >= 0) /* below 0: the error is none of a text */
                fprintf(stderr, "line %lld: ", done + (long long)error.index + 1);
            fprintf(stderr, "%s\n", error.message);
            status = 1;
        }
        for (size_t i = 0; i < n; i++) {
            if (status == 0)
                show(dragoman_results_at(results, i));
            free((char *)lines[i].data);
        }
        dragoman_results_free(results);
        done += (long long)n;
    }
    dragoman_close(model);
    return status;
}
