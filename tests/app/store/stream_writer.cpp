// SPDX-License-Identifier: MIT
//
// What tst_store_kill kills: asks and answers in one conversation for ever, through the classes the
// window uses. Every line on its standard output is a promise, in the milliseconds of the monotonic
// clock, that the test checks against the database afterwards:
//
//   q ID            the question is stored
//   p ID N TIME     piece N of reply ID has come from the engine
//   f ID N          reply ID is stored as a whole, of N pieces
//
// Usage: stream_writer DATABASE SEED
#include "app/chat/reply_recorder.h"
#include "app/store/conversation_store.h"

#include <QCoreApplication>
#include <QTimer>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <unistd.h>

using namespace firesteel;

namespace {

constexpr int kPieceMilliseconds = 4;

long long monotonicMilliseconds()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// One write call a line: a kill cuts between lines or the reader drops the torn one.
template <typename... Values> void tell(const char *format, Values... values)
{
    std::array<char, 128> line {};
    const int length = std::snprintf(line.data(), line.size(), format, values...);
    if (::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(length)) != length)
        std::_Exit(EXIT_FAILURE); // the test is gone
}

class Writer
{
public:
    Writer(app::ConversationStore &store, unsigned seed)
        : m_store(store)
        , m_random(seed)
    {
        m_conversation.summary.id = app::newRecordId();
        m_conversation.summary.created = app::currentMilliseconds();
        m_store.addConversation(m_conversation);
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.setInterval(kPieceMilliseconds);
        QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] { addPiece(); });
        ask();
    }

private:
    app::MessageRecord message(engine::Role role) const
    {
        app::MessageRecord record;
        record.id = app::newRecordId();
        record.conversation = m_conversation.summary.id;
        record.parent = m_last;
        record.role = role;
        record.created = app::currentMilliseconds();
        return record;
    }

    void ask()
    {
        app::MessageRecord question = message(engine::Role::User);
        question.text = "question";
        m_last = question.id;
        const app::MessageRecord reply = message(engine::Role::Assistant);
        m_last = reply.id;
        m_pieces = 0;
        m_wanted = std::uniform_int_distribution(20, 600)(m_random);
        m_recorder.emplace(m_store, reply);
        m_store.beginTurn(question, reply)
            .then(&m_timer, [this, id = question.id](const app::StoreResult<void> &done) {
                if (!done)
                    std::_Exit(EXIT_FAILURE);
                tell("q %lld\n", static_cast<long long>(id));
                m_timer.start();
            });
    }

    void addPiece()
    {
        ++m_pieces;
        // Fixed width, so that the test counts pieces by the length.
        std::array<char, 16> text {};
        std::snprintf(text.data(), text.size(), "%07d ", m_pieces);
        m_recorder->add({ m_pieces % 5 == 0, text.data(), 1, { m_pieces } });
        tell("p %lld %d %lld\n", static_cast<long long>(m_recorder->id()), m_pieces,
             monotonicMilliseconds());
        if (m_pieces < m_wanted)
            return;
        m_timer.stop();
        engine::Finished finished;
        for (int id = 1; id <= m_pieces; ++id)
            finished.tokens.push_back(id);
        m_recorder->finish(finished, 0);
        const auto id = static_cast<long long>(m_recorder->id());
        m_recorder.reset();
        // Reads see everything written before: once this is answered the reply is stored.
        m_store.list().then(&m_timer, [this, id, pieces = m_pieces](const auto &) {
            tell("f %lld %d\n", id, pieces);
            ask();
        });
    }

    app::ConversationStore &m_store;
    app::ConversationRecord m_conversation;
    std::optional<app::RecordId> m_last;
    std::mt19937 m_random;
    std::optional<app::ReplyRecorder> m_recorder;
    int m_pieces = 0;
    int m_wanted = 0;
    QTimer m_timer;
};

} // namespace

int main(int argc, char *argv[])
{
    const QCoreApplication application(argc, argv);
    if (argc != 3) {
        std::fputs("usage: stream_writer DATABASE SEED\n", stderr);
        return EXIT_FAILURE;
    }
    app::DatabaseThread database(QString::fromLocal8Bit(argv[1]));
    app::ConversationStore store(database);
    store.open();
    const Writer writer(store, static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
    return QCoreApplication::exec();
}
