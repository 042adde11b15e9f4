import { execFile } from 'node:child_process'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import type { Environment } from '../../testing/servers/process.ts'
import type { TestServer } from '../../testing/servers/server.ts'
import {
  fetchPythonPackage,
  findServerLibrary,
  startPackagedServer,
  startZooKeeper,
} from '../containers/python-package-cluster.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** The servers of the cluster `fleet`: two shards with two replicas each. */
export const serverNames = ['s1r1', 's1r2', 's2r1', 's2r2'] as const
export type ServerName = (typeof serverNames)[number]

/** The server that the product reaches over TLS. */
export const tlsServer: ServerName = 's2r1'
/** The server whose monitoring user has `readonly = 1`, so that it cannot change any setting. */
export const readOnlyServer: ServerName = 's2r2'

/** The user of the product, with the grants of the installation guide. */
export const watchUser = { user: 'watch', password: 'of the watch' }

/** A server of the cluster. */
export interface ClusterServer {
  readonly name: ServerName
  /** The HTTP address, on which the user `default` has all privileges without a password. */
  readonly url: string
  /** The HTTPS address; undefined on servers without TLS. */
  readonly httpsUrl: string | undefined
  readonly nativePort: number
  readonly interserverPort: number
  /** The directory with the configuration and, in `data`, the data. */
  readonly directory: string
  /** The connection of the server to Keeper. */
  readonly keeperProxy: TcpProxy
  /** Runs a statement as `default` and returns its rows. Throws the error of the server. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** Runs statements in order. */
  run(...statements: string[]): Promise<void>
  /** Runs a statement that is expected to fail and returns the error. Throws if the statement succeeds. */
  fail(sql: string, user?: { user: string; password: string }): Promise<string>
  /**
   * Writes a configuration file below `config.d` or `users.d`, such as `users.d/limit.xml`, or removes it if the text is
   * undefined. Then reloads the configuration.
   */
  configure(path: string, text: string | undefined): Promise<void>
  /** The version whose library the next start uses. */
  version: string
  /** Kills the server, like a crash. */
  kill(): Promise<void>
  /** Sends a signal to the process of the server. */
  signal(signal: NodeJS.Signals): Promise<void>
  /** Restarts the server, or starts it after a kill, with these additional variables until the next restart. */
  restart(environment?: Environment): Promise<void>
}

/** A cluster of two shards and two replicas with ZooKeeper. */
export interface FaultCluster extends AsyncDisposable {
  readonly servers: Readonly<Record<ServerName, ClusterServer>>
  readonly keeper: TestServer
  /** The certificate of the authority that signs the certificate of the TLS server. */
  readonly authorityFile: string
  /** Replaces the certificate of the TLS server by one that is valid for this many days. */
  issueCertificate(days: number): Promise<void>
}

export interface FaultClusterOptions {
  /** Versions whose packages are downloaded too. */
  otherVersions?: readonly string[]
  /** How often the servers write their logs. Default: as real servers do. Frequent writes load the machine. */
  flushLogsEveryMs?: number
}

/** Starts the cluster with servers of this version. */
export const startFaultCluster = async (
  version: string,
  { otherVersions = [], flushLogsEveryMs = 7_500 }: FaultClusterOptions = {},
): Promise<FaultCluster> => {
  for (const each of [version, ...otherVersions]) await fetchPythonPackage(each)
  await using opened = new AsyncDisposableStack()
  const certificates = await openAuthority()
  opened.use(certificates)
  await certificates.issue(certificateDays)
  const keeper = opened.use(await startZooKeeper())
  const keeperPort = Number(new URL(keeper.url).port)
  const nativePorts = Object.fromEntries(
    await Promise.all(serverNames.map(async (name) => [name, await reserveFreePort()] as const)),
  ) as Record<ServerName, number> // has an entry for each name
  const start = async (name: ServerName): Promise<ClusterServer> => {
    const keeperProxy = opened.use(await startTcpProxy(keeperPort))
    return await startServer(opened, { name, version, nativePorts, keeperProxy, certificates, flushLogsEveryMs })
  }
  const started = await Promise.all(serverNames.map(start))
  const servers = Object.fromEntries(started.map((server) => [server.name, server])) as FaultCluster['servers'] // has an entry for each name
  const running = opened.move()
  return {
    servers,
    keeper,
    authorityFile: certificates.authorityFile,
    async issueCertificate(days) {
      await certificates.issue(days)
      await servers[tlsServer].run('SYSTEM RELOAD CONFIG')
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const certificateDays = 90

interface StartOptions {
  name: ServerName
  version: string
  nativePorts: Readonly<Record<ServerName, number>>
  keeperProxy: TcpProxy
  certificates: Authority
  flushLogsEveryMs: number
}

const startServer = async (opened: AsyncDisposableStack, options: StartOptions): Promise<ClusterServer> => {
  const { name, version, nativePorts, keeperProxy, certificates } = options
  const interserverPort = await reserveFreePort()
  const httpsPort = name === tlsServer ? await reserveFreePort() : undefined
  let directory = ''
  const parts = { version }
  const process = opened.use(
    await startPackagedServer({
      library: () => findServerLibrary(parts.version) ?? '',
      name,
      ports: { native: nativePorts[name], interserver: interserverPort },
      files: (folder) => {
        directory = folder
        return {
          'config.d/fleet.xml': formatFleetConfig({ ...options, directory }),
          'users.d/fleet.xml': formatUsers(name),
          ...(httpsPort !== undefined && { 'config.d/tls.xml': formatTlsConfig(httpsPort, certificates) }),
        }
      },
    }),
  )
  const statements = openStatements(name, process.url)
  return Object.assign(parts, statements, {
    name,
    url: process.url,
    httpsUrl: httpsPort === undefined ? undefined : `https://127.0.0.1:${httpsPort}`,
    nativePort: nativePorts[name],
    interserverPort,
    directory,
    keeperProxy,
    async configure(path: string, text: string | undefined) {
      if (text === undefined) await rm(join(directory, path))
      else await writeFile(join(directory, path), text)
      await statements.query('SYSTEM RELOAD CONFIG')
    },
    kill: process.kill,
    async signal(signal: NodeJS.Signals) {
      globalThis.process.kill(await findServerProcess(directory), signal)
    },
    restart: process.restart,
  })
}

const openStatements = (name: ServerName, url: string): Pick<ClusterServer, 'query' | 'run' | 'fail'> => {
  const query = (sql: string) => queryClickHouse(url, sql)
  return {
    query,
    async run(...statements) {
      for (const sql of statements) {
        await query(sql).catch((error: unknown) => {
          throw new Error(`${name}: ${sql}: ${String(error)}`, { cause: error })
        })
      }
    },
    async fail(sql, { user, password } = { user: 'default', password: '' }) {
      const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': password }
      const response = await fetch(url, { method: 'POST', body: sql, headers })
      const text = await response.text()
      if (response.ok) throw new Error(`${name}: succeeded, although it should fail: ${sql}`)
      return text
    },
  }
}

/** Returns the id of the process whose command names the configuration in this directory. */
const findServerProcess = async (directory: string): Promise<number> => {
  const { stdout } = await promisify(execFile)('pgrep', ['-f', `config-file=${directory}/config.xml`])
  return Number(stdout.trim().split('\n')[0])
}

interface FleetConfig extends StartOptions {
  directory: string
}

/** The log tables of the servers. */
const logs = [
  'asynchronous_insert_log',
  'asynchronous_metric_log',
  'backup_log',
  'crash_log',
  'error_log',
  'metric_log',
  'part_log',
  'query_log',
  'query_views_log',
  'session_log',
  'text_log',
]
/** Logs that sample the server in intervals. */
const sampledLogs = new Set(['error_log', 'metric_log'])

const formatLog = (log: string, flushEveryMs: number): string => {
  const sampled = sampledLogs.has(log) ? '<collect_interval_milliseconds>1000</collect_interval_milliseconds>' : ''
  const flushed = log === 'text_log' ? '<flush_on_crash>true</flush_on_crash>' : ''
  return `<${log}><database>system</database><table>${log}</table>${sampled}${flushed}<flush_interval_milliseconds>${flushEveryMs}</flush_interval_milliseconds></${log}>`
}

const formatFleetConfig = (config: FleetConfig): string => {
  const { name, nativePorts, keeperProxy, directory, flushLogsEveryMs } = config
  const shardOf = (shard: string) => serverNames.filter((each) => each.startsWith(shard))
  const replica = (each: ServerName) => `<replica><host>127.0.0.1</host><port>${nativePorts[each]}</port></replica>`
  const shards = ['s1', 's2'].map(
    (shard) =>
      `<shard><internal_replication>true</internal_replication>${shardOf(shard).map(replica).join('')}</shard>`,
  )
  return `<clickhouse>
  <listen_host>127.0.0.1</listen_host>
  <interserver_http_host>127.0.0.1</interserver_http_host>
  <zookeeper>
    <node><host>127.0.0.1</host><port>${keeperProxy.port}</port></node>
    <session_timeout_ms>10000</session_timeout_ms>
    <operation_timeout_ms>3000</operation_timeout_ms>
  </zookeeper>
  <macros><cluster>fleet</cluster><shard>${name.slice(0, 2)}</shard><replica>${name}</replica></macros>
  <remote_servers replace="replace"><fleet>${shards.join('')}</fleet></remote_servers>
  <asynchronous_metrics_update_period_s>1</asynchronous_metrics_update_period_s>
  <!-- The library has no threads for the sends of Distributed tables, unlike the server. -->
  <background_distributed_schedule_pool_size>4</background_distributed_schedule_pool_size>
  <dictionaries_config>*_dictionary.xml</dictionaries_config>
  <storage_configuration>
    <disks><backups><type>local</type><path>${directory}/backups/</path></backups></disks>
  </storage_configuration>
  <backups><allowed_disk>backups</allowed_disk></backups>
  ${logs.map((log) => formatLog(log, flushLogsEveryMs)).join('\n  ')}
</clickhouse>
`
}

/** The library waits for mutations by default, unlike the server. */
const formatUsers = (name: ServerName): string => `<clickhouse>
  <profiles>
    <default><mutations_sync>0</mutations_sync></default>
    <watch><readonly>${name === readOnlyServer ? 1 : 2}</readonly></watch>
  </profiles>
  <users>
    <default><password></password><access_management>1</access_management></default>
    <${watchUser.user}>
      <password>${watchUser.password}</password>
      <profile>watch</profile>
      <grants>
        <query>GRANT SELECT ON system.*</query>
        <query>GRANT SHOW ON *.*</query>
        <query>GRANT REMOTE ON *.*</query>
      </grants>
    </${watchUser.user}>
  </users>
</clickhouse>
`

const formatTlsConfig = (port: number, { certificateFile, keyFile }: Authority): string => `<clickhouse>
  <https_port>${port}</https_port>
  <openSSL><server>
    <certificateFile>${certificateFile}</certificateFile>
    <privateKeyFile>${keyFile}</privateKeyFile>
    <verificationMode>none</verificationMode>
    <disableProtocols>sslv2,sslv3</disableProtocols>
  </server></openSSL>
</clickhouse>
`

/** A certificate authority and the certificate of the TLS server, as files. */
interface Authority extends AsyncDisposable {
  authorityFile: string
  certificateFile: string
  keyFile: string
  /** Issues a certificate that is valid for this many days. */
  issue(days: number): Promise<void>
}

const openAuthority = async (): Promise<Authority> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'watchhouse-certificates-')))
  const at = (name: string) => join(directory, name)
  const openssl = (...words: string[]) => promisify(execFile)('openssl', words)
  const newKey = ['-newkey', 'rsa:2048', '-nodes', '-keyout']
  await openssl('req', '-x509', '-days', '3650', '-subj', '/CN=fleet', ...newKey, at('ca.key'), '-out', at('ca.pem'))
  await writeFile(at('san.cnf'), 'subjectAltName = IP:127.0.0.1\n')
  return {
    authorityFile: at('ca.pem'),
    certificateFile: at('server.pem'),
    keyFile: at('server.key'),
    async issue(days) {
      await openssl('req', '-subj', '/CN=127.0.0.1', ...newKey, at('new.key'), '-out', at('server.csr'))
      const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('san.cnf')]
      await openssl('x509', '-req', '-in', at('server.csr'), '-days', String(days), ...signed, '-out', at('new.pem'))
      await writeFile(at('server.key'), await readFile(at('new.key')))
      await writeFile(at('server.pem'), await readFile(at('new.pem')))
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}
