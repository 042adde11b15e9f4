import { spawnSync } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export type ServerKind = 'nats' | 'redis' | 'postgres'

/** Where a test server comes from: an address, a local program, or a container image. */
export type ServerSource = { url: string } | { program: string } | { image: string }

const kinds: Record<ServerKind, { address: string; program: string; image: string }> = {
  nats: { address: 'TEST_NATS_URL', program: 'nats-server', image: 'nats:2.12-alpine' },
  redis: { address: 'TEST_REDIS_URL', program: 'redis-server', image: 'redis:7-alpine' },
  postgres: { address: 'TEST_POSTGRES_URL', program: 'postgres', image: 'postgres:17-alpine' },
}

const dockerAnswerMs = 5_000

/** Returns the first available source; undefined if there is none. `own` ignores address variables. */
export const findServerSource = (kind: ServerKind, own = false): ServerSource | undefined => {
  const { address, program, image } = kinds[kind]
  const url = process.env[address]
  if (url && !own) return { url }
  const found = findProgram(program)
  if (found) return { program: found }
  return dockerAnswers() ? { image } : undefined
}

/** Returns the first available source. Throws if there is none. `own` ignores address variables. */
export const requireServerSource = (kind: ServerKind, own = false): ServerSource => {
  const source = findServerSource(kind, own)
  if (source) return source
  const { address, program } = kinds[kind]
  throw new Error(`no ${kind} for this test: set ${address}, install ${program}, or start Docker`)
}

/** Returns the path of a program; undefined if it is not found. Also searches common folders that are not in PATH. */
export const findProgram = (name: string): string | undefined => {
  const path = (process.env.PATH ?? '').split(delimiter)
  const versions = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  const folders = [
    ...path,
    '/usr/sbin',
    '/usr/local/sbin',
    ...versions,
    resolveChartToolsPath(),
    resolveKubernetesPath(),
  ]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** Returns a path below the cache folder of Watchhouse. */
export const resolveCachePath = (...path: string[]): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'watchhouse', ...path)

/** Returns a folder of the tools that `.ci/chart-tools` installs. */
export const resolveChartToolsPath = (folder = 'bin'): string => resolveCachePath('chart-tools/current', folder)

/** Returns the folder of the programs of Kubernetes that `.ci/kubernetes` builds. */
export const resolveKubernetesPath = (): string => resolveCachePath('kubernetes/current')

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const dockerAnswers = (): boolean =>
  spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: dockerAnswerMs }).status === 0
