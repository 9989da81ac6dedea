#include "tokenizer/spm_processor.h"

#include "tokenizer/spm_reason.h"

extern "C" {
#include "base/buffer.h"
#include "base/file.h"
}

#include "tokenizer/spm_reserve.h"

#include <sentencepiece_processor.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace sp = sentencepiece;

/* Memory that SentencePiece may take. Measured and rounded up: encoding takes up to 275 bytes per
 * byte of text, 2,040 where NFKC turns one character into 18 (U+FDFA), decoding 225 per piece.
 * Opening a model is assumed, not measured, to take eight times its file. */
constexpr size_t BASE_BYTES = 65536, ENCODE_BYTES = 2048, DECODE_BYTES = 512, OPEN_BYTES = 16;

struct dg_spm {
    sp::SentencePieceProcessor processor;
    /* [pieces] */
    std::vector<uint8_t> types;
    bool rewrites = false;
};

namespace
{

/* Runs f() -> int with a reserve of BASE_BYTES + `bytes`, and turns exceptions into errors. */
template <typename F>
int guarded(struct dg_error *err, const char *what, size_t bytes, F f) noexcept
{
    const dg::Reserve reserve(BASE_BYTES + bytes);
    if (!reserve.held())
        return dg_error_set(err, DG_ENOMEM, "%s: no memory", what);
    try {
        return f();
    } catch (const std::bad_alloc &) {
        return dg_error_set(err, DG_ENOMEM, "%s: no memory", what);
    } catch (const std::exception &e) {
        return dg_error_set(err, DG_EINTERNAL, "%s: %s", what, e.what());
    } catch (...) {
        return dg_error_set(err, DG_EINTERNAL, "%s: unknown exception", what);
    }
}

int fail(struct dg_error *err, int code, const char *what, const sp::util::Status &status)
{
    return dg_error_set(err, code, "%s: %s", what, dg_spm_reason(status.error_message()).c_str());
}

/* Reads a protocol buffers' varint at s[*at]; false: it does not end. */
bool read_varint(std::string_view s, size_t *at, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && *at < s.size(); shift += 7) {
        const auto byte = static_cast<unsigned char>(s[(*at)++]);
        *out |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* One field of a message: a number, or bytes, which those of fixed width are, too. */
struct Field {
    uint64_t tag, number;
    std::string_view bytes;
};

/* Reads the field at s[*at]; false: there is none. */
bool read_field(std::string_view s, size_t *at, Field *f)
{
    uint64_t n = 0;
    *f = {};
    if (!read_varint(s, at, &f->tag))
        return false;
    switch (f->tag & 7) {
    case 0: return read_varint(s, at, &f->number);
    case 1: n = 8; break;
    case 2:
        if (!read_varint(s, at, &n))
            return false;
        break;
    case 5: n = 4; break;
    default: return false;
    }
    if (n > s.size() - *at)
        return false;
    f->bytes = s.substr(*at, n);
    *at += n;
    return true;
}

/* ModelProto.SentencePiece.Type; other numbers count as NORMAL. */
enum : uint8_t { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, UNUSED = 5, BYTE = 6 };

/* Reads ModelProto.pieces.type. */
bool read_type(std::string_view piece, uint8_t *type)
{
    constexpr uint64_t TYPE = 3 << 3;
    Field f;
    *type = NORMAL;
    for (size_t at = 0; at < piece.size();) {
        if (!read_field(piece, &at, &f))
            return false;
        if (f.tag == TYPE && f.number <= BYTE)
            *type = static_cast<uint8_t>(f.number);
    }
    return true;
}

/* Reads whether ModelProto.denormalizer_spec.precompiled_charsmap is not empty. */
bool read_denormaliser(std::string_view spec, bool *rewrites)
{
    constexpr uint64_t PRECOMPILED_CHARSMAP = 2 << 3 | 2;
    Field f;
    for (size_t at = 0; at < spec.size();) {
        if (!read_field(spec, &at, &f))
            return false;
        *rewrites = *rewrites || (f.tag == PRECOMPILED_CHARSMAP && !f.bytes.empty());
    }
    return true;
}

/* Reads what the library says slowly, piece by piece, or not at all. False: it is no model. */
bool read_model(std::string_view model, dg_spm *spm)
{
    constexpr uint64_t PIECES = 1 << 3 | 2, DENORMALIZER_SPEC = 5 << 3 | 2;
    Field f;
    for (size_t at = 0; at < model.size();) {
        uint8_t type;
        if (!read_field(model, &at, &f))
            return false;
        if (f.tag == DENORMALIZER_SPEC && !read_denormaliser(f.bytes, &spm->rewrites))
            return false;
        if (f.tag != PIECES)
            continue;
        if (!read_type(f.bytes, &type))
            return false;
        spm->types.push_back(type);
    }
    return spm->types.size() == static_cast<size_t>(spm->processor.GetPieceSize());
}

/* True if s, well-formed UTF-8, is one code point. */
bool is_single(const std::string &s)
{
    size_t leads = 0;
    for (char c : s)
        leads += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return leads == 1 && s.size() <= 4;
}

} // namespace

int dg_spm_open(const char *path, struct dg_spm **out, struct dg_error *err)
{
    /* Read the file here: SentencePiece throws on a folder and does not report other failures. */
    struct dg_buffer file;
    dg_buffer_init(&file);
    int rc = dg_file_read(path, &file, err);
    if (rc == DG_OK)
        rc = guarded(err, path, OPEN_BYTES * file.len, [&]() -> int {
            auto spm = std::make_unique<dg_spm>();
            const std::string_view model(file.data ? file.data : "", file.len);
            const sp::util::Status status = spm->processor.LoadFromSerializedProto(model);
            if (!status.ok() || spm->processor.GetPieceSize() <= 0)
                return dg_error_set(err, DG_EFORMAT, "%s is not a SentencePiece model: %s", path,
                    dg_spm_reason(status.error_message()).c_str());
            /* unk_piece may name no piece, or one that is not of the unknown type: the library
             * would throw when asked for the unknown piece. */
            const int unk = spm->processor.unk_id();
            if (unk < 0 || unk >= spm->processor.GetPieceSize())
                return dg_error_set(
                    err, DG_EFORMAT, "%s has no piece for unknown characters (unk_piece)", path);
            if (!read_model(model, spm.get()))
                return dg_error_set(err, DG_EFORMAT,
                    "%s is not a SentencePiece model: its pieces cannot be read", path);
            (void)spm->processor.IdToPiece(unk); /* initialises what later calls share */
            *out = spm.release();
            return DG_OK;
        });
    dg_buffer_deinit(&file);
    return rc;
}

void dg_spm_close(struct dg_spm *spm)
{
    delete spm;
}

int32_t dg_spm_size(const struct dg_spm *spm)
{
    return static_cast<int32_t>(spm->types.size());
}

const char *dg_spm_piece(const struct dg_spm *spm, int32_t id, size_t *n)
{
    const std::string &piece = spm->processor.IdToPiece(id);
    *n = piece.size();
    return piece.c_str();
}

int32_t dg_spm_unk(const struct dg_spm *spm)
{
    return spm->processor.unk_id();
}

bool dg_spm_is_plain(const struct dg_spm *spm, int32_t id)
{
    const uint8_t type = spm->types[static_cast<size_t>(id)];
    return type != BYTE && type != CONTROL && type != UNKNOWN && type != UNUSED;
}

int dg_spm_byte(const struct dg_spm *spm, int32_t id)
{
    unsigned byte = 0;
    const bool is = spm->types[static_cast<size_t>(id)] == BYTE &&
                    sscanf(spm->processor.IdToPiece(id).c_str(), "<0x%2X>", &byte) == 1;
    return is ? static_cast<int>(byte) : -1;
}

bool dg_spm_rewrites(const struct dg_spm *spm)
{
    return spm->rewrites;
}

int dg_spm_encode(const struct dg_spm *spm, const char *text, size_t n,
    struct dg_spm_token **tokens, size_t *count, struct dg_error *err)
{
    if (n > DG_SPM_MAX_BYTES)
        return dg_error_set(err, DG_ELIMIT,
            "text of %zu bytes is too long to encode at once: at most %zu", n, DG_SPM_MAX_BYTES);
    return guarded(err, "encoding text", ENCODE_BYTES * n, [&]() -> int {
        sp::ImmutableSentencePieceText encoded;
        const sp::util::Status status =
            spm->processor.Encode(std::string_view(text, n), encoded.mutable_proto());
        if (!status.ok())
            return fail(err, DG_EINTERNAL, "encoding text", status);
        const size_t size = encoded.pieces_size();
        auto *out = static_cast<dg_spm_token *>(calloc(size ? size : 1, sizeof(dg_spm_token)));
        if (!out)
            return dg_error_set(err, DG_ENOMEM, "encoding text: no memory for %zu pieces", size);
        const int32_t unk = spm->processor.unk_id();
        for (size_t i = 0; i < size; i++) {
            const auto piece = encoded.pieces(static_cast<int>(i));
            out[i].id = static_cast<int32_t>(piece.id());
            out[i].begin = piece.begin();
            out[i].end = piece.end();
            if (out[i].id == unk && is_single(piece.piece()))
                memcpy(out[i].single, piece.piece().data(), piece.piece().size());
        }
        *tokens = out;
        *count = size;
        return DG_OK;
    });
}

int dg_spm_decode(const struct dg_spm *spm, const char *const *pieces, size_t count, char **text,
    size_t *len, uint32_t *ends, struct dg_error *err)
{
    size_t bytes = DECODE_BYTES * count;
    for (size_t i = 0; i < count; i++)
        bytes += 4 * strlen(pieces[i]);
    return guarded(err, "decoding pieces", bytes, [&]() -> int {
        const std::vector<std::string_view> views(pieces, pieces + count);
        sp::ImmutableSentencePieceText decoded;
        const sp::util::Status status = spm->processor.Decode(views, decoded.mutable_proto());
        if (!status.ok())
            return fail(err, DG_EINTERNAL, "decoding pieces", status);
        const std::string &s = decoded.text();
        if (decoded.pieces_size() != count)
            return dg_error_set(err, DG_EINTERNAL, "decoding pieces: %zu of %zu came back",
                decoded.pieces_size(), count);
        auto *copy = static_cast<char *>(malloc(s.size() + 1));
        if (!copy)
            return dg_error_set(err, DG_ENOMEM, "decoding pieces: no memory");
        memcpy(copy, s.data(), s.size());
        copy[s.size()] = '\0';
        /* A model with a denormaliser rewrites the text without adjusting the spans: keep them
         * inside it. */
        for (size_t i = 0; i < count; i++) {
            const uint32_t end = decoded.pieces(static_cast<int>(i)).end();
            ends[i] = end <= s.size() ? end : static_cast<uint32_t>(s.size());
        }
        *text = copy;
        *len = s.size();
        return DG_OK;
    });
}
