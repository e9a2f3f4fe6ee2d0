// SPDX-License-Identifier: MIT
//
// The keys of the endpoint: made here, shown once, kept only as salted hashes in a file that nobody
// but its owner may read. Any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

struct ApiKey
{
    std::string id; // of the file; not secret
    std::string name; // given by a person
    std::string ending; // last four characters of the key, to tell keys apart
    std::int64_t created = 0; // seconds since 1970
};

class ApiKeys
{
public:
    // A file that does not exist holds no keys. One that cannot be read lets nobody in: problem()
    // says why, and isEmpty() is false.
    explicit ApiKeys(std::filesystem::path file);

    // Both read the file again first, which the window and a command may change in turn. The key
    // itself: the one time that it can be seen. Errors: a sentence that names the file.
    std::expected<std::string, std::string> create(const std::string &name);
    std::expected<void, std::string> remove(const std::string &id); // unknown ids are ignored

    std::vector<ApiKey> list() const;
    bool isEmpty() const;
    std::optional<std::string> nameOf(std::string_view key) const; // none: no such key
    std::string problem() const;

private:
    struct Entry
    {
        ApiKey key;
        std::string salt; // hexadecimal, 16 bytes
        std::string hash; // of salt and key, SHA-256, hexadecimal
    };

    void read();
    std::expected<void, std::string> write(const std::vector<Entry> &entries) const;

    const std::filesystem::path m_file;
    mutable std::mutex m_mutex;
    std::vector<Entry> m_entries;
    std::string m_problem;
};

} // namespace firesteel::app
