/* dragoman pull: a model from the service that publishes it, or from files on disk, as an installed
 * bundle. */
#include "base/command.h"
#include "cli/cli.h"
#include "cli/trial.h"
#include "translate/installed.h"
#include "convert/pull/install.h"
#include "convert/pull/pull.h"
#include "library/internal.h"
#include "translate/run/check.h"
#include "translate/run/sample.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { SHA256_DIGITS = 64 };

struct options {
    struct dg_pull pull;
    bool list, offline;
    const char *sha256;
};

#define AT(member) DG_FIELD_AT(struct options, member)

static const struct dg_field rows[] = {
    {"list", DG_FIELD_BOOL, AT(list), .help = "list the models of firefox, opus-mt or argos"},
    {"offline", DG_FIELD_BOOL, AT(offline),
        .help = "install from local files: an archive, a model's files, or one directory; uses "
                "no network"},
    {"models", DG_FIELD_STRING, AT(pull.models), .argument = "DIR",
        .help = "directory to install into (default: the directory that models are found in "
                "without --model, such as $DRAGOMAN_MODELS)"},
    {"name", DG_FIELD_STRING, AT(pull.name), .argument = "NAME",
        .help = "name of the bundle (default: from its source, such as firefox-en-de)"},
    {"source_lang", DG_FIELD_STRING, AT(pull.source_lang), .argument = "CODE",
        .help = "source language, or several separated by commas (default: those of the installed "
                "model, else of the index or the model's files)"},
    {"target_lang", DG_FIELD_STRING, AT(pull.target_lang), .argument = "CODE",
        .help = "target language, or several, as for --source-lang"},
    {"type", DG_FIELD_STRING, AT(pull.type), .words = dg_install_types, .argument = "TYPE",
        .help = "type of the matrices: int8, f32, f16 or bf16 (default: that of the installed "
                "model, else int8; int8 matrices of student models are copied as they are)"},
    {"if_missing", DG_FIELD_BOOL, AT(pull.if_missing),
        .help = "skip installed models without asking their source for a newer one"},
    {"index", DG_FIELD_STRING, AT(pull.index), .argument = "URL|FILE",
        .help = "index to use instead of the service's own; for opus-mt and hf: address of the "
                "hub (default: $HF_ENDPOINT)"},
    {"sha256", DG_FIELD_STRING, AT(sha256), .argument = "HEX",
        .help = "expected SHA-256 of the one file to install"},
    {"cacert", DG_FIELD_STRING, AT(pull.ca_file), .argument = "FILE",
        .help = "file of certificate authorities, PEM (default: $CURL_CA_BUNDLE, "
                "$SSL_CERT_FILE, the system's)"},
    {"cache", DG_FIELD_STRING, AT(pull.cache), .argument = "DIR",
        .help = "directory for downloads; partial files stay there for the next run, in "
                ".download-NAME (default: $XDG_CACHE_HOME/dragoman, ~/.cache/dragoman)"},
    {"stall_timeout", DG_FIELD_INT, AT(pull.stall_seconds), 1, 3600, .fallback = "30",
        .argument = "SECONDS",
        .help = "give up on a connection that stays below 1 kB/s for this long"},
    {"quiet", DG_FIELD_BOOL, AT(pull.quiet), .help = "do not print download progress"},
};

/* Test a bundle before it counts as installed: it must translate one sentence to a non-empty
 * answer. */
static int prove(const char *dir, struct dg_child_report *r, struct dg_error *err)
{
    struct dragoman_model *m = NULL;
    const char *source, *target;
    size_t tokens;
    int rc = dg_check_write(dir, err);
    if (!rc)
        rc = dg_trial_open(dir, &m, err);
    if (!rc && !dg_bundle_source_spm(dg_translator_bundle(m->translator))[0])
        rc = dg_error_set(err, DG_EUNSUP,
            "there is no SentencePiece model among its files: it could not read text");
    if (!rc) {
        dragoman_model_pair(m, 0, &source, &target);
        snprintf(r->source, sizeof r->source, "%s", dg_sample_sentence(source));
        rc = dg_trial_run(m, r->source, r->answer, sizeof r->answer, &tokens, err);
    }
    if (!rc && !r->answer[strspn(r->answer, " ")])
        rc = dg_error_set(err, DG_EFORMAT, "its answer to \"%s\" is empty", r->source);
    dragoman_close(m);
    return rc;
}

static int list(const struct options *o, const char *service, struct dg_error *err)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = dg_pull_list(&o->pull, service, &text, err);
    if (!rc && text.len)
        fwrite(text.data, 1, text.len, stdout);
    dg_buffer_deinit(&text);
    return rc;
}

static int run(const struct options *o, char **words, int n, struct dg_error *err)
{
    int rc = 0;
    if (o->list)
        return list(o, words[0], err);
    if (o->offline)
        return dg_pull_files(&o->pull, words, (size_t)n, err);
    for (int i = 0; i < n && !rc; i++)
        rc = dg_pull_source(&o->pull, words[i], err);
    return rc;
}

/* Check which options exclude others, and write the hash in lower case to hex[]. Returns NULL, or
 * what is wrong. */
static const char *check(struct options *o, int n, char hex[SHA256_DIGITS + 1])
{
    if (o->list && (n != 1 || o->offline))
        return "--list takes one of firefox, opus-mt and argos";
    if (o->pull.name && n != 1 && !o->offline)
        return "--name is for one source";
    if (o->offline && o->pull.index)
        return "--offline uses no --index";
    if (!o->sha256)
        return NULL;
    if (strlen(o->sha256) != SHA256_DIGITS ||
        strspn(o->sha256, "0123456789abcdefABCDEF") != SHA256_DIGITS)
        return "--sha256 takes 64 hexadecimal digits";
    for (int i = 0; i <= SHA256_DIGITS; i++)
        hex[i] = (char)tolower((unsigned char)o->sha256[i]);
    o->pull.sha256 = hex;
    return NULL;
}

int dg_cli_pull(int argc, char **argv)
{
    struct options o = {.pull.prove = prove};
    struct dg_error err = {0};
    char where[4096], hex[SHA256_DIGITS + 1];
    const struct dg_fields groups[] = {{rows, DG_FIELD_COUNT(rows), &o, NULL, NULL}};
    const struct dg_command command = {.name = "dragoman pull",
        .usage = "usage: dragoman pull SOURCE... [options]\n"
                 "       dragoman pull --list firefox|opus-mt|argos [options]\n"
                 "       dragoman pull --offline FILE... [options]\n\n"
                 "Downloads a model over https, converts it in a process without network "
                 "access, tests it and\n"
                 "installs it.\n"
                 "A SOURCE is one of\n"
                 "    firefox/en-de           add :tiny, :base-memory or :base to choose the "
                 "size\n"
                 "    opus-mt/en-de           Helsinki-NLP/opus-mt-en-de of Hugging Face\n"
                 "    argos/en-de\n"
                 "    hf/OWNER/REPO           add @REVISION to choose a revision\n"
                 "    https://...             an archive with a bundle or a model that dragoman "
                 "convert reads\n",
        .after = "HTTPS_PROXY and NO_PROXY set the proxy. The next run resumes an interrupted "
                 "download. A running\n"
                 "server loads new models when it reloads (SIGHUP).\n",
        .groups = groups,
        .n_groups = 1,
        .min_words = 1,
        .max_words = -1,
        .words = "at least one source"};
    int n = 0;
    dg_fields_default(groups);
    int status = dg_command_read(&command, argc, argv, &n);
    if (status >= 0)
        return status;
    const char *wrong = check(&o, n, hex);
    if (wrong)
        return dg_command_refuse("dragoman pull", "%s", wrong);
    o.pull.models = o.pull.models ? o.pull.models : dg_installed_models(where, sizeof where);
    if (dg_installed_is_bundle(o.pull.models))
        return dg_command_refuse("dragoman pull",
            "%s is a bundle itself: name a directory of bundles with --models", o.pull.models);
    signal(SIGXFSZ, SIG_IGN); /* writing beyond the file size limit fails like a full disk */
    signal(SIGPIPE, SIG_IGN);
    return run(&o, argv + 1, n, &err) ? dg_cli_fail("pull", &err) : 0;
}
