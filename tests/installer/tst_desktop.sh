#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The files that make the program a citizen of a desktop: valid, and of one mind with the program. Called by CTest with the
# project's folder.
set -euo pipefail

project=$1
id=org.firesteel.Firesteel
desktop=$project/installer/desktop/$id.desktop
metainfo=$project/installer/desktop/$id.metainfo.xml
failed=0

expect()
{
    if ! "${@:2}"; then
        echo "FAILED: $1"
        failed=1
    fi
}

if ! command -v desktop-file-validate >/dev/null || ! command -v appstreamcli >/dev/null; then
    echo "FIRESTEEL-SKIP: desktop-file-validate or appstreamcli is not installed"
    exit 0
fi
expect "the desktop entry is valid" desktop-file-validate "$desktop"
# The project has no public address yet that could be named.
expect "the metainfo is valid" appstreamcli validate --no-net --no-color \
    --override url-homepage-missing=info "$metainfo"
# A validator that accepts everything would prove nothing.
broken=$(mktemp --suffix=.metainfo.xml)
trap 'rm -f "$broken"' EXIT
sed 's/<id>.*<\/id>//' "$metainfo" >"$broken"
if appstreamcli validate --no-net --override url-homepage-missing=info "$broken" >/dev/null 2>&1; then
    echo "FAILED: metainfo without an id is accepted"
    failed=1
fi
expect "the program is named as it is built" grep -qx 'Exec=firesteel' "$desktop"
expect "the icon is there" test -s "$project/resources/icons/hicolor/scalable/apps/$(sed -n 's/^Icon=//p' "$desktop").svg"
expect "the window is known by the entry's name" grep -q "setDesktopFileName(u\"$id\"" "$project/qml/window.cpp"
expect "the metainfo launches the entry" grep -q "<launchable type=\"desktop-id\">$id.desktop<" "$metainfo"
version=$(sed -nE 's/^project\(firesteel VERSION ([0-9.]+).*/\1/p' "$project/CMakeLists.txt")
expect "the newest release is this version" grep -q "<release version=\"$version\"" "$metainfo"
expect "the content is rated" grep -q '<content_rating type="oars-1.1"' "$metainfo"
service=$project/installer/desktop/firesteel.service
expect "the service runs what the program knows" grep -qx 'ExecStart=/usr/bin/env firesteel --headless' "$service"
expect "the program knows it" grep -q 'u"headless"_s' "$project/app/main.cpp"
if command -v systemd-analyze >/dev/null; then
    # What it says of other units of the machine is not our business.
    complaints=$(systemd-analyze --user verify "$service" 2>&1 | grep -F firesteel.service || true)
    expect "the service is valid: $complaints" test -z "$complaints"
fi
exit $failed
