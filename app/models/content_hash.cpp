// SPDX-License-Identifier: MIT
// SHA256_CTX and SHA_CTX are plain structs that can be copied out; their successors in libcrypto 3
// hide the state. They are deprecated, not removed.
#define OPENSSL_SUPPRESS_DEPRECATED // NOLINT(readability-identifier-naming)
#include "app/models/content_hash.h"

#include <QDataStream>
#include <QIODevice>

#include <array>
#include <cstring>
#include <openssl/sha.h>

namespace firesteel::app {

namespace {

constexpr quint32 kStateVersion = 1;

// Words of the chaining value, length in bits, the unfinished block and its length.
template <typename Words, typename Block>
void save(QDataStream &out, const Words &words, quint32 low, quint32 high, const Block &block,
          quint32 pending)
{
    for (const auto word : words)
        out << static_cast<quint32>(word);
    out << low << high << pending;
    out.writeRawData(reinterpret_cast<const char *>(&block), sizeof(block));
}

} // namespace

struct ContentHash::Context
{
    Kind kind = Kind::Sha256;
    SHA256_CTX sha256 = {};
    SHA_CTX sha1 = {};

    std::array<SHA_LONG *, 5> sha1Words()
    {
        return { &sha1.h0, &sha1.h1, &sha1.h2, &sha1.h3, &sha1.h4 };
    }
};

ContentHash::ContentHash(Kind kind, qint64 size)
    : m_context(std::make_unique<Context>())
{
    m_context->kind = kind;
    if (kind == Kind::Sha256) {
        SHA256_Init(&m_context->sha256);
        return;
    }
    SHA1_Init(&m_context->sha1);
    QByteArray header = "blob " + QByteArray::number(size);
    header.append('\0');
    add(header);
}

ContentHash::ContentHash(std::unique_ptr<Context> context)
    : m_context(std::move(context))
{
}

ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash &&) noexcept = default;
ContentHash &ContentHash::operator=(ContentHash &&) noexcept = default;

void ContentHash::add(QByteArrayView bytes)
{
    const auto size = static_cast<std::size_t>(bytes.size());
    if (m_context->kind == Kind::Sha256)
        SHA256_Update(&m_context->sha256, bytes.data(), size);
    else
        SHA1_Update(&m_context->sha1, bytes.data(), size);
}

QByteArray ContentHash::hexDigest() const
{
    Context copy = *m_context;
    QByteArray digest;
    if (copy.kind == Kind::Sha256) {
        digest.resize(SHA256_DIGEST_LENGTH);
        SHA256_Final(reinterpret_cast<unsigned char *>(digest.data()), &copy.sha256);
    } else {
        digest.resize(SHA_DIGEST_LENGTH);
        SHA1_Final(reinterpret_cast<unsigned char *>(digest.data()), &copy.sha1);
    }
    return digest.toHex();
}

QByteArray ContentHash::state() const
{
    QByteArray bytes;
    QDataStream out(&bytes, QIODevice::WriteOnly);
    Context &context = *m_context;
    out << kStateVersion << static_cast<quint32>(context.kind);
    if (context.kind == Kind::Sha256) {
        const SHA256_CTX &c = context.sha256;
        save(out, c.h, c.Nl, c.Nh, c.data, c.num);
    } else {
        const SHA_CTX &c = context.sha1;
        save(out, std::array { c.h0, c.h1, c.h2, c.h3, c.h4 }, c.Nl, c.Nh, c.data, c.num);
    }
    return bytes;
}

std::optional<ContentHash> ContentHash::restore(Kind kind, const QByteArray &state)
{
    QDataStream in(state);
    quint32 version = 0;
    quint32 stored = 0;
    in >> version >> stored;
    if (version != kStateVersion || stored != static_cast<quint32>(kind))
        return std::nullopt;
    auto context = std::make_unique<Context>();
    context->kind = kind;
    const auto load = [&in](auto &low, auto &high, auto &pending, auto &block) {
        quint32 number = 0;
        in >> number;
        low = number;
        in >> number;
        high = number;
        in >> number;
        pending = number;
        return number < sizeof(block)
            && in.readRawData(reinterpret_cast<char *>(&block), sizeof(block)) == sizeof(block)
            && in.atEnd();
    };
    bool complete = false;
    if (kind == Kind::Sha256) {
        SHA256_Init(&context->sha256);
        for (auto &word : context->sha256.h) {
            quint32 number = 0;
            in >> number;
            word = number;
        }
        SHA256_CTX &c = context->sha256;
        complete = load(c.Nl, c.Nh, c.num, c.data);
    } else {
        SHA1_Init(&context->sha1);
        for (SHA_LONG *word : context->sha1Words()) {
            quint32 number = 0;
            in >> number;
            *word = number;
        }
        SHA_CTX &c = context->sha1;
        complete = load(c.Nl, c.Nh, c.num, c.data);
    }
    if (!complete || in.status() != QDataStream::Ok)
        return std::nullopt;
    return ContentHash(std::move(context));
}

} // namespace firesteel::app
