// SPDX-License-Identifier: MIT
//
// What of a prompt is not read again: by the rules of the slots, with the tiny model's sequences.
#include "engine/serve/sequence_slots.h"
#include "tests/engine/serve/engine_fixture.h"
#include "tests/support/loaded_model.h"

#include <doctest/doctest.h>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;
using test::promptTokens;

namespace {

constexpr std::uint64_t kPlenty = 1ULL << 30;

struct Slots
{
    explicit Slots(int count, std::uint64_t budget = kPlenty)
        : slots(*loaded.model, count, 512, budget)
    {
    }

    // As the engine does it: everything but the last token of the chunk after the last mark.
    // Returns what was there already.
    SequenceSlots::Lease read(const Prompt &prompt)
    {
        const SequenceSlots::Lease lease = slots.acquire(prompt.tokens);
        SequenceState &sequence = slots.sequence(lease.slot);
        REQUIRE(sequence.position() == lease.position);
        const auto size = static_cast<int>(prompt.tokens.size());
        while (sequence.position() < size) {
            const int begin = sequence.position();
            const int end = SequenceSlots::nextMark(prompt, begin);
            loaded.prefill(sequence,
                           std::span(prompt.tokens)
                               .subspan(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(end - begin)));
            if (end < size)
                slots.keep(lease.slot);
        }
        return lease;
    }
    SequenceSlots::Lease readAndRelease(const Prompt &prompt)
    {
        const SequenceSlots::Lease lease = read(prompt);
        slots.release(lease.slot);
        return lease;
    }

    struct Folder : test::TemporaryFolder
    {
        Folder() { test::writeTinyCheckpoint(path()); }
    } folder;
    test::LoadedModel loaded { folder.path() };
    SequenceSlots slots;
};

Prompt promptOf(std::vector<std::int32_t> tokens)
{
    Prompt prompt;
    prompt.lastUserTurn = tokens.size();
    prompt.tokens = std::move(tokens);
    return prompt;
}

// `shared` tokens that all variants begin with, then others.
Prompt branch(int shared, int own, int variant)
{
    std::vector<std::int32_t> tokens = promptTokens(shared);
    const std::vector<std::int32_t> more = promptTokens(own, variant);
    tokens.insert(tokens.end(), more.begin(), more.end());
    return promptOf(std::move(tokens));
}

} // namespace

TEST_CASE("marks: the last user's turn, the end and every 8192 tokens, in steps of 64")
{
    Prompt prompt = promptOf(std::vector<std::int32_t>(20000, 1));
    prompt.lastUserTurn = 19000;
    CHECK(SequenceSlots::nextMark(prompt, 0) == 8192);
    CHECK(SequenceSlots::nextMark(prompt, 8191) == 8192);
    CHECK(SequenceSlots::nextMark(prompt, 8192) == 16384);
    CHECK(SequenceSlots::nextMark(prompt, 16384) == 18944);
    CHECK(SequenceSlots::nextMark(prompt, 18944) == 19968);
    CHECK(SequenceSlots::nextMark(prompt, 19968) == 20000);
    prompt = promptOf(std::vector<std::int32_t>(64, 1)); // its last token is read by itself
    CHECK(SequenceSlots::nextMark(prompt, 0) == 64);
    prompt = promptOf(std::vector<std::int32_t>(65, 1));
    CHECK(SequenceSlots::nextMark(prompt, 0) == 64);
    CHECK(SequenceSlots::nextMark(prompt, 64) == 65);
}

TEST_CASE("a prompt that goes on where a sequence ended reads only what is new")
{
    Slots s(2);
    CHECK(s.readAndRelease(branch(100, 0, 0)).position == 0);
    const SequenceSlots::Lease next = s.readAndRelease(branch(100, 50, 1));
    CHECK(next.position == 100);
    CHECK(next.isSameSequence);
    CHECK(s.slots.sequence(next.slot).position() == 150);
}

TEST_CASE("a prompt that was given up goes on where it was, beside another conversation")
{
    Slots s(2);
    const Prompt prompt = branch(300, 0, 0);
    const SequenceSlots::Lease given = s.slots.acquire(prompt.tokens);
    s.loaded.prefill(s.slots.sequence(given.slot), std::span(prompt.tokens).first(64));
    s.slots.release(given.slot);
    const SequenceSlots::Lease other = s.readAndRelease(promptOf(promptTokens(400, 7)));
    CHECK(other.slot != given.slot);
    const SequenceSlots::Lease again = s.readAndRelease(prompt);
    CHECK(again.slot == given.slot);
    CHECK(again.position == 64);
    CHECK(again.isSameSequence);
    CHECK(s.slots.sequence(other.slot).position() == 400);
}

TEST_CASE("the same prompt again reads its last part only")
{
    Slots s(1);
    CHECK(s.readAndRelease(branch(200, 0, 0)).position == 0);
    CHECK(s.readAndRelease(branch(200, 0, 0)).position == 192);
    CHECK(s.readAndRelease(branch(193, 0, 0)).position == 192);
    CHECK(s.readAndRelease(branch(192, 0, 0)).position == 0); // its last token must be read
}

TEST_CASE("a turn that is changed goes on from before it")
{
    Slots s(1);
    Prompt prompt = branch(300, 0, 0);
    prompt.lastUserTurn = 140;
    s.readAndRelease(prompt);
    CHECK(s.readAndRelease(branch(150, 100, 1)).position == 128);
    // What followed is gone, what precedes is not.
    CHECK(s.readAndRelease(branch(130, 100, 2)).position == 128);
    CHECK(s.readAndRelease(branch(120, 100, 3)).position == 0);
}

TEST_CASE("the end of a turn is kept when the sequence goes on")
{
    Slots s(1);
    s.readAndRelease(branch(100, 0, 0));
    s.readAndRelease(branch(100, 50, 1));
    CHECK(s.readAndRelease(branch(100, 50, 2)).position == 100);
}

TEST_CASE("two chats with one beginning keep a sequence each")
{
    Slots s(3);
    Prompt first = branch(150, 250, 1);
    first.lastUserTurn = 150;
    const SequenceSlots::Lease one = s.readAndRelease(first);
    const SequenceSlots::Lease two = s.readAndRelease(branch(150, 250, 2));
    CHECK(two.position == 128); // copied
    CHECK(!two.isSameSequence);
    CHECK(two.slot != one.slot);
    CHECK(s.readAndRelease(branch(150, 250, 1)).position == 384);
    CHECK(s.readAndRelease(branch(150, 250, 2)).position == 384);
    // A busy sequence gives its beginning too.
    Slots busy(2);
    busy.read(first);
    CHECK(busy.read(branch(150, 20, 3)).position == 128);
}

TEST_CASE("the longest unused sequence makes room, and an empty one before it")
{
    Slots s(2);
    const int a = s.readAndRelease(branch(0, 100, 1)).slot;
    const int b = s.readAndRelease(branch(0, 100, 2)).slot;
    CHECK(a != b);
    CHECK(s.readAndRelease(branch(0, 120, 1)).slot == a); // goes on, and is the newer one now
    CHECK(s.readAndRelease(branch(0, 100, 3)).slot == b);
    CHECK(s.readAndRelease(branch(0, 130, 1)).position > 0);
}

TEST_CASE("a state gone back to gives the bits of a prompt read whole")
{
    const Prompt prompt = branch(150, 60, 4);
    Slots fresh(1);
    const SequenceSlots::Lease whole = fresh.slots.acquire(prompt.tokens);
    const std::vector<float> expected
        = fresh.loaded.prefill(fresh.slots.sequence(whole.slot), prompt.tokens);

    for (const int sequences : { 1, 2 }) { // gone back to in place; copied from a busy one
        Slots used(sequences);
        Prompt before = branch(150, 100, 1);
        before.lastUserTurn = 150;
        const SequenceSlots::Lease first = used.read(before);
        if (sequences == 1)
            used.slots.release(first.slot);
        const SequenceSlots::Lease lease = used.slots.acquire(prompt.tokens);
        REQUIRE(lease.position == 128);
        CHECK(used.loaded.prefill(used.slots.sequence(lease.slot),
                                  std::span(prompt.tokens).subspan(128))
              == expected);
    }
}

TEST_CASE("snapshots stay inside their budget, and none at all is fine")
{
    Slots none(1, 0);
    none.readAndRelease(branch(200, 0, 0));
    CHECK(none.slots.snapshotBytes() == 0);
    CHECK(none.readAndRelease(branch(200, 0, 0)).position == 0);
    CHECK(none.readAndRelease(branch(200, 10, 1)).position == 200); // needs none

    const std::uint64_t one = none.slots.sequence(0).snapshotBytes();
    const std::uint64_t budget = one * 7 / 2;
    Slots three(1, budget);
    for (int turn = 1; turn <= 8; ++turn) {
        three.readAndRelease(branch(turn * 60, 0, 0));
        CHECK(three.slots.snapshotBytes() <= budget);
    }
    CHECK(three.slots.snapshotBytes() > 2 * one);
    CHECK(three.readAndRelease(branch(480, 30, 1)).position == 480);
}
