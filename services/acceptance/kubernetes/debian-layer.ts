import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveCachePath } from '../../testing/servers/server-source.ts'
import { runCommand } from './command.ts'
import { packLayer } from './image-archive.ts'

/** The packages in the layer, with those that they depend on. */
const packages = ['bash', 'coreutils', 'sed', 'redis-server', 'postgresql']
/** Packages that only matter during an installation, or are large and unused. */
const unused = /^(adduser|debconf|libllvm|libz3|locales|libc-l10n|perl|libperl|usrmerge|dpkg|tar)/
const unusedFiles = [
  './usr/share/doc*',
  './usr/share/man*',
  './usr/share/locale*',
  './usr/lib/postgresql/*/lib/bitcode*',
]
const fetchWithinMs = 900_000

/**
 * Creates the layer below the images of Redis, PostgreSQL and the product, from packages of Debian, and returns the
 * path of its archive. The packages are only unpacked, so this machine and its package database do not change.
 */
export const createDebianLayer = async (): Promise<string> => {
  // Another release of Debian or another version of this file gives another layer.
  const release = await readFile('/etc/os-release', 'utf8')
  const key = createHash('sha256')
    .update(release)
    .update(await readFile(import.meta.filename))
    .digest('hex')
    .slice(0, 12)
  const images = resolveCachePath('kubernetes', 'images')
  const layer = join(images, `debian-${key}.tar`)
  if (existsSync(layer)) return layer
  await mkdir(images, { recursive: true })
  const folder = await mkdtemp(join(images, 'debian-'))
  try {
    await fetchPackages(join(folder, 'packages'))
    await unpackPackages(join(folder, 'packages'), join(folder, 'root'))
    await configure(join(folder, 'root'))
    await packLayer(join(folder, 'root'), join(folder, 'layer.tar'))
    await rename(join(folder, 'layer.tar'), layer)
  } finally {
    await rm(folder, { recursive: true })
  }
  return layer
}

/** Downloads the packages and all their dependencies, as if no package were installed. */
const fetchPackages = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'partial'), { recursive: true })
  await writeFile(join(folder, 'status'), '')
  const options = {
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache::archives': folder,
    // The folder belongs to root, and the installed packages are not touched.
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': '1',
  }
  const words = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const install = ['install', '--download-only', '--no-install-recommends', ...packages]
  await runCommand(['apt-get', '-qq', '-y', ...words, ...install], { timeoutMs: fetchWithinMs })
}

const unpackPackages = async (from: string, root: string): Promise<void> => {
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    await mkdir(join(root, 'usr', folder), { recursive: true })
    await symlink(`usr/${folder}`, join(root, folder))
  }
  const exclude = unusedFiles.map((pattern) => `--exclude=${pattern}`).join(' ')
  const unpack = `dpkg-deb --fsys-tarfile "$0" | tar --extract --directory "$1" --keep-directory-symlink ${exclude}`
  for (const name of globSync('*.deb', { cwd: from })) {
    if (unused.test(name)) continue
    await runCommand(['bash', '-o', 'pipefail', '-c', unpack, join(from, name), root])
  }
}

/** Adds what the scripts of the packages and the official images would add. */
const configure = async (root: string): Promise<void> => {
  for (const folder of ['dev', 'proc', 'sys', 'tmp', 'data', 'run', 'var/run/postgresql', 'usr/local/bin'])
    await mkdir(join(root, folder), { recursive: true })
  await chmod(join(root, 'tmp'), 0o1777)
  await rm(join(root, 'usr/bin/sh'), { force: true })
  await symlink('bash', join(root, 'usr/bin/sh'))
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\npostgres:x:70:70:postgres:/:/bin/sh\n')
  await writeFile(join(root, 'etc/group'), 'root:x:0:\npostgres:x:70:\n')
  await writeFile(join(root, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
  await writeFile(join(root, 'usr/local/bin/docker-entrypoint.sh'), postgresEntrypoint, { mode: 0o755 })
}

/** Creates the database on the first start and then runs the server, like the official image. */
const postgresEntrypoint = `#!/bin/bash
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 -D "$PGDATA"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE \\"$POSTGRES_DB\\"" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -c listen_addresses='*' "$@"
`
