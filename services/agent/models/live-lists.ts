import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { ModelProvider } from '#proto/models.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { GatewayAccess } from './access.ts'
import { type LiveList, readLiveList, UnreadableList } from './read-live-list.ts'

interface Parts {
  env: Environment
  net: Pick<Net, 'trusted'>
  clock: Clock
  log: Logger
}

/** What gateways offer now, as far as they say. */
export interface LiveLists extends AsyncDisposable {
  /** The list of a gateway; undefined when it has told none. Waits only when nothing is known of it yet. */
  of(provider: ModelProvider, access: GatewayAccess): Promise<LiveList | undefined>
}

const freshMs = 10 * 60_000
/** A gateway that gave no list is left alone for so long. */
const restMs = 60_000
/** What was told so long ago is no longer believed when the gateway tells nothing new. */
const oldestMs = 24 * 3_600_000
/** Addresses and keys that are remembered; more than an operator ever changes between. */
const mostEntries = 16

interface Entry {
  list?: LiveList
  readAtMs: number
  triedAtMs: number
  reading?: Promise<void>
}

/** Reads lists when they are first asked for, and again behind the back of whoever asks when they are no longer fresh. */
export const openLiveLists = (parts: Parts): LiveLists => {
  const { clock } = parts
  const entries = new LRUCache<string, Entry>({
    max: mostEntries,
    memoMethod: () => ({ readAtMs: Number.NEGATIVE_INFINITY, triedAtMs: Number.NEGATIVE_INFINITY }),
  })
  const ending = new AbortController()

  const renew = (entry: Entry, provider: ModelProvider, access: GatewayAccess): Promise<void> => {
    entry.triedAtMs = clock.elapsedMs()
    entry.reading ??= readLiveList(parts, { provider, access, signal: ending.signal })
      .then(
        (list) => {
          entry.list = list
          entry.readAtMs = clock.elapsedMs()
        },
        (error: unknown) => tell(parts.log, provider, error, ending.signal),
      )
      .finally(() => delete entry.reading)
    return entry.reading
  }

  return {
    of: async (provider, access) => {
      const entry = entries.memo(entryKey(provider, access))
      const nowMs = clock.elapsedMs()
      const isDue = nowMs - entry.readAtMs >= freshMs && nowMs - entry.triedAtMs >= restMs
      const reading = isDue ? renew(entry, provider, access) : entry.reading
      if (entry.list === undefined) await reading
      return nowMs - entry.readAtMs < oldestMs ? entry.list : undefined
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.all([...entries.values()].map(({ reading }) => reading))
    },
  }
}

/** Another key may belong to another workspace. */
const entryKey = (provider: ModelProvider, { base, key }: GatewayAccess): string =>
  [provider, base.href, hash('sha256', key, 'base64url')].join(' ')

const tell = (log: Logger, provider: ModelProvider, error: unknown, { aborted }: AbortSignal): void => {
  if (aborted) return
  const isForeseen = error instanceof NetFailure || error instanceof UnreadableList
  log.warn(
    isForeseen ? { provider, reason: error.message } : { provider, err: error },
    'fetching live model list failed',
  )
}
