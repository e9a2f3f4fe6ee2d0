// SPDX-License-Identifier: MIT
#include "engine/text/tokenizer.h"

#include "engine/base/mapped_file.h"
#include "engine/base/utf8.h"
#include "engine/text/tokenizer_file.h"

#include <array>
#include <cstddef>
#include <format>
#include <map>
#include <utility>

namespace firesteel::engine {

namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo): tells files apart, keeps nobody out.
std::uint64_t fnv1a(std::string_view bytes)
{
    std::uint64_t digest = 0xcbf29ce484222325U;
    for (const char byte : bytes) {
        digest ^= static_cast<unsigned char>(byte);
        digest *= 0x100000001b3U;
    }
    return digest;
}

} // namespace

struct Tokenizer::Impl
{
    explicit Impl(TokenizerFile parsed);

    TokenizerFile file;
    AddedTokenMatcher literalMatcher; // looks at the text first
    AddedTokenMatcher normalizedMatcher; // then at what is left
    std::array<std::int32_t, 256> byteIds {};
    std::map<std::string, std::int32_t, std::less<>> addedIds;
    std::vector<bool> added; // by id
    std::vector<bool> special; // by id
    std::uint64_t digest = 0; // of the file
};

namespace {

std::vector<AddedToken> selectNormalized(const std::vector<AddedToken> &tokens, bool normalized)
{
    std::vector<AddedToken> selected;
    for (const AddedToken &token : tokens) {
        if (token.normalized == normalized)
            selected.push_back(token);
    }
    return selected;
}

// Calls onText(piece) and onToken(id) in text order.
void splitAtAddedTokens(std::string_view text, const AddedTokenMatcher &matcher, const auto &onText,
                        const auto &onToken)
{
    while (const auto found = matcher.findFirst(text)) {
        onText(text.substr(0, found->position));
        onToken(found->id);
        text.remove_prefix(found->position + found->length);
    }
    onText(text);
}

// One call's pass over text without added tokens.
class OrdinaryEncoder
{
public:
    OrdinaryEncoder(const TokenizerFile &file, const std::array<std::int32_t, 256> &byteIds,
                    std::vector<std::int32_t> &out)
        : m_file(file)
        , m_byteIds(byteIds)
        , m_walk(file.preTokenizer)
        , m_out(out)
    {
    }

    void append(std::string_view text)
    {
        m_walk.start(text);
        for (std::string_view piece = m_walk.next(); !piece.empty(); piece = m_walk.next())
            appendPiece(piece);
    }

private:
    void appendPiece(std::string_view piece)
    {
        if (m_file.ignoreMerges) {
            if (const std::int32_t id = m_file.vocabulary.find(piece); id != Vocabulary::kNone) {
                m_out.push_back(id);
                return;
            }
        }
        m_symbols.clear();
        for (const char byte : piece)
            m_symbols.push_back(m_byteIds[static_cast<unsigned char>(byte)]);
        m_file.merges.merge(m_symbols, m_scratch, m_out);
    }

    const TokenizerFile &m_file;
    const std::array<std::int32_t, 256> &m_byteIds;
    PreTokenizer::Walk m_walk;
    std::vector<std::int32_t> m_symbols;
    MergeTable::Scratch m_scratch;
    std::vector<std::int32_t> &m_out;
};

// `text` itself when it is UTF-8, else a repaired copy kept in `storage`.
std::string_view repaired(std::string_view text, std::string &storage)
{
    if (isValidUtf8(text))
        return text;
    storage = replaceInvalidUtf8(text);
    return storage;
}

} // namespace

Tokenizer::Impl::Impl(TokenizerFile parsed)
    : file(std::move(parsed))
    , literalMatcher(selectNormalized(file.addedTokens, false))
    , normalizedMatcher(selectNormalized(file.addedTokens, true))
    , added(static_cast<std::size_t>(file.vocabulary.size()))
    , special(added.size())
{
    for (std::size_t byte = 0; byte < byteIds.size(); ++byte)
        byteIds[byte] = file.vocabulary.find(std::string(1, static_cast<char>(byte)));
    for (const AddedToken &token : file.addedTokens) {
        addedIds.emplace(token.content, token.id);
        added[static_cast<std::size_t>(token.id)] = true;
        special[static_cast<std::size_t>(token.id)] = token.special;
    }
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl)
    : m_impl(std::move(impl))
{
}

Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::load(const std::filesystem::path &tokenizerJson)
{
    return MappedFile::open(tokenizerJson).and_then([&](const MappedFile &file) {
        const std::span<const std::byte> bytes = file.bytes();
        return parse({ reinterpret_cast<const char *>(bytes.data()), bytes.size() },
                     tokenizerJson.string());
    });
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, std::string_view fileName)
{
    return readTokenizerFile(json, fileName).transform([json](TokenizerFile &&file) {
        auto impl = std::make_unique<Impl>(std::move(file));
        impl->digest = fnv1a(json);
        return Tokenizer(std::move(impl));
    });
}

std::string Tokenizer::digest() const { return std::format("{:016x}", m_impl->digest); }

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const
{
    std::vector<std::int32_t> ids;
    std::string storage;
    OrdinaryEncoder encoder(m_impl->file, m_impl->byteIds, ids);
    const auto pushToken = [&](std::int32_t id) { ids.push_back(id); };
    const auto pushOrdinary = [&](std::string_view piece) { encoder.append(piece); };
    const auto pushText = [&](std::string_view piece) {
        splitAtAddedTokens(piece, m_impl->normalizedMatcher, pushOrdinary, pushToken);
    };
    splitAtAddedTokens(repaired(text, storage), m_impl->literalMatcher, pushText, pushToken);
    return ids;
}

std::vector<std::int32_t> Tokenizer::encodeOrdinary(std::string_view text) const
{
    std::vector<std::int32_t> ids;
    std::string storage;
    OrdinaryEncoder(m_impl->file, m_impl->byteIds, ids).append(repaired(text, storage));
    return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skipSpecial) const
{
    std::string bytes;
    for (const std::int32_t id : ids) {
        if (!skipSpecial || !isSpecial(id))
            bytes += tokenBytes(id);
    }
    return replaceInvalidUtf8(bytes);
}

std::string_view Tokenizer::tokenBytes(std::int32_t id) const
{
    return m_impl->file.vocabulary.bytes(id);
}

std::optional<std::int32_t> Tokenizer::addedTokenId(std::string_view token) const
{
    const auto found = m_impl->addedIds.find(token);
    return found == m_impl->addedIds.end() ? std::nullopt : std::optional(found->second);
}

bool Tokenizer::isAdded(std::int32_t id) const
{
    return id >= 0 && id < size() && m_impl->added[static_cast<std::size_t>(id)];
}

bool Tokenizer::isSpecial(std::int32_t id) const
{
    return id >= 0 && id < size() && m_impl->special[static_cast<std::size_t>(id)];
}

bool Tokenizer::isMapped(std::int32_t id) const { return !tokenBytes(id).empty(); }

int Tokenizer::size() const { return m_impl->file.vocabulary.size(); }

} // namespace firesteel::engine
