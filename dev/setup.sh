#!/bin/sh
# Make the virtual environment .venv, or mend it, or find it ready.
#
#   dev/setup.sh publish    what the job that writes needs: the product without what classifies
#   dev/setup.sh run        what the product needs
#   dev/setup.sh mcp        that, and what `incumbent mcp` needs
#   dev/setup.sh dev        all that, and what the tests and checks need
#   dev/setup.sh cluster    all that, and Ray for `incumbent triage --ray`
#   dev/setup.sh place      nothing is made: prints `folder=` and `key=` of a .venv for `run`, by which to keep it
#
# PYTHON=/path/to/python chooses the interpreter; otherwise the first that is new enough and can make environments.
# Everything installed is pinned and hashed in requirements/.  A .venv that this script did not make is set aside,
# not deleted.  Exit codes: 0 ready; 2 something is missing on this machine; 4 the packages could not be installed.
set -eu

# What people's shells may carry that would lead Python, pip or cd astray.
unset CDPATH PYTHONHOME PYTHONPATH PYTHONSTARTUP VIRTUAL_ENV __PYVENV_LAUNCHER__
unset PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_REQUIRE_VIRTUALENV PIP_PYTHON PIP_CONSTRAINT PIP_NO_BINARY PIP_REQUIREMENT
cd "$(dirname "$0")/.."

venv=.venv
state=$venv/incumbent-setup         # five lines, see write_state; last, so that an interrupted set-up is known by it
contents=$venv/incumbent-contents   # what was installed, so that a broken .venv is known by it
lock=$venv.lock
candidates="python3.13 python3.12 python3.11 python3 python3.14 python"

say() { printf '%s\n' "$*" >&2; }

missing() {
    say "set-up: $1"
    shift
    for line in "$@"; do say "    $line"; done
    exit 2
}

# --- what the machine has --------------------------------------------------------------------------------------------

# Version and home of a Python, as "3.12.1 /usr"; nothing when the command does not run (a shim without a Python behind
# it, say).  Runs on any Python since 2.6, so that an old one can be named.
describe() {
    "$1" -c 'import sys; print("%d.%d.%d %s" % (sys.version_info[:3] + (getattr(sys, "base_prefix", sys.prefix),)))' 2>/dev/null
}

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

makes_environments() { "$1" -c 'import venv, ensurepip' 2>/dev/null; }

check_git() {
    git --version >/dev/null 2>&1 || missing "git is missing (or does not run)." \
        "Install it: \`apt install git\`, \`dnf install git\`, \`brew install git\`, or https://git-scm.com/downloads"
}

# The last line of advice, when a Python lacks the modules venv and ensurepip, as Debian's does at first.
advise_venv() {
    minor=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "    On Debian and Ubuntu: \`apt install python$minor-venv\`; elsewhere install Python from https://www.python.org/downloads/"
}

# Sets `python`.
choose_python() {
    if [ -n "${PYTHON:-}" ]; then
        about=$(describe "$PYTHON") || missing "PYTHON=$PYTHON does not run." "Name a Python 3.11 or newer, or unset PYTHON."
        new_enough "$PYTHON" || missing "PYTHON=$PYTHON is Python ${about%% *}: too old." "Name a Python 3.11 or newer, or unset PYTHON."
        makes_environments "$PYTHON" || {
            say "set-up: PYTHON=$PYTHON (Python ${about%% *}) lacks the module venv or ensurepip."
            advise_venv "$PYTHON"
            exit 2
        }
        python=$PYTHON
        return
    fi
    seen=
    incapable=
    for candidate in $candidates; do
        about=$(describe "$candidate") || continue
        if ! new_enough "$candidate"; then
            seen="$seen $candidate is ${about%% *};"
        elif ! makes_environments "$candidate"; then
            incapable=${incapable:-$candidate}
        else
            python=$candidate
            return
        fi
    done
    if [ -n "$incapable" ]; then
        about=$(describe "$incapable")
        say "set-up: $incapable (Python ${about%% *}) is new enough, but lacks the module venv or ensurepip."
        advise_venv "$incapable"
        exit 2
    fi
    if [ -n "$seen" ]; then
        found="Too old:${seen%;}."
    else
        found="None was found on PATH."
    fi
    missing "Python 3.11 or newer is needed. $found" \
        "Install one: \`apt install python3 python3-venv\`, \`brew install python\`, or https://www.python.org/downloads/" \
        "If it is there but not on PATH, name it: make demo PYTHON=/path/to/python3"
}

# --- what .venv has --------------------------------------------------------------------------------------------------

fingerprint() { cat "$@" | cksum | tr ' \t' '--'; }

write_state() {                     # $1: building, publish, run, mcp, dev or cluster
    (cd "$venv"/lib/python3*/site-packages && ls) >"$contents"
    printf '%s\n' "$1" "$packages" "$project" "$(describe "$venv/bin/python")" "$(pwd -P)" >"$state"
}

recorded() { sed -n "$1p" "$state" 2>/dev/null || true; }

# Whether .venv is whole, of these pins, and of the Python asked for.  Its scripts name their interpreter by the whole
# path: one for tests and checks is of use where it was made alone; of the others only ours is called, and written anew.
current() {
    case $(recorded 1) in publish | run | mcp | dev | cluster) ;; *) return 1 ;; esac
    case $(recorded 1)/$(recorded 5) in */"$(pwd -P)" | publish/* | run/*) ;; *) return 1 ;; esac
    [ "$(recorded 2)" = "$packages" ] || return 1
    about=$(describe "$venv/bin/python") && [ "$(recorded 4)" = "$about" ] || return 1
    [ -x "$venv/bin/incumbent" ] && [ -s "$contents" ] || return 1
    (installed=$(cat "$contents") && cd "$venv"/lib/python3*/site-packages && ls -d $installed) >/dev/null 2>&1 || return 1
    [ -z "${PYTHON:-}" ] || [ "$(describe "$PYTHON" || true)" = "$about" ]
}

holds() {
    case $(recorded 1)/$1 in cluster/* | dev/dev | dev/mcp | dev/run | mcp/mcp | mcp/run | run/run | */publish) ;; *) return 1 ;; esac
}

ready() { current && holds "$kind" && [ "$(recorded 3)" = "$project" ] && [ "$(recorded 5)" = "$(pwd -P)" ]; }

# One set-up at a time: a second one waits for the first.
take_turn() {
    told=
    until mkdir "$lock" 2>/dev/null; do
        owner=$(cat "$lock/owner" 2>/dev/null || true)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf "$lock"          # it was interrupted
            continue
        fi
        [ -n "$told" ] || say "set-up: waiting for another set-up of this folder (if there is none, remove $lock)"
        told=yes
        sleep 1
    done
    echo $$ >"$lock/owner"
    trap 'rm -rf "$lock"' EXIT
    trap 'exit 2' HUP INT TERM
}

# Room for a new .venv: ours goes, anybody else's is set aside.
clear_venv() {
    if [ -f "$state" ] || rmdir "$venv" 2>/dev/null; then
        rm -rf "$venv"
    elif [ -e "$venv" ] || [ -L "$venv" ]; then
        number=1
        while [ -e "$venv.kept-$number" ] || [ -L "$venv.kept-$number" ]; do number=$((number + 1)); done
        mv "$venv" "$venv.kept-$number"
        say "set-up: the $venv here was not made by this set-up; it is kept as $venv.kept-$number"
    fi
}

# --- installing ------------------------------------------------------------------------------------------------------

# Nothing is compiled ahead: of the modules of all packages one in ten is ever loaded, and Python compiles those itself.
pip_install() {
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install -qq --no-deps --no-compile "$@" >&2 || {
        say "set-up: the packages could not be installed; pip's reason stands above."
        say "    They come from a Python package index, once. Behind a proxy say HTTPS_PROXY=…, for a mirror PIP_INDEX_URL=…, and repeat."
        exit 4
    }
}

install_packages() {                # $1: publish, run, mcp, dev or cluster
    case $1 in
        publish | run | mcp) set -- --requirement "requirements/$1.txt" --requirement requirements/build.txt ;;
        dev) set -- --requirement requirements/dev.txt ;;
        cluster) set -- --requirement requirements/dev.txt --requirement requirements/cluster.txt ;;
    esac
    pip_install --require-hashes --only-binary :all: "$@"
}

# Installed in place: the code that runs is the checkout's.  Python reads the file that says so in the encoding of the
# locale, where an absolute path with other than ASCII letters may be unreadable; so the path is made relative.
install_project() {
    pip_install --no-build-isolation --editable .
    for pointer in "$venv"/lib/python3*/site-packages/_editable_impl_incumbent.pth; do
        [ -f "$pointer" ] || missing "the project was installed, but $pointer is not there."
        echo ../../../.. >"$pointer"
    done
}

kind=${1:-}
case $kind in
    publish | run | mcp | dev | cluster | place) ;;
    *) missing "say what to set up." "Usage: dev/setup.sh publish|run|mcp|dev|cluster|place" ;;
esac

check_git
packages=$(fingerprint requirements/*.txt)
project=$(fingerprint pyproject.toml)

if [ "$kind" = place ]; then
    choose_python
    what=$(printf '%s\n' "$packages" "$(fingerprint dev/setup.sh)" "$(describe "$python")" | fingerprint -)
    printf 'folder=%s\nkey=%s\n' "$(pwd -P)/$venv" "$what"
    exit 0
fi

ready && exit 0
take_turn
ready && exit 0

if current; then
    holds "$kind" && to_install= || to_install=$kind
else
    choose_python
    about=$(describe "$python")
    say "set-up: making $venv with Python ${about%% *} (once; it takes a minute)"
    clear_venv
    mkdir "$venv"
    echo building >"$state"
    "$python" -m venv "$venv" >&2 || missing "$python could not make a virtual environment; its reason stands above."
    to_install=$kind
fi
made=${to_install:-$(recorded 1)}

write_state building
if [ -n "$to_install" ]; then
    say "set-up: installing the packages of requirements/ for: $to_install"
    install_packages "$to_install"
fi
install_project
write_state "$made"
