/* SentencePiece's error message without the source line and condition before it: "src/x.cc(660)
 * [(a) == (b)] Reason." gives "Reason.". Only for tokenizer/spm_*.cc. Any thread. */
#ifndef DG_TOKENIZER_SPM_REASON_H
#define DG_TOKENIZER_SPM_REASON_H

#include <string>

inline std::string dg_spm_reason(const std::string &message)
{
    const size_t file = message.find(".cc("), open = message.find(") [", file),
                 close = open == std::string::npos ? open : message.find("] ", open);
    if (file == std::string::npos || close == std::string::npos)
        return message;
    const std::string reason = message.substr(close + 2);
    return reason.empty() ? "it is damaged" : reason;
}

#endif
