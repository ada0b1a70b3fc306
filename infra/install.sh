#!/bin/sh
# Installs bindery and bindery-serve from a release, if they are what the release
# says: every file's SHA-256 is checked before anything of it is used.
#
#   sh install.sh [--version vX.Y.Z] [--dir DIR] [--checksums SHA256] [--base URL]
#
#   --version    the release (default: the newest)
#   --dir        where the programs go (default: /usr/local/bin for root, else ~/.local/bin)
#   --checksums  SHA-256 of the release's checksums.txt. With it, nothing is trusted
#                but this number; without it, what the server says.
#   --base       where releases are, for a mirror; file:// works, too
#
# It needs curl or wget, tar, and sha256sum or shasum. Nothing is left behind if
# something fails.
set -eu

base=https://github.com/bindery-docs/bindery/releases
version=latest
checksums=
dir=

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --version | --dir | --checksums | --base)
      [ $# -gt 1 ] || fail "$1 needs a value"
      case $1 in
        --version) version=$2 ;;
        --dir) dir=$2 ;;
        --checksums) checksums=$2 ;;
        --base) base=${2%/} ;;
      esac
      shift 2
      ;;
    *) fail "what is $1? See the head of this script" ;;
  esac
done

if [ -z "$dir" ]; then
  if [ "$(id -u)" = 0 ]; then dir=/usr/local/bin; else dir=${HOME:?}/.local/bin; fi
fi

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) fail "on Windows, take the .zip from $base" ;;
  *) fail "there is no program for $(uname -s)" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no program for $(uname -m)" ;;
esac

if [ "$version" = latest ]; then from=$base/latest/download; else from=$base/download/$version; fi

work=$(mktemp -d)
new=
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
trap 'exit 1' HUP INT TERM

fetch() { # URL FILE
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is here"
  fi || fail "$1 can't be fetched"
}

digest() { # FILE
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  else
    fail "neither sha256sum nor shasum is here"
  fi
}

fetch "$from/checksums.txt" "$work/checksums.txt"
if [ -n "$checksums" ]; then
  is=$(digest "$work/checksums.txt")
  [ "$is" = "$checksums" ] || fail "checksums.txt has the digest $is, not $checksums: nothing was installed"
fi

# The one line with the archive for this machine: DIGEST  NAME
line=$(grep -E "^[0-9a-f]{64}  bindery_[0-9A-Za-z.+-]+_${os}_${arch}\.tar\.gz\$" "$work/checksums.txt") ||
  fail "the release has no archive for $os on $arch"
want=${line%% *}
name=${line##* }
[ "$line" = "$want  $name" ] || fail "checksums.txt names several archives for $os on $arch"

fetch "$from/$name" "$work/$name"
is=$(digest "$work/$name")
[ "$is" = "$want" ] || fail "$name has the digest $is, not $want: nothing was installed"

mkdir "$work/programs"
tar -xzf "$work/$name" -C "$work/programs" bindery bindery-serve
mkdir -p "$dir"
# Beside their place first, so that both are there as a whole or not at all.
new=$(mktemp -d "$dir/.bindery-XXXXXX")
cp "$work/programs/bindery" "$work/programs/bindery-serve" "$new/"
chmod 755 "$new/bindery" "$new/bindery-serve"
mv -f "$new/bindery" "$new/bindery-serve" "$dir/"
rmdir "$new"
new=

"$dir/bindery" --version
case :$PATH: in
  *":$dir:"*) ;;
  *) printf 'Add %s to your PATH.\n' "$dir" ;;
esac
