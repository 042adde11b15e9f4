import { hash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { ServiceError } from '#proto/errors.ts'

/** A Lua script with the digest that Redis knows it by once it has run. */
export interface Script {
  text: string
  digest: string
}

/** A script from its text. */
export const script = (text: string): Script => ({ text, digest: hash('sha1', text) })

/** Runs a script by its digest, and by its text on a server that has forgotten or never seen it. */
export const run = async (
  client: Redis,
  { text, digest }: Script,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> => {
  try {
    return await client.evalsha(digest, keys.length, ...keys, ...values)
  } catch (error) {
    if (!isUnknown(error)) throw error
    return client.eval(text, keys.length, ...keys, ...values)
  }
}

const isUnknown = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT')

/** Replies of a server that cannot serve now; any other error reply is a mistake in a script. */
const passing = /^(LOADING|READONLY|MISCONF|OOM|MASTERDOWN|NOREPLICAS|BUSY|TRYAGAIN|CLUSTERDOWN)/

/** What a failed command means to its caller; `address` is the server's, without user and password. */
export const failureOf = (error: unknown, address: string): unknown => {
  if (error instanceof Error && error.name === 'ReplyError' && !passing.test(error.message)) return error
  return new ServiceError('unavailable', reasonOf(error, address), { retryAfterMs: 1_000, cause: error })
}

/** Which server failed, why, and what to do. */
export const reasonOf = (error: unknown, address: string): string => {
  const [, word = ''] = /^([A-Z]+)\b/.exec(error instanceof Error ? error.message : '') ?? []
  return `state store Redis "${address}": ${causes[word] ?? 'does not answer; check that it runs and that its address is right'}`
}

const causes: Readonly<Record<string, string>> = {
  LOADING: 'is loading its data; wait for it',
  READONLY: 'is a read-only replica; connect to the primary',
  MISCONF: 'cannot save to its disk and refuses writes; free space there',
  OOM: 'has reached its maxmemory; raise it, or free memory',
  MASTERDOWN: 'has lost its primary; check the primary',
  NOREPLICAS: 'has too few replicas to take writes; check the replicas',
  CLUSTERDOWN: 'its cluster is down; check the nodes of the cluster',
}
