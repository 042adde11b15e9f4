import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'

/** What `COLUMNDB_POOL_*` say now. */
export interface PoolSettings {
  /** Statements of callers and reports at once; sweeps have connections besides. */
  size: number
  idleMs: number
}

/** What the settings allow now. */
export interface Limits {
  pool: PoolSettings
  cleanupIntervalMs: number
  maxExecutionSeconds: number
  cache: boolean
}

const { COLUMNDB_POOL_SIZE, COLUMNDB_POOL_TIMEOUT, COLUMNDB_POOL_CLEANUP_INTERVAL } = settings
const { COLUMNDB_MAX_EXECUTION_TIME, SVC_QUERY_CACHE } = settings
const obeyed = {
  COLUMNDB_POOL_SIZE,
  COLUMNDB_POOL_TIMEOUT,
  COLUMNDB_POOL_CLEANUP_INTERVAL,
  COLUMNDB_MAX_EXECUTION_TIME,
  SVC_QUERY_CACHE,
}

/** Reads them; cheap enough for every statement. */
export const readLimits = (env: Environment): Limits => {
  const values = read(obeyed, env)
  return {
    pool: { size: values.COLUMNDB_POOL_SIZE, idleMs: values.COLUMNDB_POOL_TIMEOUT },
    cleanupIntervalMs: values.COLUMNDB_POOL_CLEANUP_INTERVAL,
    maxExecutionSeconds: values.COLUMNDB_MAX_EXECUTION_TIME,
    cache: values.SVC_QUERY_CACHE,
  }
}
