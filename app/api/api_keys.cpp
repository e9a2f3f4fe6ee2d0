// SPDX-License-Identifier: MIT
#include "app/api/api_keys.h"

#include "app/api/json_document.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <format>
#include <fstream>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <span>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace firesteel::app {

namespace {

constexpr std::string_view kPrefix = "fsk-";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kIdBytes = 6;
constexpr std::size_t kShownCharacters = 4;
constexpr std::uintmax_t kLargestFile = 1 << 20;

std::string hexOf(std::span<const unsigned char> bytes)
{
    std::string text;
    for (const unsigned char byte : bytes)
        text += std::format("{:02x}", byte);
    return text;
}

std::string randomHex(std::size_t count)
{
    std::vector<unsigned char> bytes(count);
    if (RAND_bytes(bytes.data(), static_cast<int>(count)) != 1)
        throw std::runtime_error("The system gives no random bytes.");
    return hexOf(bytes);
}

// The keys are random themselves, so one round of a plain hash is as strong as they are.
std::string hashOf(std::string_view salt, std::string_view key)
{
    const std::string text = std::format("{}:{}", salt, key);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest {};
    unsigned int length = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("SHA-256 is not available.");
    return hexOf(std::span(digest).first(length));
}

std::string failure(const std::filesystem::path &file)
{
    return std::format("{} could not be written: {}.", file.string(), std::strerror(errno));
}

} // namespace

ApiKeys::ApiKeys(std::filesystem::path file)
    : m_file(std::move(file))
{
    read();
}

void ApiKeys::read()
{
    m_entries.clear();
    m_problem.clear();
    std::error_code error;
    if (!std::filesystem::exists(m_file, error) && !error)
        return;
    try {
        if (std::filesystem::file_size(m_file) > kLargestFile)
            throw std::runtime_error("it is too large");
        std::ifstream file(m_file, std::ios::binary);
        if (!file)
            throw std::runtime_error(std::strerror(errno));
        const Json json = Json::parse(file);
        for (const Json &item : json.at("keys")) {
            Entry entry;
            entry.key.id = item.at("id").get<std::string>();
            entry.key.name = item.at("name").get<std::string>();
            entry.key.ending = item.at("ending").get<std::string>();
            entry.key.created = item.at("created").get<std::int64_t>();
            entry.salt = item.at("salt").get<std::string>();
            entry.hash = item.at("hash").get<std::string>();
            m_entries.push_back(std::move(entry));
        }
    } catch (const std::exception &what) {
        m_entries.clear();
        m_problem = std::format("The keys in {} cannot be read ({}), so no key is accepted.",
                                m_file.string(), what.what());
    }
}

std::expected<void, std::string> ApiKeys::write(const std::vector<Entry> &entries) const
{
    Json json { { "version", 1 }, { "keys", Json::array() } };
    for (const Entry &entry : entries) {
        json["keys"].push_back({ { "id", entry.key.id },
                                 { "name", entry.key.name },
                                 { "ending", entry.key.ending },
                                 { "created", entry.key.created },
                                 { "salt", entry.salt },
                                 { "hash", entry.hash } });
    }
    std::error_code error;
    std::filesystem::create_directories(m_file.parent_path(), error);
    std::string temporary = m_file.string() + ".XXXXXX";
    const int file = ::mkostemp(temporary.data(), O_CLOEXEC); // mode 0600
    if (file < 0)
        return std::unexpected(failure(m_file));
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    const bool isWritten
        = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size())
        && ::fsync(file) == 0;
    const int writeError = errno;
    ::close(file);
    if (isWritten && ::rename(temporary.c_str(), m_file.c_str()) == 0)
        return {};
    if (!isWritten)
        errno = writeError;
    std::string problem = failure(m_file);
    ::unlink(temporary.c_str());
    return std::unexpected(std::move(problem));
}

std::expected<std::string, std::string> ApiKeys::create(const std::string &name)
{
    const std::scoped_lock lock(m_mutex);
    read(); // another program may have made keys meanwhile
    if (!m_problem.empty())
        return std::unexpected(m_problem);
    std::string key = std::string(kPrefix) + randomHex(kKeyBytes);
    Entry entry;
    entry.key = { randomHex(kIdBytes), name, key.substr(key.size() - kShownCharacters),
                  std::chrono::duration_cast<std::chrono::seconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count() };
    entry.salt = randomHex(kSaltBytes);
    entry.hash = hashOf(entry.salt, key);
    std::vector<Entry> entries = m_entries;
    entries.push_back(std::move(entry));
    if (auto written = write(entries); !written)
        return std::unexpected(std::move(written.error()));
    m_entries = std::move(entries);
    return key;
}

std::expected<void, std::string> ApiKeys::remove(const std::string &id)
{
    const std::scoped_lock lock(m_mutex);
    read();
    if (!m_problem.empty())
        return std::unexpected(m_problem);
    std::vector<Entry> entries = m_entries;
    if (std::erase_if(entries, [&](const Entry &entry) { return entry.key.id == id; }) == 0)
        return {};
    if (auto written = write(entries); !written)
        return written;
    m_entries = std::move(entries);
    return {};
}

std::vector<ApiKey> ApiKeys::list() const
{
    const std::scoped_lock lock(m_mutex);
    std::vector<ApiKey> keys;
    keys.reserve(m_entries.size());
    for (const Entry &entry : m_entries)
        keys.push_back(entry.key);
    return keys;
}

bool ApiKeys::isEmpty() const
{
    const std::scoped_lock lock(m_mutex);
    return m_entries.empty() && m_problem.empty();
}

std::optional<std::string> ApiKeys::nameOf(std::string_view key) const
{
    const std::scoped_lock lock(m_mutex);
    std::optional<std::string> name;
    // All of them, in constant time each: how long it takes tells nothing.
    for (const Entry &entry : m_entries) {
        const std::string hash = hashOf(entry.salt, key);
        if (hash.size() == entry.hash.size()
            && CRYPTO_memcmp(hash.data(), entry.hash.data(), hash.size()) == 0)
            name = entry.key.name;
    }
    return name;
}

std::string ApiKeys::problem() const
{
    const std::scoped_lock lock(m_mutex);
    return m_problem;
}

} // namespace firesteel::app
