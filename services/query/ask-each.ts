import { ServiceError } from '#proto/errors.ts'
import type { AskedHost } from '#proto/host.ts'
import type { Parts } from './handlers/parts.ts'
import type { MonitoredHost } from './hosts/host-list.ts'

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
  ask: (host: MonitoredHost) => Promise<T>,
): Promise<EachAnswer<T>[]> => Promise.all(hostKeys.map((key) => parts.hosts.get(key)).map((host) => askOne(host, ask)))

const askOne = async <T>(host: MonitoredHost, ask: (host: MonitoredHost) => Promise<T>): Promise<EachAnswer<T>> => {
  const hostKey = host.key
  try {
    return { host, asked: { hostKey, error: null }, answer: await ask(host) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message } = error
    return { host, asked: { hostKey, error: { code, message } }, answer: null }
  }
}
