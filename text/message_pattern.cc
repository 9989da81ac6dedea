#include "text/message_pattern.h"

extern "C" {
#include "text/icu.h"
}

#include <cstdint>
#include <cstdlib>

#include <unicode/messagepattern.h>
#include <unicode/unistr.h>

namespace
{

/* The message with a letter for each byte that is not ASCII, so that places are bytes. */
icu::UnicodeString letters(const char *s, size_t n)
{
    icu::UnicodeString out(static_cast<int32_t>(n), 0, 0);
    for (size_t i = 0; i < n; i++)
        out.append(static_cast<char16_t>(static_cast<unsigned char>(s[i]) < 0x80 ? s[i] : 'x'));
    return out;
}

dg_pattern_kind kind_of(UMessagePatternPartType type)
{
    switch (type) {
    case UMSGPAT_PART_TYPE_MSG_START: return DG_PATTERN_MESSAGE;
    case UMSGPAT_PART_TYPE_MSG_LIMIT: return DG_PATTERN_MESSAGE_END;
    case UMSGPAT_PART_TYPE_ARG_START: return DG_PATTERN_ARGUMENT;
    case UMSGPAT_PART_TYPE_ARG_LIMIT: return DG_PATTERN_ARGUMENT_END;
    case UMSGPAT_PART_TYPE_ARG_NUMBER:
    case UMSGPAT_PART_TYPE_ARG_NAME: return DG_PATTERN_NAME;
    case UMSGPAT_PART_TYPE_ARG_SELECTOR: return DG_PATTERN_SELECTOR;
    case UMSGPAT_PART_TYPE_ARG_INT:
    case UMSGPAT_PART_TYPE_ARG_DOUBLE: return DG_PATTERN_VALUE;
    case UMSGPAT_PART_TYPE_REPLACE_NUMBER: return DG_PATTERN_NUMBER;
    case UMSGPAT_PART_TYPE_SKIP_SYNTAX: return DG_PATTERN_APOSTROPHE;
    default: return DG_PATTERN_OTHER;
    }
}

dg_pattern_type type_of(UMessagePatternArgType type)
{
    switch (type) {
    case UMSGPAT_ARG_TYPE_PLURAL: return DG_PATTERN_PLURAL;
    case UMSGPAT_ARG_TYPE_SELECTORDINAL: return DG_PATTERN_ORDINAL;
    case UMSGPAT_ARG_TYPE_SELECT: return DG_PATTERN_SELECT;
    default: return DG_PATTERN_SIMPLE;
    }
}

} // namespace

int dg_message_pattern_read(
    const char *s, size_t n, struct dg_pattern_part **parts, size_t *n_parts, struct dg_error *err)
{
    UErrorCode status = U_ZERO_ERROR;
    *parts = nullptr;
    *n_parts = 0;
    if (n > DG_MESSAGE_PATTERN_LONGEST)
        return dg_error_set(err, DG_ELIMIT, "a message has %zu bytes, the limit is %d", n,
            static_cast<int>(DG_MESSAGE_PATTERN_LONGEST));
    const icu::UnicodeString text = letters(s, n);
    if (text.isBogus())
        return dg_error_set(err, DG_ENOMEM, "no memory for a message");
    icu::MessagePattern pattern(UMSGPAT_APOS_DOUBLE_OPTIONAL, status);
    if (U_SUCCESS(status))
        pattern.parse(text, nullptr, status);
    if (U_FAILURE(status))
        return dg_icu_fail(err, DG_EINVAL, status, "a message of ICU");
    const int32_t count = pattern.countParts();
    auto *list =
        static_cast<dg_pattern_part *>(std::calloc(static_cast<size_t>(count) + 1, sizeof **parts));
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory for a message");
    for (int32_t i = 0; i < count; i++) {
        const icu::MessagePattern::Part &part = pattern.getPart(i);
        list[i].kind = kind_of(part.getType());
        list[i].type = type_of(part.getArgType());
        list[i].begin = static_cast<size_t>(part.getIndex());
        list[i].end = static_cast<size_t>(part.getLimit());
        list[i].partner = static_cast<size_t>(pattern.getLimitPartIndex(i));
    }
    *parts = list;
    *n_parts = static_cast<size_t>(count);
    return DG_OK;
}
