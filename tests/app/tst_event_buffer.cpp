// SPDX-License-Identifier: MIT
#include "app/inference/event_buffer.h"

#include <QTest>

#include <atomic>
#include <thread>

namespace firesteel::test {

using app::BufferEntry;
using app::EventBuffer;
using app::GenerationEntry;

namespace {

GenerationEntry text(app::GenerationToken token, std::string piece)
{
    return { token, engine::GenerationEvent { engine::TextDelta { std::move(piece), 1, { 7 } } } };
}

} // namespace

class EventBufferTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void wakesOncePerTake();
    void joinsNeighboursOnly();
    void losesNothingBetweenThreads();
    void neverWakesAfterDetach();
};

void EventBufferTest::wakesOncePerTake()
{
    int woken = 0;
    EventBuffer buffer([&] { ++woken; });
    for (int i = 0; i < 5; ++i)
        buffer.push(text(1, "x"));
    QCOMPARE(woken, 1);
    QCOMPARE(buffer.take().size(), 1U);
    QVERIFY(buffer.take().empty());
    buffer.push(text(1, "x"));
    QCOMPARE(woken, 2);
}

void EventBufferTest::joinsNeighboursOnly()
{
    EventBuffer buffer({});
    buffer.push(text(1, "a"));
    buffer.push(text(1, "b"));
    buffer.push(text(2, "c"));
    buffer.push(text(1, "d"));
    buffer.push(
        GenerationEntry { 1, engine::GenerationEvent { engine::ThinkingDelta { "e", 1 } } });
    const std::vector<BufferEntry> entries = buffer.take();
    QCOMPARE(entries.size(), 4U);
    const auto &joined = std::get<engine::TextDelta>(
        std::get<engine::GenerationEvent>(std::get<GenerationEntry>(entries[0]).event));
    QCOMPARE(joined.text, std::string("ab"));
    QCOMPARE(joined.tokens, 2);
    QCOMPARE(joined.ids, (std::vector<std::int32_t> { 7, 7 }));
}

void EventBufferTest::losesNothingBetweenThreads()
{
    constexpr int kPieces = 20'000;
    EventBuffer buffer({});
    std::jthread writer([&] {
        for (int i = 0; i < kPieces; ++i)
            buffer.push(text(1, "x"));
    });
    int tokens = 0;
    while (tokens < kPieces) {
        for (const BufferEntry &entry : buffer.take())
            tokens += std::get<engine::TextDelta>(
                          std::get<engine::GenerationEvent>(std::get<GenerationEntry>(entry).event))
                          .tokens;
    }
    QCOMPARE(tokens, kPieces);
}

void EventBufferTest::neverWakesAfterDetach()
{
    std::atomic<int> woken = 0;
    EventBuffer buffer([&] { ++woken; });
    buffer.detach();
    buffer.push(text(1, "x"));
    QCOMPARE(woken.load(), 0);
}

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::EventBufferTest)
#include "tst_event_buffer.moc"
