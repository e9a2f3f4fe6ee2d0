// SPDX-License-Identifier: MIT
//
// Ids in, one at a time; text out in whole characters. The concatenated output is
// Tokenizer::decode() of all the ids.
#pragma once

#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <string>

namespace firesteel::engine {

class TokenStream
{
public:
    // `tokenizer` must outlive the stream.
    explicit TokenStream(const Tokenizer &tokenizer, bool skipSpecial = false)
        : m_tokenizer(tokenizer)
        , m_skipSpecial(skipSpecial)
    {
    }

    std::string push(std::int32_t id)
    {
        return m_skipSpecial && m_tokenizer.isSpecial(id) ? std::string()
                                                          : m_text.push(m_tokenizer.tokenBytes(id));
    }
    std::string finish() { return m_text.finish(); }

private:
    const Tokenizer &m_tokenizer;
    Utf8Stream m_text;
    bool m_skipSpecial;
};

} // namespace firesteel::engine
