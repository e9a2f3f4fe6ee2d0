// SPDX-License-Identifier: MIT
//
// The store of somebody who never deletes: 10,000 conversations with 1,000,000 messages. Times of
// starting, opening and searching, each as a person waits for it: from the call on one thread to
// the answer there. Prints JSON.
//
//   bench_store [--conversations 10000] [--messages 1000000] [--file DATABASE] [--output FILE]
//               [--commit ID]
//
// With --file an existing database is used again, or made there.
#include "app/chat/conversation_list_model.h"
#include "app/chat/message_rows.h"
#include "app/store/conversation_store.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace firesteel;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kRepeats = 9;
constexpr int kMostHits = 100; // as the window asks for

template <typename T> T waitFor(QFuture<T> future)
{
    if (!future.isFinished()) {
        QEventLoop loop;
        QFutureWatcher<T> watcher;
        QObject::connect(&watcher, &QFutureWatcher<T>::finished, &loop, &QEventLoop::quit);
        watcher.setFuture(future);
        loop.exec();
    }
    return future.takeResult();
}

template <typename T> T valueOf(app::StoreResult<T> result)
{
    if (!result) {
        std::fprintf(stderr, "%s\n", qPrintable(result.error().message));
        std::exit(EXIT_FAILURE);
    }
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

double statusMebibytes(const char *field)
{
    QFile file(u"/proc/self/status"_s);
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    for (const QByteArray &line : file.readAll().split('\n')) {
        if (line.startsWith(field))
            return line.mid(line.indexOf(':') + 1).trimmed().split(' ').first().toDouble() / 1024;
    }
    return 0;
}

// Words with the frequencies of a natural text (Zipf), every hundredth message in Japanese.
class Words
{
public:
    std::string message(int number)
    {
        std::string text;
        if (number % 100 == 0) {
            for (int i = 0; i < 60; ++i)
                text += QString(QChar(0x4E00 + zipf() % 2000)).toStdString();
            return text + "東京都庁です。";
        }
        const int words = std::uniform_int_distribution(10, 90)(m_random);
        for (int i = 0; i < words; ++i)
            text += word(zipf()) + (i % 12 == 11 ? ".\n" : " ");
        if (number % 100'000 == 7)
            text += "needle";
        return text;
    }

    static std::string word(int rank)
    {
        static constexpr std::array kSyllables { "ba", "co", "di", "fu", "ge", "ha", "lo", "me",
                                                 "ni", "po", "ra", "si", "ta", "ve", "zu", "ki" };
        std::string text;
        for (int left = rank + 1; left > 0; left /= static_cast<int>(kSyllables.size()))
            text += kSyllables[static_cast<std::size_t>(left) % kSyllables.size()];
        return text;
    }

private:
    // Ranks below 50,000 with P(rank) ~ 1 / rank.
    int zipf()
    {
        const double u = std::uniform_real_distribution(0.0, 1.0)(m_random);
        return static_cast<int>(std::pow(50'000.0, u)) - 1;
    }

    std::mt19937 m_random { 1 };
};

void fill(app::DatabaseThread &database, int conversations, int messages)
{
    Words words;
    const int each = messages / conversations;
    constexpr int kBatch = 100;
    const qint64 now = app::currentMilliseconds();
    for (int first = 0; first < conversations; first += kBatch) {
        valueOf(waitFor(database.write([&](const QSqlDatabase &sql) -> app::StoreResult<void> {
            for (int i = first; i < std::min(first + kBatch, conversations); ++i) {
                app::ConversationRecord record;
                record.summary = { app::newRecordId(),
                                   QString::fromStdString(words.message(i + 1).substr(0, 40)), now,
                                   now - (conversations - i) * 60'000LL };
                if (auto done = app::insertConversation(sql, record); !done)
                    return done;
                std::optional<app::RecordId> parent;
                for (int k = 0; k < each; ++k) {
                    app::MessageRecord message;
                    message.id = app::newRecordId();
                    message.conversation = record.summary.id;
                    message.parent = parent;
                    message.role = k % 2 == 0 ? engine::Role::User : engine::Role::Assistant;
                    message.created = record.summary.updated;
                    message.text = words.message(i * each + k);
                    message.end = app::ReplyEnd::Stop;
                    if (k % 2 == 1)
                        message.tokens.emplace(message.text.size() / 4, 1234);
                    parent = message.id;
                    if (auto done = app::insertMessage(sql, message); !done)
                        return done;
                }
            }
            return {};
        })));
        if (first % 1000 == 0)
            std::fprintf(stderr, "\r%d conversations", first);
    }
    std::fputs("\n", stderr);
}

template <typename F> QJsonObject repeated(F work)
{
    std::vector<double> milliseconds;
    for (int i = 0; i < kRepeats; ++i) {
        QElapsedTimer clock;
        clock.start();
        work(i);
        milliseconds.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
    }
    const double first = milliseconds.front();
    std::ranges::sort(milliseconds);
    return { { u"first_ms"_s, first },
             { u"median_ms"_s, milliseconds[milliseconds.size() / 2] },
             { u"max_ms"_s, milliseconds.back() } };
}

// From nothing to the list in its model, as when the window starts.
QJsonObject measureStart(const QString &file, std::size_t &listed)
{
    return repeated([&](int) {
        app::DatabaseThread database(file);
        app::ConversationStore store(database);
        app::ConversationListModel list;
        const auto summaries = valueOf(waitFor(store.open()));
        list.setStored(summaries);
        listed = summaries.size();
    });
}

// After something was left beside the file: by a crash its log, by a fault the marker ".check".
QJsonObject measureStartBeside(const QString &file, const QString &suffix)
{
    QElapsedTimer clock;
    QFile marker(file + suffix);
    if (!marker.open(QIODevice::WriteOnly) || marker.write(QByteArray(32, 'x')) < 0)
        std::exit(EXIT_FAILURE);
    marker.close();
    clock.start();
    app::DatabaseThread database(file);
    app::ConversationStore store(database);
    valueOf(waitFor(store.open()));
    return { { u"ms"_s, static_cast<double>(clock.nsecsElapsed()) * 1e-6 } };
}

QJsonObject measureUse(const QString &file)
{
    app::DatabaseThread database(file);
    app::ConversationStore store(database);
    app::ConversationListModel list;
    const auto summaries = valueOf(waitFor(store.open()));
    list.setStored(summaries);
    QJsonObject result;
    result[u"resident_with_list_MiB"_s] = statusMebibytes("VmRSS");
    result[u"open_conversation"_s] = repeated([&](int i) {
        const auto stored = valueOf(waitFor(
            store.load(summaries[static_cast<std::size_t>(i) * 1000 % summaries.size()].id)));
        const app::ShownConversation shown = app::shownConversation(stored);
        if (shown.rows.empty())
            std::exit(EXIT_FAILURE);
    });
    const std::vector<std::pair<QString, QString>> queries {
        { u"rare_word"_s, u"needle"_s },
        { u"middle_word"_s, QString::fromStdString(Words::word(700)) },
        { u"commonest_word"_s, QString::fromStdString(Words::word(0)) },
        { u"one_letter"_s, u"b"_s },
        { u"two_words"_s, QString::fromStdString(Words::word(30) + " " + Words::word(2500)) },
        { u"cjk"_s, u"東京都庁"_s },
        { u"one_cjk_character"_s, u"庁"_s },
        { u"no_match"_s, u"xyzzy"_s },
    };
    QJsonObject searches;
    for (const auto &[name, query] : queries) {
        qsizetype hits = 0;
        QJsonObject times = repeated([&](int) {
            hits = static_cast<qsizetype>(valueOf(waitFor(store.search(query, kMostHits))).size());
        });
        times[u"hits"_s] = hits;
        searches[name] = times;
    }
    result[u"search"_s] = searches;
    result[u"store_a_question"_s] = repeated([&](int) {
        app::MessageRecord message;
        message.id = app::newRecordId();
        message.conversation = summaries.front().id;
        message.created = app::currentMilliseconds();
        message.text = "How does a hash map work?";
        valueOf(waitFor(store.addMessage(message)));
    });
    result[u"resident_MiB"_s] = statusMebibytes("VmRSS");
    result[u"resident_peak_MiB"_s] = statusMebibytes("VmHWM");
    return result;
}

} // namespace

int main(int argc, char *argv[])
{
    const QCoreApplication application(argc, argv);
    QCommandLineParser parser;
    const QCommandLineOption conversations(u"conversations"_s, u"How many."_s, u"number"_s,
                                           u"10000"_s);
    const QCommandLineOption messages(u"messages"_s, u"In all of them together."_s, u"number"_s,
                                      u"1000000"_s);
    const QCommandLineOption file(u"file"_s, u"Database to use or make."_s, u"file"_s);
    const QCommandLineOption output(u"output"_s, u"For the JSON; without it: stdout."_s, u"file"_s);
    const QCommandLineOption commit(u"commit"_s, u"Of the source, for the record."_s, u"id"_s);
    parser.addOptions({ conversations, messages, file, output, commit });
    parser.addHelpOption();
    parser.process(application);

    const QTemporaryDir folder;
    const QString path
        = parser.isSet(file) ? parser.value(file) : folder.filePath(u"firesteel.db"_s);
    QJsonObject result {
        { u"commit"_s, parser.value(commit) },
        { u"conversations"_s, parser.value(conversations).toInt() },
        { u"messages"_s, parser.value(messages).toInt() },
        { u"cores"_s, static_cast<int>(std::thread::hardware_concurrency()) },
    };
    if (!QFile::exists(path)) {
        QElapsedTimer clock;
        clock.start();
        {
            app::DatabaseThread database(path);
            fill(database, parser.value(conversations).toInt(), parser.value(messages).toInt());
        }
        result[u"fill_s"_s] = static_cast<double>(clock.elapsed()) * 1e-3;
        // Its buffers are the generator's, not the store's: measure in a process of its own.
        std::fprintf(stderr, "filled; run again with --file %s to measure memory\n",
                     qPrintable(path));
    }
    result[u"file_MiB"_s] = static_cast<double>(QFileInfo(path).size()) / (1 << 20);
    result[u"resident_before_MiB"_s] = statusMebibytes("VmRSS");
    std::size_t listed = 0;
    result[u"start"_s] = measureStart(path, listed);
    result[u"listed"_s] = static_cast<qint64>(listed);
    result[u"use"_s] = measureUse(path);
    result[u"start_after_crash"_s] = measureStartBeside(path, u"-wal"_s);
    result[u"start_with_check_of_every_page"_s] = measureStartBeside(path, u".check"_s);
    const QByteArray json = QJsonDocument(result).toJson();
    if (!parser.isSet(output)) {
        std::fputs(json.constData(), stdout);
        return EXIT_SUCCESS;
    }
    QFile target(parser.value(output));
    if (!target.open(QIODevice::WriteOnly) || target.write(json) != json.size()) {
        std::fprintf(stderr, "%s: cannot be written\n", qPrintable(target.fileName()));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
