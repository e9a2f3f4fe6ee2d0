// SPDX-License-Identifier: MIT
//
// The digest of a file while its bytes arrive in order, in the two forms the hub publishes:
// SHA-256 of large files, git's blob id of small ones. Its state can be stored and restored, so a
// download that was killed goes on hashing where its bytes end. Qt's hash has no such state;
// libcrypto's also uses the processor's SHA instructions.
#pragma once

#include <QByteArray>
#include <QByteArrayView>

#include <memory>
#include <optional>

namespace firesteel::app {

class ContentHash
{
public:
    enum class Kind { Sha256 = 0, GitBlob = 1 };

    // `size` of the whole file in bytes; a blob id begins with it.
    ContentHash(Kind kind, qint64 size);
    ~ContentHash();
    ContentHash(ContentHash &&) noexcept;
    ContentHash &operator=(ContentHash &&) noexcept;

    void add(QByteArrayView bytes);
    QByteArray hexDigest() const; // of what was added so far; adding may go on

    // For this machine only. restore() refuses what it did not write for that kind.
    QByteArray state() const;
    static std::optional<ContentHash> restore(Kind kind, const QByteArray &state);

private:
    struct Context;
    explicit ContentHash(std::unique_ptr<Context> context);

    std::unique_ptr<Context> m_context;
};

} // namespace firesteel::app
