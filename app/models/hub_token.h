// SPDX-License-Identifier: MIT
//
// The access token of the hub and where it comes from: the desktop's keychain first, because it
// was given to this program, then what other programs on this machine use. On the GUI thread;
// nothing here is logged or written to a file.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcessEnvironment>
#include <QString>
#include <QUrl>

namespace firesteel::app {

class HubToken : public QObject
{
    Q_OBJECT

public:
    enum class Source { None, Keychain, Session, Environment, File };

    struct Setup
    {
        QUrl endpoint; // a token belongs to one host
        bool usesKeychain = false;
        QProcessEnvironment environment;
        QString home;
    };

    explicit HubToken(Setup setup, QObject *parent = nullptr);

    void load(); // -> changed(), once
    // Keeps it in the keychain, or for this run where there is none. Empty: forgets it.
    void set(const QByteArray &token);

    const QByteArray &token() const { return m_token; }
    Source source() const { return m_source; }
    // Given to this program, so that it can forget it; else it belongs to other programs.
    bool isOwn() const { return m_source == Source::Keychain || m_source == Source::Session; }
    QString sourceText() const; // for a person; names a token that is passed over as well

Q_SIGNALS:
    void changed();

private:
    void adopt(const QByteArray &token, Source source);
    void adoptForeign(); // of the environment or of a file
    bool isImplicitAllowed() const; // to use what was not given to this program
    QByteArray environmentToken() const;
    QByteArray fileToken() const;
    QString key() const;

    Setup m_setup;
    QByteArray m_token;
    Source m_source = Source::None;
};

} // namespace firesteel::app
