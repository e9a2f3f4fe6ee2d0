// SPDX-License-Identifier: MIT
//
// The keys of other machines' engines: in the desktop's keychain, or until the program ends where
// none answers. Each belongs to one engine at one address; another address has no key. Never
// written to a file or a log. On the GUI thread.
#pragma once

#include "app/remote/remote_protocol.h"

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QString>

namespace firesteel::app {

class RemoteKeys : public QObject
{
    Q_OBJECT

public:
    enum class Place { None, Keychain, Session };

    explicit RemoteKeys(bool usesKeychain, QObject *parent = nullptr);

    void load(const RemoteEngine &engine); // from the keychain; changed() follows if there is one
    void set(const RemoteEngine &engine, const QByteArray &key);
    void forget(const RemoteEngine &engine);

    QByteArray key(const RemoteEngine &engine) const; // empty: none
    Place place(const RemoteEngine &engine) const;

Q_SIGNALS:
    void changed();

private:
    struct Key
    {
        QByteArray bytes;
        Place place = Place::Session;
    };

    bool m_usesKeychain;
    QHash<QString, Key> m_keys; // by entry of the keychain
};

} // namespace firesteel::app
