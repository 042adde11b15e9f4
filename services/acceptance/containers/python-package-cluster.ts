import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { installServers } from '../../testing/servers/install.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { type ServerProcess, startProcess } from '../../testing/servers/process.ts'
import type { TestServer } from '../../testing/servers/server.ts'
import { resolveCachePath } from '../../testing/servers/server-source.ts'
import type { Cluster } from './cluster.ts'
import { type ClusterAddresses, type ReplicaName, formatServerConfig, usersConfig } from './cluster-config.ts'
import { formatLocalServerConfig, localUsersConfig } from './local-server-config.ts'

/** Python packages by version. Their library contains the whole server, for machines that cannot pull images. */
const packages: Readonly<Record<string, string>> = { '24.8': 'chdb==2.1.1', '25.8': 'chdb==3.7.2' }
const zookeeper = '/usr/share/java/zookeeper.jar'
const fetchWithinMs = 600_000
const readyWithinMs = 120_000

/**
 * Installs ZooKeeper and downloads the Python package with a server of this version. Throws if either is unavailable.
 */
export const fetchPythonPackage = async (version: string): Promise<void> => {
  const wanted = packages[version]
  if (wanted === undefined)
    throw new Error(
      `no Python package contains a server of version "${version}"; available: ${Object.keys(packages).join(', ')}`,
    )
  installServers([{ title: 'ZooKeeper', debian: 'zookeeper', isThere: () => existsSync(zookeeper) }])
  if (!existsSync(zookeeper)) throw new Error('ZooKeeper not found; install the package zookeeper')
  if (findServerLibrary(version) !== undefined) return
  const part = `${folderOf(version)}.part`
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { recursive: true })
  const run = (...words: string[]) => promisify(execFile)('python3', words, { timeout: fetchWithinMs, cwd: part })
  await run('-m', 'pip', 'download', '--no-deps', '--only-binary=:all:', wanted)
  for (const wheel of globSync('*.whl', { cwd: part })) await run('-m', 'zipfile', '-e', wheel, '.')
  // The folder is renamed at the end, so that an incomplete download is never used.
  await rename(part, folderOf(version))
}

const folderOf = (version: string): string => resolveCachePath('clickhouse', version)
/** Returns the path of the library with the server of this version; undefined if it was not fetched. */
export const findServerLibrary = (version: string): string | undefined =>
  globSync(join(folderOf(version), 'chdb', '_chdb.*.so'))[0]

/** Starts two replicas from the Python package and ZooKeeper as local processes. Each replica has its own host name. */
export const startPythonPackageCluster = async (version: string): Promise<Cluster> => {
  const library = findServerLibrary(version)
  if (library === undefined) throw new Error(`the Python package of version "${version}" contains no library`)
  await using opened = new AsyncDisposableStack()
  const coordinator = opened.use(await startZooKeeper())
  const createBackupFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'watchhouse-backups-'))
    opened.defer(() => rm(folder, { recursive: true }))
    return `${folder}/`
  }
  const local = async () => ({ host: '127.0.0.1', port: await reserveFreePort() })
  const at: ClusterAddresses = {
    listen: '127.0.0.1',
    keeper: { host: '127.0.0.1', port: Number(new URL(coordinator.url).port) },
    replicas: { a: await local(), b: await local() },
    interserver: { a: '127.0.0.1', b: '127.0.0.1' },
    backupPaths: { a: await createBackupFolder(), b: await createBackupFolder() },
  }
  const start = async (replica: ReplicaName): Promise<string> => opened.use(await startServer(library, replica, at)).url
  const urls = { a: await start('a'), b: await start('b') }
  const running = opened.move()
  return { urls, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** A Python script that calls the main function of the server in the library. */
const launcher = `import ctypes, sys
words = [word.encode() for word in ['clickhouse-server', *sys.argv[2:]]]
main = ctypes.CDLL(sys.argv[1])._Z25mainEntryClickHouseServeriPPc
sys.exit(main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None)))`

/** Returns the command that runs the server of a library. */
export const pythonCommand = (library: string, ...words: string[]): string[] => [
  'python3',
  '-c',
  launcher,
  library,
  ...words,
]

/** Returns the arguments of `unshare` that run a command with its own host name, which identifies the replica. */
const unshareArguments = (name: string): string[] => ['--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', name]

const startServer = async (library: string, replica: ReplicaName, at: ClusterAddresses): Promise<TestServer> =>
  startPackagedServer({
    library: () => library,
    name: replica,
    ports: { native: at.replicas[replica].port, interserver: await reserveFreePort() },
    files: () => ({ 'config.d/cluster.xml': formatServerConfig(replica, at), 'users.d/default-user.xml': usersConfig }),
  })

/** A server that runs from the library of a Python package. */
export interface PackagedServerOptions {
  /** Returns the library for the next start. */
  library(): string
  /** The host name. */
  name: string
  ports: { native: number; interserver: number }
  /** Returns further configuration files by their path in the directory of the server, which contains its data too. */
  files(directory: string): Readonly<Record<string, string>>
}

/** Starts a server from a Python package, with a directory for its configuration and data. */
export const startPackagedServer = ({ library, name, ports, files }: PackagedServerOptions): Promise<ServerProcess> =>
  startProcess({
    program: 'unshare',
    prepare: async (directory, port) => {
      const base = {
        'config.xml': formatLocalServerConfig(directory, { ...ports, http: port }),
        'users.xml': localUsersConfig,
      }
      for (const [path, text] of Object.entries({ ...base, ...files(directory) })) {
        await mkdir(dirname(join(directory, path)), { recursive: true })
        await writeFile(join(directory, path), text)
      }
    },
    arguments: (directory) => [
      ...unshareArguments(name),
      ...pythonCommand(library(), `--config-file=${join(directory, 'config.xml')}`),
    ],
    url: (port) => `http://127.0.0.1:${port}`,
    // Without the watchdog, the started process is the server itself.
    environment: { CLICKHOUSE_WATCHDOG_ENABLE: '0' },
    answers: async (url) => void (await queryClickHouse(url, 'SELECT 1')),
    readyWithinMs,
  })

const classes = '/etc/zookeeper/conf:/usr/share/java/*'
const zooKeeperMain = 'org.apache.zookeeper.server.ZooKeeperServerMain'

/** Starts a ZooKeeper with a single node. */
export const startZooKeeper = (): Promise<TestServer> =>
  startProcess({
    program: 'java',
    prepare: async (directory, port) => {
      const lines = [
        `dataDir=${directory}`,
        `clientPort=${port}`,
        'clientPortAddress=127.0.0.1',
        'admin.enableServer=false',
      ]
      await writeFile(join(directory, 'zoo.cfg'), [...lines, 'tickTime=2000', ''].join('\n'))
    },
    arguments: (directory) => ['-cp', classes, zooKeeperMain, join(directory, 'zoo.cfg')],
    url: (port) => `tcp://127.0.0.1:${port}`,
    answers: async (url) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.destroy()
    },
    readyWithinMs,
  })
