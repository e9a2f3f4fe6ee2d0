// SPDX-License-Identifier: MIT
//
// An application on a scripted engine that tests start again and again on the same files.
#pragma once

#include "app/application.h"
#include "tests/app/store/store_fixture.h"
#include "tests/support/fake_engine.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <memory>
#include <string>

namespace firesteel::test {

struct Session
{
    explicit Session(FakeScript newScript = {})
        : script(std::move(newScript))
    {
    }

    QString file() const { return folder.filePath(QStringLiteral("data/firesteel.db")); }

    // Everything but a start.
    void make()
    {
        application.reset();
        auto engine = std::make_unique<FakeEngine>(script);
        fake = engine.get();
        app::ApplicationSetup setup;
        setup.settingsFile = folder.filePath(QStringLiteral("settings.ini"));
        setup.databaseFile = file();
        setup.isAfterCrash = isAfterCrash;
        setup.engine.findModel = [this] { return location; };
        application = std::make_unique<app::Application>(std::move(engine), std::move(setup));
        tester = std::make_unique<QAbstractItemModelTester>(application->conversations());
    }

    // And it has its chats and its model.
    bool start()
    {
        make();
        QSignalSpy listed(application->conversations(), &QAbstractItemModel::modelReset);
        application->start();
        return QTest::qWaitFor([&] {
            return !listed.isEmpty()
                && application->engine()->state() == app::EngineController::State::Ready;
        });
    }

    void stop()
    {
        tester.reset();
        application.reset();
    }

    // Writes to the file while no application has it.
    template <typename F> void fill(F work)
    {
        app::DatabaseThread database(file());
        valueOf(waitFor(database.write(work)));
    }

    template <typename F> auto read(F work)
    {
        return valueOf(waitFor(application->database()->read(work)));
    }

    app::EngineController *engine() const { return application->engine(); }
    app::ConversationController *chat() const { return application->conversation(); }
    app::ConversationListModel *list() const { return application->conversations(); }
    bool waitIdle() const
    {
        return QTest::qWaitFor([this] { return !chat()->isBusy() && !chat()->isLoading(); });
    }
    bool say(const QString &text)
    {
        chat()->send(text);
        return waitIdle();
    }
    bool open(int row)
    {
        application->openConversation(row);
        return waitIdle();
    }
    QVariant value(int row, int role) const { return chat()->blocks()->index(row, 0).data(role); }
    QList<int> types() const
    {
        QList<int> all;
        for (int row = 0; row < chat()->blocks()->rowCount(); ++row)
            all << value(row, app::MessageBlockModel::BlockTypeRole).toInt();
        return all;
    }
    QString lastText(int role) const
    {
        return value(chat()->blocks()->rowCount() - 1, role).toString();
    }

    QTemporaryDir folder;
    FakeScript script;
    app::ModelLocation location { "/models/glimmer", {} }; // empty: there is no model
    bool isAfterCrash = false; // at the next start
    FakeEngine *fake = nullptr;
    std::unique_ptr<app::Application> application;
    std::unique_ptr<QAbstractItemModelTester> tester;
};

inline FakeScript answering(const std::string &text, const std::string &thinking = {})
{
    FakeScript script;
    script.answer = [text, thinking](const auto &) {
        FakeAnswer answer;
        answer.text = text;
        answer.thinking = thinking;
        return answer;
    };
    return script;
}

} // namespace firesteel::test
