import type { Redis, RedisOptions } from 'ioredis'
import { ServiceError } from '#proto/errors.ts'
import { InvalidSettings } from '../../config/setting.ts'

const connectWithinMs = 2_000
const commandWithinMs = 2_000
const startWithinMs = 10_000
const maxReconnectPauseMs = 1_000
const minRedisVersion = [6, 2] as const

/** Options of Redis connections that send commands. */
export const redisClientOptions = {
  lazyConnect: true,
  connectionName: 'watchhouse',
  connectTimeout: connectWithinMs,
  commandTimeout: commandWithinMs,
  // Calls fail immediately while the server is unavailable; a command that may have run is not retried.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), maxReconnectPauseMs),
} as const satisfies RedisOptions

/** Connects to Redis; throws `InvalidSettings` if the server is unsuitable, for example because it may evict keys. */
export const connectRedis = async (url: string): Promise<Redis> => {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, redisClientOptions)
  try {
    await waitUntilReady(client, new URL(url).host)
    await requireDurable(client)
    return client
  } catch (error) {
    client.disconnect()
    throw error
  }
}

const waitUntilReady = async (client: Redis, address: string): Promise<void> => {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  let reason = 'no response'
  client.once('ready', resolve)
  client.on('error', (error: Error) => {
    reason = error.message
    if (/WRONGPASS|NOAUTH|ERR AUTH/.test(reason))
      reject(createRedisProblem('the server rejects the user or the password; check both'))
  })
  const onTimeout = () =>
    reject(new ServiceError('unavailable', `Redis "${address}" did not respond within ${startWithinMs} ms: ${reason}`))
  const timer = setTimeout(onTimeout, startWithinMs)
  try {
    // A failed first attempt is not final: the client retries until the timeout.
    client.connect().catch(() => {})
    await ready
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Throws `InvalidSettings` if the server is too old, is a replica, evicts keys, or loses them at a restart. Uses INFO,
 * because hosted servers forbid CONFIG.
 */
const requireDurable = async (client: Redis): Promise<void> => {
  const facts = parseInfo(await client.info())
  const [major = 0, minor = 0] = (facts.get('redis_version') ?? '').split('.').map(Number)
  if (major < minRedisVersion[0] || (major === minRedisVersion[0] && minor < minRedisVersion[1])) {
    throw createRedisProblem(
      `the server is version ${facts.get('redis_version')}; use ${minRedisVersion.join('.')} or newer`,
    )
  }
  if (facts.get('maxmemory_policy') !== 'noeviction') {
    throw createRedisProblem(
      `the server evicts keys (maxmemory-policy ${facts.get('maxmemory_policy')}); set maxmemory-policy to noeviction`,
    )
  }
  if (facts.get('aof_enabled') !== '1') {
    throw createRedisProblem('the server loses data on restart; enable its append-only file (appendonly yes)')
  }
  if (facts.get('role') !== 'master')
    throw createRedisProblem('the server is a replica; use the address of the primary')
}

const parseInfo = (info: string): Map<string, string> =>
  new Map(
    info.split('\r\n').flatMap((line) => {
      const colon = line.indexOf(':')
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : []
    }),
  )

const createRedisProblem = (sentence: string): InvalidSettings => new InvalidSettings([{ name: 'REDIS_URL', sentence }])
