// SPDX-License-Identifier: MIT
//
// A growing list stays at its end for whoever is there and stays still for whoever reads above.
import QtQuick
import QtTest
import Firesteel.Ui

Item {
    id: root

    width: 400
    height: 300

    ListModel {
        id: rows
    }

    ListView {
        id: view

        anchors.fill: parent
        model: rows
        reuseItems: true
        cacheBuffer: 300
        bottomMargin: 24
        boundsBehavior: Flickable.StopAtBounds
        delegate: Rectangle {
            required property int tall

            width: ListView.view.width
            height: Math.round(tall * 400 / width) // as text: narrower is taller
        }

        EndFollower {
            id: follower

            view: view
        }
    }

    TestCase {
        name: "EndFollower"
        when: windowShown

        function init() {
            rows.clear();
            for (let i = 0; i < 40; ++i)
                rows.append({
                    tall: 30 + (i * 37) % 90
                });
            view.forceLayout();
            follower.resume();
            tryVerify(() => view.contentHeight > 2000 && view.contentY > 0 && follower.isAtEnd());
        }

        // Where the first whole row stands in the view.
        function anchor(): var {
            const index = view.indexAt(10, view.contentY + 100);
            return {
                index: index,
                y: view.itemAtIndex(index).y - view.contentY
            };
        }

        function compareAnchor(before: var) {
            const item = view.itemAtIndex(before.index);
            verify(item);
            fuzzyCompare(item.y - view.contentY, before.y, 0.5);
        }

        function test_followsNewRowsAtTheEnd() {
            for (let i = 0; i < 30; ++i) {
                rows.append({
                    tall: 55
                });
                wait(1);
            }
            tryVerify(() => Math.abs(follower.distanceToEnd()) < 1);
            verify(follower.following);
        }

        function test_followsTheLastRowAsItGrows() {
            const last = rows.count - 1;
            for (let tall = 30; tall < 700; tall += 30) {
                rows.setProperty(last, "tall", tall);
                wait(1);
            }
            tryVerify(() => Math.abs(follower.distanceToEnd()) < 1);
        }

        function test_scrollingUpReleasesAndNothingMovesTheReader() {
            follower.scrollBy(-500);
            verify(!follower.following);
            wait(20);
            const before = anchor();
            for (let i = 0; i < 30; ++i) {
                rows.append({
                    tall: 55
                });
                rows.setProperty(rows.count - 1, "tall", 155);
                wait(1);
            }
            wait(30);
            compareAnchor(before);
            verify(!follower.following);
        }

        function test_anyScrollUpReleases() {
            follower.scrollBy(-30);
            verify(!follower.following);
        }

        function test_theWheelReleasesAndComesBack() {
            mouseWheel(view, 100, 100, 0, 480);
            tryVerify(() => !view.moving);
            verify(!follower.following);
            for (let i = 0; i < 12; ++i) {
                mouseWheel(view, 100, 100, 0, -1200);
                wait(5);
            }
            tryVerify(() => !view.moving && follower.isAtEnd());
            tryVerify(() => follower.following);
        }

        function test_resumeTakesTheReaderToTheEnd() {
            follower.scrollBy(-5000);
            verify(!follower.following);
            follower.resume();
            tryVerify(() => Math.abs(follower.distanceToEnd()) < 1);
            verify(follower.following);
        }

        function test_aLowerWindowKeepsTheEnd() {
            root.height = 200;
            tryVerify(() => Math.abs(follower.distanceToEnd()) < 1);
            root.height = 300;
            tryVerify(() => Math.abs(follower.distanceToEnd()) < 1);
        }

        function test_aNarrowerWindowKeepsTheReadersPlace() {
            follower.scrollBy(-900);
            wait(20);
            const index = view.indexAt(10, view.contentY);
            root.width = 250;
            tryVerify(() => view.width === 250);
            wait(50);
            compare(view.indexAt(10, view.contentY + 1), index);
            root.width = 400;
            wait(50);
            compare(view.indexAt(10, view.contentY + 1), index);
            verify(!follower.following);
        }

        function test_onlyWhatIsNearTheWindowExists() {
            for (let i = 0; i < 400; ++i)
                rows.append({
                    tall: 60
                });
            tryVerify(() => Math.abs(follower.distanceToEnd()) < 1);
            let items = 0;
            for (const child of view.contentItem.children)
                items += child.visible ? 1 : 0;
            verify(items < 60, "%1 items".arg(items));
        }
    }
}
