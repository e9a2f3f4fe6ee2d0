// SPDX-License-Identifier: MIT
//
// Asks for the file that chats are exported to or imported from.
import QtCore
import QtQuick
import QtQuick.Dialogs
import Firesteel.App as App

Item {
    id: root

    required property App.Application application
    property string conversationId // of the chat to export; empty: all of them
    property string suffix: "json" // of the file: "json" or "md"

    // That of documents is not on every machine.
    function folder(): url {
        const documents = StandardPaths.locate(StandardPaths.DocumentsLocation, "", StandardPaths.LocateDirectory);
        return documents.toString() !== "" ? documents : StandardPaths.writableLocation(StandardPaths.HomeLocation);
    }

    function fileName(title: string): string {
        const plain = title.replace(/[\/\\:*?"<>|\u0000-\u001f]/g, " ").trim().slice(0, 60);
        return plain === "" ? "chat" : plain;
    }

    function askExport(conversationId: string, title: string, suffix: string) {
        root.conversationId = conversationId;
        root.suffix = suffix;
        saveDialog.currentFolder = folder();
        saveDialog.selectedFile = saveDialog.currentFolder + "/" + encodeURIComponent(conversationId === "" ? qsTr("Firesteel chats") : fileName(title)) + "." + suffix;
        saveDialog.open();
    }

    function askImport() {
        openDialog.currentFolder = folder();
        openDialog.open();
    }

    FileDialog {
        id: saveDialog

        title: root.conversationId === "" ? qsTr("Export all chats") : qsTr("Export this chat")
        fileMode: FileDialog.SaveFile
        nameFilters: [root.suffix === "md" ? qsTr("Markdown (*.md)") : qsTr("Chats of Firesteel (*.json)")]
        defaultSuffix: root.suffix
        onAccepted: root.application.exportConversations(root.conversationId, selectedFile)
    }
    FileDialog {
        id: openDialog

        title: qsTr("Import chats")
        nameFilters: [qsTr("Chats of Firesteel (*.json)"), qsTr("All files (*)")]
        onAccepted: root.application.importConversations(selectedFile)
    }
}
