import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { settings } from '../config.ts'

/** The current values of `COLUMNDB_POOL_*`. */
export interface PoolSettings {
  /** Maximum number of concurrent statements of callers and reports; sweeps have additional connections. */
  size: number
  idleMs: number
}

/** The current limits of the settings. */
export interface HostClientLimits {
  pool: PoolSettings
  cleanupIntervalMs: number
  maxExecutionSeconds: number
  cache: boolean
  /** How long a statement of a tool waits for a slot. */
  toolWaitMs: number
}

const { COLUMNDB_POOL_SIZE, COLUMNDB_POOL_TIMEOUT, COLUMNDB_POOL_CLEANUP_INTERVAL } = settings
const { COLUMNDB_MAX_EXECUTION_TIME, SVC_QUERY_CACHE, SVC_TOOL_QUEUE_SECONDS } = settings
const limitSettings = {
  COLUMNDB_POOL_SIZE,
  COLUMNDB_POOL_TIMEOUT,
  COLUMNDB_POOL_CLEANUP_INTERVAL,
  COLUMNDB_MAX_EXECUTION_TIME,
  SVC_QUERY_CACHE,
  SVC_TOOL_QUEUE_SECONDS,
}

/** Reads the current limits; cheap enough for every statement. */
export const readHostClientLimits = (env: Environment): HostClientLimits => {
  const values = parseSettings(limitSettings, env)
  return {
    pool: { size: values.COLUMNDB_POOL_SIZE, idleMs: values.COLUMNDB_POOL_TIMEOUT },
    cleanupIntervalMs: values.COLUMNDB_POOL_CLEANUP_INTERVAL,
    maxExecutionSeconds: values.COLUMNDB_MAX_EXECUTION_TIME,
    cache: values.SVC_QUERY_CACHE,
    toolWaitMs: values.SVC_TOOL_QUEUE_SECONDS * 1_000,
  }
}
