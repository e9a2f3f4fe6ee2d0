// SPDX-License-Identifier: MIT
//
// The sidebar on the application: what it shows, and what needs nothing of the window.
pragma ComponentBehavior: Bound

import Firesteel.App as App

Sidebar {
    id: root

    required property App.Application application

    conversations: application.conversations
    search: application.search
    exchangeText: application.exchangeText
    exchanging: application.exchanging
    canUndo: application.canUndoDelete
    deletedTitle: application.deletedTitle
    setupUnfinished: !application.setup.finished
    onRenamed: (row, text) => root.application.renameConversation(row, text)
    onDeleted: row => root.application.deleteConversation(row)
    onUndone: root.application.undoDelete()
    onExchangeDismissed: root.application.dismissExchange()
    onLogsRequested: root.application.about.openLogs()
}
