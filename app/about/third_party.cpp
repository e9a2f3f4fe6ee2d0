// SPDX-License-Identifier: MIT
#include "app/about/third_party.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

QByteArray resource(const QString &name)
{
    QFile file(":/firesteel/licenses/"_L1 + name);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is not in the program", qPrintable(name));
    return file.readAll();
}

QStringList stringsOf(const QJsonValue &value)
{
    QStringList strings;
    for (const auto &entry : value.toArray())
        strings << entry.toString();
    return strings;
}

} // namespace

QString ThirdParty::licenseText() const
{
    QStringList parts { copyright.join(u'\n') };
    if (!note.isEmpty())
        parts << note;
    for (const QString &text : texts)
        parts << QString::fromUtf8(resource(text)).trimmed();
    return parts.join("\n\n"_L1);
}

QList<ThirdParty> readThirdParties()
{
    QList<ThirdParty> parties;
    const QJsonDocument document = QJsonDocument::fromJson(resource(u"third-party.json"_s));
    for (const auto &value : document["parts"_L1].toArray()) {
        const QJsonObject entry = value.toObject();
        ThirdParty party;
        party.name = entry["name"_L1].toString();
        party.use = entry["use"_L1].toString();
        party.license = entry["license"_L1].toString();
        party.copyright = stringsOf(entry["copyright"_L1]);
        party.note = entry["note"_L1].toString();
        party.texts = stringsOf(entry["texts"_L1]);
        party.libraries = stringsOf(entry["libraries"_L1]);
        parties << party;
    }
    return parties;
}

} // namespace firesteel::app
