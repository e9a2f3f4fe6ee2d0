// SPDX-License-Identifier: MIT
//
// What a quantizer run has finished, kept in one file that only grows: a run that was killed at any
// moment goes on where it was. A record that is not whole at the file's end is cut off.
#pragma once

#include "engine/api/error.h"
#include "engine/quantize/matrix_quantizer.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace firesteel::engine {

// What the records depend on. A journal made with others is of no use.
struct JournalInputs
{
    std::uint64_t source = 0; // digests
    std::uint64_t rates = 0;
    std::uint64_t calibration = 0;
    std::uint64_t settings = 0; // codebook and the like

    bool operator==(const JournalInputs &) const = default;
};

class Journal
{
public:
    // Opens or begins it. Errors: Io; BadRequest naming which input has changed since it was begun.
    static Result<Journal> open(const std::filesystem::path &file, const JournalInputs &inputs);
    Journal(Journal &&other) noexcept;
    Journal &operator=(Journal &&other) noexcept;
    ~Journal();

    bool contains(const std::string &module) const { return m_records.contains(module); }
    // Errors: Io (the disk is full).
    Result<void> append(const std::string &module, const QuantizedMatrix &matrix);
    // A record's matrix. Errors: Io, NotFound.
    Result<QuantizedMatrix> read(const std::string &module) const;

private:
    struct Place
    {
        std::uint64_t offset = 0; // of the payload
        std::uint64_t size = 0;
    };
    Journal() = default;
    Result<void> scan(const JournalInputs &inputs);
    std::unexpected<Error> failed(const char *what) const;

    std::filesystem::path m_file;
    int m_descriptor = -1;
    std::uint64_t m_end = 0;
    std::map<std::string, Place> m_records;
};

} // namespace firesteel::engine
