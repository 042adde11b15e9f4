import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { AskedHost } from '#proto/host.ts'
import type { Parts } from '../parts.ts'
import type { MonitoredHost } from './host-list.ts'

/** The answer comes when the last host has told, so none is waited for longer. */
const eachMs = 15_000

/** What one of several hosts answered; null when it failed, for the reason in `asked.error`. */
export interface EachAnswer<T> {
  host: MonitoredHost
  asked: AskedHost
  answer: T | null
}

/** Asks several hosts at once; each fails alone. A key that the host list lacks fails the whole question. */
export const askEach = <T>(
  parts: Parts,
  hostKeys: readonly string[],
  call: Call,
  ask: (host: MonitoredHost, call: Call) => Promise<T>,
): Promise<EachAnswer<T>[]> => {
  const hosts = hostKeys.map((key) => parts.hosts.get(key))
  const own = { ...call, deadline: Math.min(call.deadline, parts.clock.elapsedMs() + eachMs) }
  return Promise.all(hosts.map((host) => askOne(host, () => ask(host, own))))
}

const askOne = async <T>(host: MonitoredHost, ask: () => Promise<T>): Promise<EachAnswer<T>> => {
  const hostKey = host.key
  try {
    return { host, asked: { hostKey, error: null }, answer: await ask() }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message } = error
    return { host, asked: { hostKey, error: { code, message } }, answer: null }
  }
}
