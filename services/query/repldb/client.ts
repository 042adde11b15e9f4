import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { hidden, soundsSecret, withoutCredentials } from '#shared/telemetry/redact.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openSharedRuns } from '../clickhouse/shared-runs.ts'
import type { Endpoint } from './endpoints.ts'
import { failureOf, failureOfStatus, notConfigured, noSuchAnswer, tooLate } from './failure.ts'
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
interface Question {
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

/** `password=…`, `"secret_access_key": "…"`, `sslpassword='…'`: what follows a name that says it is secret, whatever it is called in full. */
const assigned =
  /(?<name>\b[\w.-]{0,64}(?:password|passwd|pwd|passphrase|secret|token(?!iz)|credential|access_?key|api_?key|private_?key|sig(?:nature)?)[\w.-]{0,64}\\*["']?\s{0,8}(?:=>?|:)\s{0,8})(?:\\+".*?(?:\\+"|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&)\]}]+)/gi
const identified =
  /(?<name>\b(?:identified\s+(?:with\s+\w+\s+)?by|authorization:?\s*(?:basic|bearer))\s+)(?:'[^']*'?|\S+)/gi
const keyBlock = /-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|$)/gs
/** Ids of access keys, and tokens that say by their form what they are. */
const known = /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g

/** Longer lines are cut: they are read by people, and by expressions whose work grows with them. */
const longestText = 8_192

/** A text without what looks like a secret in it: lines of logs repeat connection strings. */
export const hideSecrets = (text: string): string =>
  withoutCredentials(beginningOf(text, longestText))
    .replaceAll(keyBlock, hidden)
    .replaceAll(identified, `$<name>${hidden}`)
    .replaceAll(assigned, `$<name>${hidden}`)
    .replaceAll(known, hidden)

/** What an answer is read with: 64-bit numbers, which are sent as text, become numbers, numbers that are none become null, and secrets are hidden. */
export const revive = (key: string, value: unknown): unknown => {
  if (typeof value === 'string') return reviveText(key, value)
  if (isNamedValue(value) && soundsSecret(value.name)) {
    return { ...value, value: value.value === null ? null : hidden, defaultValue: hidden }
  }
  return value
}

const reviveText = (key: string, text: string): unknown => {
  if (wholeFields.has(key) && /^-?\d{1,19}$/.test(text)) return Number(text)
  if (figureFields.has(key) && /^-?(?:NaN|Infinity)$/.test(text)) return null
  return soundsSecret(key) && text !== '' ? hidden : hideSecrets(text)
}

/** A setting, which has its name beside it and not as a key. */
const isNamedValue = (value: unknown): value is { name: string; value: unknown } =>
  typeof value === 'object' && value !== null && 'value' in value && 'name' in value && typeof value.name === 'string'

const wholeFields: ReadonlySet<string> = new Set([
  'id',
  'pid',
  'batchId',
  'numRows',
  'numRowsSynced',
  'avgTimePerPartitionMs',
  'rowsInPartition',
  'rowsSynced',
  'totalRows',
  'totalCount',
  'totalCountCDC',
  'totalCountInitialLoad',
  'insertsCount',
  'updatesCount',
  'deletesCount',
  'idleTimeoutSeconds',
])
const figureFields: ReadonlySet<string> = new Set(['lagInMb'])
