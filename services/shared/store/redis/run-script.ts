import { hash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { ServiceError } from '#proto/errors.ts'

/** A Lua script with its SHA-1 digest for EVALSHA. */
export interface RedisScript {
  text: string
  digest: string
}

/** Creates a script from its text. */
export const createScript = (text: string): RedisScript => ({ text, digest: hash('sha1', text) })

/** Runs a script by its digest, or by its text if the server does not have it cached. */
export const runRedisScript = async (
  client: Redis,
  { text, digest }: RedisScript,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> => {
  try {
    return await client.evalsha(digest, keys.length, ...keys, ...values)
  } catch (error) {
    if (!isNotCached(error)) throw error
    return client.eval(text, keys.length, ...keys, ...values)
  }
}

const isNotCached = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT')

/** Error codes of a server that cannot respond for now; any other error reply is a defect of a script. */
const temporaryCodes = /^(LOADING|READONLY|MISCONF|OOM|MASTERDOWN|NOREPLICAS|BUSY|TRYAGAIN|CLUSTERDOWN)/

/**
 * Converts a failure of the server to `unavailable`; returns any other error unchanged. `address` contains no
 * credentials.
 */
export const toRedisFailure = (error: unknown, address: string): unknown => {
  if (error instanceof Error && error.name === 'ReplyError' && !temporaryCodes.test(error.message)) return error
  return new ServiceError('unavailable', describeRedisError(error, address), { retryAfterMs: 1_000, cause: error })
}

/** Formats an error message with the server, the reason for its failure and a remedy. */
export const describeRedisError = (error: unknown, address: string): string => {
  const [, code = ''] = /^([A-Z]+)\b/.exec(error instanceof Error ? error.message : '') ?? []
  return `state store Redis "${address}": ${errorCauses[code] ?? 'does not respond; check that it is running and that its address is correct'}`
}

const errorCauses: Readonly<Record<string, string>> = {
  LOADING: 'is loading its data; wait for it',
  READONLY: 'is a read-only replica; connect to the primary',
  MISCONF: 'cannot save to its disk and refuses writes; free space there',
  OOM: 'has reached its maxmemory; increase it, or free memory',
  MASTERDOWN: 'has lost its primary; check the primary',
  NOREPLICAS: 'has too few replicas to accept writes; check the replicas',
  CLUSTERDOWN: 'is part of a cluster that is down; check the nodes of the cluster',
}
