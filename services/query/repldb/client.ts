import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { openSharedRuns } from '../clickhouse/shared-runs.ts'
import type { Endpoint } from './endpoints.ts'
import { failureOf, failureOfStatus, notConfigured, noSuchAnswer, tooLate } from './failure.ts'
import { revive } from './hide-secrets.ts'
import { repldbSettings } from './repldb-settings.ts'

/** Of all answers together, as they were sent. */
export const mostKeptBytes = 16 * 1024 * 1024

/** How long answers are kept, and how many. */
interface Keeping {
  lifetimeMs: number
  mostEntries: number
}

/** Recent answers, bounded in age, number and size; those not needed for longest go first. */
interface KeptAnswers {
  get(key: string, keeping: Keeping): unknown
  put(key: string, answer: unknown, bytes: number, keeping: Keeping): void
}

/** The bounds come with each use, since settings may change while answers are kept. */
export const openKeptAnswers = (elapsedMs: () => number): KeptAnswers => {
  const kept = new LRUCache<string, { answer: unknown; sinceMs: number }>({ maxSize: mostKeptBytes })
  return {
    get(key, { lifetimeMs }) {
      const found = kept.get(key)
      return found && elapsedMs() - found.sinceMs < lifetimeMs ? found.answer : undefined
    },
    put(key, answer, bytes, { lifetimeMs, mostEntries }) {
      if (lifetimeMs === 0) return
      kept.set(key, { answer, sinceMs: elapsedMs() }, { size: Math.max(1, bytes) })
      while (kept.size > mostEntries) kept.pop()
    },
  }
}

const mostAnswerBytes = 4 * 1024 * 1024

/** What is asked of an endpoint. */
export interface Question {
  /** The mirror or peer that its path names. */
  name?: string
  body?: object
}

/** The replication service, as far as it is read. */
export interface ReplicationService {
  isConfigured(): boolean
  /** Answers are shared and kept for a moment; failures are not. Throws `ServiceError`. */
  ask<S extends z.ZodType>(endpoint: Endpoint<S>, question: Question, call: Call): Promise<z.output<S>>
}

interface Place {
  env: Environment
  net: Pick<Net, 'trusted'>
  clock: Clock
}

/** Connects nowhere yet. */
export const openReplicationService = (place: Place): ReplicationService => {
  const { env, clock } = place
  const kept = openKeptAnswers(clock.elapsedMs)
  const runs = openSharedRuns<Sent>()
  return {
    isConfigured: () => read(repldbSettings, env).REPLDB_API_URL !== undefined,
    async ask(endpoint, question, call) {
      const settings = read(repldbSettings, env)
      const { REPLDB_API_URL: base, REPLDB_FETCH_TIMEOUT_MS: timeoutMs } = settings
      if (base === undefined) throw notConfigured()
      const keeping = { lifetimeMs: settings.REPLDB_CACHE_TTL_MS, mostEntries: settings.REPLDB_CACHE_MAX_ENTRIES }
      const body = question.body && JSON.stringify(question.body)
      const asked = { url: addressOf(base, endpoint, question), method: endpoint.method, body, timeoutMs }
      const key = [endpoint.method, asked.url, body].join(' ')
      const found = kept.get(key, keeping)
      if (found !== undefined) return endpoint.answer.parse(found)
      const limitMs = Math.min(timeoutMs, call.deadline - clock.elapsedMs())
      const { json, bytes } = await runs.join(key, { signal: call.signal, limitMs, late: tooLate }, (signal) =>
        send(place, { ...asked, signal }, settings.REPLDB_PASSWORD),
      )
      const told = endpoint.answer.safeParse(json)
      if (!told.success) throw noSuchAnswer()
      kept.put(key, told.data, bytes, keeping)
      return told.data
    },
  }
}

/** Below the path of the base, which is `/api` where the service is reached through its web. */
const addressOf = (base: URL, { path }: Endpoint, { name = '' }: Question): string =>
  `${base.href.replace(/\/+$/, '')}/v1/${path.replace('{name}', () => encodeURIComponent(name))}`

interface Asked {
  url: string
  method: string
  body: string | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** What was sent back, without secrets. */
interface Sent {
  json: unknown
  bytes: number
}

const send = async ({ net }: Place, { url, ...asked }: Asked, password: string | undefined): Promise<Sent> => {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (asked.body !== undefined) headers['content-type'] = 'application/json'
  if (password !== undefined) headers.authorization = `Basic ${Buffer.from(`:${password}`).toString('base64')}`
  try {
    const answer = await net.trusted(url, { ...asked, headers, maxBytes: mostAnswerBytes })
    const text = await answer.text()
    if (!answer.ok) throw failureOfStatus(answer.status)
    return { json: JSON.parse(text, revive), bytes: Buffer.byteLength(text) }
  } catch (error) {
    throw failureOf(error)
  }
}
