#include "tokenizer/spm_trainer.h"

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

/* The lines of several files one after the other, empty ones left out. */
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

    /* false at the end, or on an error: then error() says which. */
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

/* Every line, or `limit` of `total` at even distances: SentencePiece's own sampling draws from a
 * random device, and the first lines of a corpus are no fair sample. */
class Sample : public sp::SentenceIterator
{
  public:
    Sample(const std::vector<std::string> &paths, uint64_t limit, uint64_t total)
        : lines_(paths), limit_(limit), total_(total)
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
        done_ = true;
    }

  private:
    Lines lines_;
    uint64_t limit_, total_, credit_ = 0;
    std::string line_;
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
        /* They travel to SentencePiece as one comma-separated value. */
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
        {"minloglevel", "2"}, /* errors alone, and those come back as a status too */
    };
    if (!controls.empty())
        args["control_symbols"] = controls;
    return args;
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
    Sample sample(paths, o.sentence_limit, total);
    if (!sample.status().ok())
        return dg_error_set(err, DG_EIO, "%s", sample.status().error_message());
    if (sample.done())
        return dg_error_set(
            err, DG_EFORMAT, "no text in %zu files to train a vocabulary on", o.n_inputs);
    std::string model;
    const sp::util::Status status = sp::SentencePieceTrainer::Train(arguments(o), &sample, &model);
    if (!sample.status().ok())
        return dg_error_set(err, DG_EIO, "%s", sample.status().error_message());
    if (!status.ok())
        return dg_error_set(err, DG_EFORMAT, "training a vocabulary of %u pieces: %s",
            o.vocab_size ? o.vocab_size : 32000, status.error_message());
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
