import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { ModelProvider } from '#proto/models.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { GatewayAccess } from './gateway-access.ts'
import { type LiveList, fetchLiveList, InvalidLiveListError } from './read-live-list.ts'

interface LiveListDeps {
  env: Environment
  net: Pick<Net, 'trusted'>
  clock: Clock
  log: Logger
}

/** A cache of the live model lists of the gateways. */
export interface LiveLists extends AsyncDisposable {
  /** Returns the list of a gateway; undefined if it cannot be fetched. Waits for the gateway only if none is cached. */
  of(provider: ModelProvider, access: GatewayAccess): Promise<LiveList | undefined>
}

const refreshAfterMs = 10 * 60_000
/** Minimum time before the next attempt after a failure, in milliseconds. */
const retryAfterMs = 60_000
/** Maximum age of a cached list that is returned if fetching a new one fails, in milliseconds. */
const maxAgeMs = 24 * 3_600_000
/** Maximum number of cached lists; each combination of address and key has its own. */
const maxEntries = 16

interface Entry {
  list?: LiveList
  readAtMs: number
  triedAtMs: number
  reading?: Promise<void>
}

/** Returns a cache that fetches lists on demand and refreshes expired ones in the background. */
export const openLiveLists = (parts: LiveListDeps): LiveLists => {
  const { clock } = parts
  const entries = new LRUCache<string, Entry>({
    max: maxEntries,
    memoMethod: () => ({ readAtMs: Number.NEGATIVE_INFINITY, triedAtMs: Number.NEGATIVE_INFINITY }),
  })
  const ending = new AbortController()

  const refresh = (entry: Entry, provider: ModelProvider, access: GatewayAccess): Promise<void> => {
    entry.triedAtMs = clock.elapsedMs()
    entry.reading ??= fetchLiveList(parts, { provider, access, signal: ending.signal })
      .then(
        (list) => {
          entry.list = list
          entry.readAtMs = clock.elapsedMs()
        },
        (error: unknown) => logFailure(parts.log, provider, error, ending.signal),
      )
      .finally(() => delete entry.reading)
    return entry.reading
  }

  return {
    of: async (provider, access) => {
      const entry = entries.memo(createEntryKey(provider, access))
      const nowMs = clock.elapsedMs()
      const isDue = nowMs - entry.readAtMs >= refreshAfterMs && nowMs - entry.triedAtMs >= retryAfterMs
      const reading = isDue ? refresh(entry, provider, access) : entry.reading
      if (entry.list === undefined) await reading
      return nowMs - entry.readAtMs < maxAgeMs ? entry.list : undefined
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.all([...entries.values()].map(({ reading }) => reading))
    },
  }
}

/** Returns the cache key of a list. It includes the API key, because another key may belong to another workspace. */
const createEntryKey = (provider: ModelProvider, { base, key }: GatewayAccess): string =>
  [provider, base.href, hash('sha256', key, 'base64url')].join(' ')

const logFailure = (log: Logger, provider: ModelProvider, error: unknown, { aborted }: AbortSignal): void => {
  if (aborted) return
  const isExpected = error instanceof NetFailure || error instanceof InvalidLiveListError
  log.warn(
    isExpected ? { provider, reason: error.message } : { provider, err: error },
    'fetching live model list failed',
  )
}
