import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { HostOptions } from './options.ts'
import { formatServerLogsXml } from './server-logs.ts'
import { type SandboxUser, formatUsersXml } from './users.ts'
import { escapeXml } from './xml.ts'

/** The directory of a host: the data of the engine, and files that are written at each start. */
export interface HostDirectory {
  /** Whether no host has run here yet, so that the log tables do not exist. */
  fresh: boolean
  /** Whether the example data is complete. */
  seeded: boolean
  label: string
  data: string
  configurationFile: string
  startFile: string
  portFile: string
  logFile: string
  seedingFile: string
  seededFile: string
}

// Creates the `system` database on disk, so that its log tables survive a restart. By default the engine stores this
// database in memory.
const SYSTEM_DATABASE = "ATTACH DATABASE _ UUID '5a5db0c5-0000-4000-8000-000000000001' ENGINE = Atomic\n"

/** Creates the directory and writes the files that the engine reads: configuration, users and start statements. */
export function prepareDirectory(options: HostOptions, users: SandboxUser[]): HostDirectory {
  const root = resolve(options.directory)
  const directory = {
    fresh: false,
    seeded: existsSync(join(root, 'seeded')),
    label: options.label,
    data: join(root, 'data'),
    configurationFile: join(root, 'config.xml'),
    startFile: join(root, 'start.sql'),
    portFile: join(root, 'port'),
    logFile: join(root, 'server.log'),
    seedingFile: join(root, 'seeding'),
    seededFile: join(root, 'seeded'),
  }
  if (wasInterrupted(directory.seedingFile)) rmSync(root, { recursive: true })
  mkdirSync(join(directory.data, 'metadata'), { recursive: true })
  const system = join(directory.data, 'metadata', 'system.sql')
  directory.fresh = !existsSync(system)
  if (directory.fresh) writeFileSync(system, SYSTEM_DATABASE)
  rmSync(directory.portFile, { force: true })
  const usersFile = join(root, 'users.xml')
  writeFileSync(usersFile, formatUsersXml(users), { mode: 0o600 })
  writeFileSync(
    directory.configurationFile,
    formatConfigurationXml(options, usersFile, directory.logFile, join(root, 'backups')),
  )
  writeFileSync(directory.startFile, formatStartStatements(directory.portFile))
  return directory
}

// Returns whether the process that filled this directory ended too early. The directory is then emptied and filled
// again.
function wasInterrupted(seedingFile: string): boolean {
  if (!existsSync(seedingFile)) return false
  try {
    process.kill(Number(readFileSync(seedingFile, 'utf8')), 0)
    return false
  } catch {
    return true
  }
}

function formatConfigurationXml(
  { label, port }: HostOptions,
  usersFile: string,
  logFile: string,
  backups: string,
): string {
  return `<clickhouse>
  <display_name>${escapeXml(label)}</display_name>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${port}</http_port>
  <users_config>${escapeXml(usersFile)}</users_config>
  <background_schedule_pool_size>32</background_schedule_pool_size>
  <background_streaming_schedule_pool_size>32</background_streaming_schedule_pool_size>
  <log-level>information</log-level>
  <logger><log>${escapeXml(logFile)}</log><size>10M</size><count>1</count></logger>
  <backups><allowed_path>${escapeXml(backups)}</allowed_path></backups>
  <macros><shard>01</shard><replica>${escapeXml(label)}</replica></macros>
${formatServerLogsXml()}
</clickhouse>
`
}

// Returns the statements that start the HTTP listener and write its port to a file. Port 0 means any free port.
function formatStartStatements(portFile: string): string {
  const path = portFile.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  return `SYSTEM START LISTEN HTTP;
SELECT getServerPort('http_port') INTO OUTFILE '${path}' TRUNCATE FORMAT TSV SETTINGS log_queries = 0;
`
}
