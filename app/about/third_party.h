// SPDX-License-Identifier: MIT
//
// What the program is made of that others wrote, with its licences, from resources/licenses.
#pragma once

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class ThirdParty
{
    Q_GADGET
    QML_VALUE_TYPE(thirdParty)
    Q_PROPERTY(QString name MEMBER name FINAL)
    Q_PROPERTY(QString use MEMBER use FINAL)
    Q_PROPERTY(QString license MEMBER license FINAL)

public:
    QString name;
    QString use; // what for, in a few words
    QString license; // its name
    QStringList copyright; // lines
    QString note;
    QStringList texts; // file names in resources/licenses
    QStringList libraries; // patterns of shared libraries that it comes as

    // Copyright, note and the full texts, for a person.
    QString licenseText() const;
};

QList<ThirdParty> readThirdParties();

} // namespace firesteel::app
