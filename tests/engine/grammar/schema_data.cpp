// SPDX-License-Identifier: MIT
#include "tests/engine/grammar/schema_data.h"

#include "tests/support/test_paths.h"

#include <fstream>
#include <stdexcept>

namespace firesteel::test {

namespace {

void addFrom(const char *file, std::vector<SchemaSample> &samples)
{
    std::ifstream input(dataPath(file));
    for (std::string line; std::getline(input, line);) {
        const auto json = engine::parsePromptJson(line, file);
        if (!json)
            throw std::runtime_error(json.error().message);
        SchemaSample sample {
            json->find("name")->text, engine::dumpPromptJson(*json->find("schema")), {}, {}
        };
        if (const auto *folder = json->find("file")) {
            sample.name = folder->text + ": " + sample.name;
            sample.valid = json->find("valid")->items;
            sample.invalid = json->find("invalid")->items;
        }
        samples.push_back(std::move(sample));
    }
}

} // namespace

std::vector<SchemaSample> schemaSamples()
{
    std::vector<SchemaSample> samples;
    addFrom("schemas/suite.jsonl", samples);
    addFrom("schemas/realistic.jsonl", samples);
    return samples;
}

} // namespace firesteel::test
