// SPDX-License-Identifier: MIT
//
// A folder that exists as long as the object, for tests that need files on disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace firesteel::test {

class TemporaryFolder
{
public:
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    ~TemporaryFolder();

    const std::filesystem::path &path() const { return m_path; }
    std::filesystem::path operator/(std::string_view name) const { return m_path / name; }

private:
    std::filesystem::path m_path;
};

// Throw std::runtime_error: a test cannot go on without its files.
void writeFile(const std::filesystem::path &path, std::string_view content);
std::string readFile(const std::filesystem::path &path);

} // namespace firesteel::test
