#include "tokenizer/spm_trainer.h"

#include "tokenizer/spm_reason.h"

extern "C" {
#include "base/file.h"
}

#include <sentencepiece_trainer.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

namespace sp = sentencepiece;

namespace
{

struct FileCloser {
    void operator()(FILE *f) const
    {
        fclose(f);
    }
};

/* The lines of several files one after the other, without empty ones. */
class Lines
{
  public:
    explicit Lines(std::vector<std::string> paths) : paths_(std::move(paths))
    {
    }
    ~Lines()
    {
        free(buffer_);
    }
    Lines(const Lines &) = delete;
    Lines &operator=(const Lines &) = delete;

    /* false at the end or on an error, which error() then describes. */
    bool next(std::string *line)
    {
        for (;;) {
            if (!file_ && !open())
                return false;
            const ssize_t n = getline(&buffer_, &capacity_, file_.get());
            if (n < 0) {
                if (ferror(file_.get()))
                    error_ = paths_[at_ - 1] + ": " + strerror(errno);
                file_.reset();
                if (!error_.empty())
                    return false;
                continue;
            }
            size_t k = static_cast<size_t>(n);
            while (k > 0 && (buffer_[k - 1] == '\n' || buffer_[k - 1] == '\r'))
                k--;
            if (k == 0)
                continue;
            line->assign(buffer_, k);
            return true;
        }
    }
    const std::string &error() const
    {
        return error_;
    }

  private:
    bool open()
    {
        if (at_ == paths_.size())
            return false;
        file_.reset(fopen(paths_[at_].c_str(), "re"));
        if (!file_)
            error_ = paths_[at_] + ": " + strerror(errno);
        at_++;
        return file_ != nullptr;
    }

    std::vector<std::string> paths_;
    size_t at_ = 0;
    std::unique_ptr<FILE, FileCloser> file_;
    char *buffer_ = nullptr;
    size_t capacity_ = 0;
    std::string error_;
};

/* Every line, or `limit` of `total` at even distances: SentencePiece's own sampling uses a random
 * device, and the first lines of a corpus are not a fair sample. */
class Sample : public sp::SentenceIterator
{
  public:
    /* last: an extra line after all others; "": none. */
    Sample(const std::vector<std::string> &paths, uint64_t limit, uint64_t total, std::string last)
        : lines_(paths), limit_(limit), total_(total), last_(std::move(last))
    {
        Next();
    }
    bool done() const override
    {
        return done_;
    }
    const std::string &value() const override
    {
        return line_;
    }
    sp::util::Status status() const override
    {
        return lines_.error().empty()
                   ? sp::util::Status()
                   : sp::util::Status(sp::util::StatusCode::kNotFound, lines_.error());
    }
    void Next() override
    {
        while (lines_.next(&line_)) {
            /* Line i is taken when the running quota passes a whole number. */
            credit_ += limit_;
            if (limit_ == 0 || limit_ >= total_)
                return;
            if (credit_ >= total_) {
                credit_ -= total_;
                return;
            }
        }
        if (last_.empty())
            done_ = true;
        line_ = std::move(last_);
        last_.clear();
    }

  private:
    Lines lines_;
    uint64_t limit_, total_, credit_ = 0;
    std::string last_, line_;
    bool done_ = false;
};

int check(const struct dg_spm_train_options &o, struct dg_error *err)
{
    if (o.n_inputs == 0)
        return dg_error_set(err, DG_EINVAL, "no text to train a vocabulary on");
    if (o.character_coverage != 0 && !(o.character_coverage >= 0.98 && o.character_coverage <= 1))
        return dg_error_set(
            err, DG_EINVAL, "character coverage is %g, expected 0.98 to 1", o.character_coverage);
    if (o.vocab_size > 1u << 24 || o.max_sentence_bytes > 1u << 24 || o.threads < 0 ||
        o.threads > 1024)
        return dg_error_set(err, DG_EINVAL,
            "%u pieces, %u bytes a sentence or %d threads is too much", o.vocab_size,
            o.max_sentence_bytes, o.threads);
    for (size_t i = 0; i < o.n_controls; i++) {
        /* They are passed to SentencePiece as one comma-separated value. */
        if (o.controls[i][0] == '\0' || strpbrk(o.controls[i], ",\"\n\r\t "))
            return dg_error_set(err, DG_EINVAL,
                "control piece \"%.60s\" is empty or holds a comma, a quote or white space",
                o.controls[i]);
    }
    return DG_OK;
}

std::unordered_map<std::string, std::string> arguments(const struct dg_spm_train_options &o)
{
    std::string controls;
    for (size_t i = 0; i < o.n_controls; i++)
        controls += (i ? "," : "") + std::string(o.controls[i]);
    std::unordered_map<std::string, std::string> args = {
        {"model_type", "bpe"}, {"vocab_size", std::to_string(o.vocab_size ? o.vocab_size : 32000)},
        {"character_coverage",
            std::to_string(o.character_coverage > 0 ? o.character_coverage : 1.0)},
        {"byte_fallback", o.byte_fallback ? "true" : "false"},
        {"normalization_rule_name", o.normalization ? o.normalization : "nmt_nfkc"},
        {"max_sentence_length", std::to_string(o.max_sentence_bytes ? o.max_sentence_bytes : 4192)},
        {"num_threads", std::to_string(o.threads ? o.threads : 1)},
        {"shuffle_input_sentence", "false"}, {"eos_id", "0"}, {"unk_id", "1"}, {"bos_id", "-1"},
        {"pad_id", "-1"},
        {"minloglevel", "2"}, /* log only errors; they are also returned as a status */
    };
    if (o.mixed_scripts)
        args["split_by_unicode_script"] = "false";
    if (o.at_most)
        args["hard_vocab_limit"] = "false";
    if (!controls.empty())
        args["control_symbols"] = controls;
    if (o.characters)
        args["required_chars"] = o.characters;
    return args;
}

/* The characters of s separated by blanks: SentencePiece wants required characters to occur in the
 * text, too. */
std::string apart(const char *s)
{
    std::string line;
    for (; *s; s++) {
        if ((static_cast<unsigned char>(*s) & 0xC0) != 0x80 && !line.empty())
            line += ' ';
        line += *s;
    }
    return line;
}

void add_rule(std::string *rules, unsigned from, unsigned to, const char *target)
{
    char line[64];
    for (unsigned c = from; c <= to; c++) {
        snprintf(line, sizeof line, "%X\t%s\n", c, target);
        *rules += line;
    }
}

/* The rules of DG_SPM_NMT_NFC, as lines "from<TAB>to" in hexadecimal. */
std::string nmt_nfc_rules()
{
    static const struct {
        unsigned from, to;
    } spaces[] = {{0x09, 0x0D}, {0x85, 0x85}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A},
        {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}},
      invisible[] = {{0x01, 0x08}, {0x0E, 0x1F}, {0x7F, 0x84}, {0x86, 0x9F}, {0xAD, 0xAD},
          {0x200B, 0x200B}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2060}, {0x2066, 0x2069},
          {0xFEFF, 0xFEFF}};
    static const char *const ligatures[] = {
        "66 66", "66 69", "66 6C", "66 66 69", "66 66 6C", "73 74", "73 74"};
    std::string rules;
    char target[16];
    for (const auto &s : spaces)
        add_rule(&rules, s.from, s.to, "20");
    for (const auto &s : invisible)
        add_rule(&rules, s.from, s.to, "");
    for (unsigned i = 0; i < 7; i++)
        add_rule(&rules, 0xFB00 + i, 0xFB00 + i, ligatures[i]);
    for (unsigned c = 0xFF01; c <= 0xFF5E; c++) { /* full-width ASCII */
        snprintf(target, sizeof target, "%X", c - 0xFF01 + 0x21);
        add_rule(&rules, c, c, target);
    }
    return rules;
}

/* SentencePiece reads rules only from a file: a temporary one beside the model's path, removed by
 * the destructor. */
class RulesFile
{
  public:
    int write(const std::string &path, struct dg_error *err)
    {
        path_ = path;
        const std::string rules = nmt_nfc_rules();
        return dg_file_write(path_.c_str(), rules.data(), rules.size(), err);
    }
    ~RulesFile()
    {
        if (!path_.empty())
            remove(path_.c_str());
    }
    RulesFile() = default;
    RulesFile(const RulesFile &) = delete;
    RulesFile &operator=(const RulesFile &) = delete;

  private:
    std::string path_;
};

/* The number after `before` in a message; 0 if `before` is not there. */
uint32_t number_after(const std::string &message, const char *before)
{
    const size_t at = message.find(before);
    return at == std::string::npos
               ? 0
               : static_cast<uint32_t>(strtoul(message.c_str() + at + strlen(before), nullptr, 10));
}

/* Report that the text cannot give such a vocabulary and, if the size is the reason, how many
 * pieces it can give. */
int refused(const struct dg_spm_train_options &o, const char *message, struct dg_error *err)
{
    const uint32_t size = o.vocab_size ? o.vocab_size : 32000;
    const std::string reason = dg_spm_reason(message);
    struct dg_spm_sizes sizes = {0, number_after(reason, "Please set it to a value <= ")};
    if (reason.find("smaller than required_chars") != std::string::npos)
        sizes.least = number_after(reason, " vs ");
    if (o.sizes)
        *o.sizes = sizes;
    if (sizes.most)
        return dg_error_set(err, DG_EFORMAT,
            "a vocabulary of %u pieces is too large: the text gives at most %u", size, sizes.most);
    if (sizes.least)
        return dg_error_set(err, DG_EFORMAT,
            "a vocabulary of %u pieces is too small: the text's characters need %u", size,
            sizes.least);
    return dg_error_set(
        err, DG_EFORMAT, "training a vocabulary of %u pieces: %s", size, reason.c_str());
}

int train(const struct dg_spm_train_options &o, const char *path, struct dg_error *err)
{
    const std::vector<std::string> paths(o.inputs, o.inputs + o.n_inputs);
    uint64_t total = 0;
    if (o.sentence_limit > 0) {
        Lines lines(paths);
        for (std::string line; lines.next(&line);)
            total++;
        if (!lines.error().empty())
            return dg_error_set(err, DG_EIO, "%s", lines.error().c_str());
    }
    Sample sample(paths, o.sentence_limit, total, apart(o.characters ? o.characters : ""));
    if (!sample.status().ok())
        return dg_error_set(err, DG_EIO, "%s", sample.status().error_message());
    if (sample.done())
        return dg_error_set(
            err, DG_EFORMAT, "no text in %zu files to train a vocabulary on", o.n_inputs);
    std::string model;
    auto args = arguments(o);
    RulesFile rules;
    if (args["normalization_rule_name"] == DG_SPM_NMT_NFC) {
        const std::string rules_path = std::string(path) + ".rules";
        const int rc = rules.write(rules_path, err);
        if (rc != DG_OK)
            return rc;
        args.erase("normalization_rule_name");
        args["normalization_rule_tsv"] = rules_path;
    }
    const sp::util::Status status = sp::SentencePieceTrainer::Train(args, &sample, &model);
    if (!sample.status().ok())
        return dg_error_set(err, DG_EIO, "%s", sample.status().error_message());
    if (!status.ok())
        return refused(o, status.error_message(), err);
    return dg_file_write(path, model.data(), model.size(), err);
}

} // namespace

int dg_spm_train(const struct dg_spm_train_options *o, const char *path, struct dg_error *err)
{
    try {
        const int rc = check(*o, err);
        return rc != DG_OK ? rc : train(*o, path, err);
    } catch (const std::bad_alloc &) {
        return dg_error_set(err, DG_ENOMEM, "training a vocabulary: no memory");
    } catch (const std::exception &e) {
        return dg_error_set(err, DG_EINTERNAL, "training a vocabulary: %s", e.what());
    } catch (...) {
        return dg_error_set(err, DG_EINTERNAL, "training a vocabulary: unknown exception");
    }
}
