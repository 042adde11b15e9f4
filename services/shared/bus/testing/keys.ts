import { isServiceName, serviceDependencies } from '#proto/call.ts'
import { deriveKey } from '../signatures.ts'
import { listKeyHolders } from '../subject.ts'

/**
 * Returns the bus keys of a process, by environment variable. `holders` are its services, or a NATS user such as
 * `query-guest`.
 */
export const createProcessKeys = (holders: readonly string[], secret: string): Record<string, string> => {
  if (holders.includes('gateway')) return { NATS_SIGNING_KEY: secret }
  const calls = holders.map((holder) => formatCallKeys(holder, secret)).filter((each) => each !== '')
  return {
    NATS_VERIFICATION_KEY: holders.map((holder) => deriveKey(holder, secret)).join(','),
    ...(calls.length > 0 && { NATS_CALL_KEYS: calls.join(',') }),
  }
}

/** Returns the value of `NATS_CALL_KEYS` for a service; empty if it calls no other service. */
export const formatCallKeys = (caller: string, secret: string): string =>
  listCallees(caller)
    .map((callee) => `${callee}=${deriveCallKey(caller, callee, secret)}`)
    .join(',')

/** Returns the key holders that a service calls: services, and NATS users of guest processes. */
export const listCallees = (caller: string): string[] =>
  isServiceName(caller) ? serviceDependencies[caller].flatMap(listKeyHolders) : []

/** Returns the key with which one service signs its calls to another. */
export const deriveCallKey = (caller: string, callee: string, secret: string): string =>
  deriveKey(caller, deriveKey(callee, secret))
