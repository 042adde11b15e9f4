import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { CommandError } from './exit-codes.ts'

type Variables = Readonly<Record<string, string | undefined>>

const StoredKey = z.object({ apiKey: z.string(), expiresAt: z.string().nullable() })

/** What `watchhouse login` saves: the current server, and the key of each server by its URL. */
const ConfigFile = z.object({ url: z.string().nullable(), servers: z.record(z.string(), StoredKey) })
export type ConfigFile = z.infer<typeof ConfigFile>

const ownerOnly = 0o600
const ownerOnlyFolder = 0o700

/**
 * Returns the path of the configuration file: `WATCHHOUSE_CONFIG`, or the place that the operating system defines for
 * the configuration of programs.
 */
export const findConfigPath = (env: Variables, platform: NodeJS.Platform = process.platform): string => {
  if (env.WATCHHOUSE_CONFIG) return env.WATCHHOUSE_CONFIG
  const home = env.HOME || homedir()
  const folders: Partial<Record<NodeJS.Platform, string>> = {
    win32: env.APPDATA || join(home, 'AppData', 'Roaming'),
    darwin: join(home, 'Library', 'Application Support'),
  }
  return join(folders[platform] ?? (env.XDG_CONFIG_HOME || join(home, '.config')), 'watchhouse', 'config.json')
}

/** Reads the configuration file. A missing file is an empty configuration. */
export const readConfigFile = (path: string): ConfigFile => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { url: null, servers: {} }
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  try {
    return ConfigFile.parse(JSON.parse(text))
  } catch {
    throw new CommandError(`${path} is not a valid configuration; delete the file and run "watchhouse login" again`)
  }
}

/** Replaces the configuration file atomically. Only the user can read it. */
export const writeConfigFile = (path: string, config: ConfigFile): void => {
  mkdirSync(dirname(path), { recursive: true, mode: ownerOnlyFolder })
  const written = `${path}.${process.pid}`
  try {
    writeFileSync(written, `${JSON.stringify(config, null, 2)}\n`, { mode: ownerOnly, flag: 'wx' })
    renameSync(written, path)
  } catch (error) {
    rmSync(written, { force: true })
    throw error
  }
}
