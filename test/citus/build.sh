#!/usr/bin/env bash
# build.sh SOURCE PREFIX: builds Citus from a source folder (tag v13.2.2) against the installed PostgreSQL 15, into a
# copy of it below PREFIX. Prints the value of CITUS_BIN. On Debian it needs: postgresql-15 postgresql-server-dev-15
# make gcc flex libcurl4-openssl-dev liblz4-dev libzstd-dev libssl-dev libxml2-dev libkrb5-dev libselinux1-dev libpam0g-dev.
set -Eeuo pipefail

SOURCE="$(realpath "${1:?the source folder of Citus}")"
PREFIX="$(realpath -m "${2:?the folder to install into}")"
CONFIG="${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}"
BIN="$("$CONFIG" --bindir)"
LIBRARIES="$("$CONFIG" --pkglibdir)"
SHARED="$("$CONFIG" --sharedir)"

# PostgreSQL finds its files relative to its programs, so a copy of the same layout works anywhere.
for folder in "${BIN%/bin}" "$SHARED"; do
  mkdir -p "$PREFIX${folder%/*}"
  cp -RL "$folder" "$PREFIX${folder%/*}/"
done

# PostgreSQL 15.15 and later export a function of this name, which Citus defines too.
sed -i 's/\bhave_createdb_privilege\b/citus_have_createdb_privilege/g' \
  "$SOURCE/src/include/pg_version_compat.h" \
  "$SOURCE/src/backend/distributed/commands/serialize_distributed_ddls.c"

cd "$SOURCE"
./configure PG_CONFIG="$CONFIG" --without-libcurl --quiet
make -s -j"$(nproc)" install DESTDIR="$PREFIX" with_llvm=no
test -e "$PREFIX$LIBRARIES/citus.so"
echo "CITUS_BIN=$PREFIX$BIN"
