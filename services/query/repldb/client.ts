import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { redactionPlaceholder, isSecretName, removeCredentials } from '#shared/telemetry/redact.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openSharedRuns } from '../clickhouse/shared-runs.ts'
import type { ReplicationEndpoint } from './endpoints.ts'
import {
  toReplicationServiceError,
  createStatusError,
  createNotConfiguredError,
  createInvalidResponseError,
  createResponseTimeoutError,
} from './failure.ts'
import { repldbSettings } from './repldb-settings.ts'

/** Limit for all cached responses together, in bytes as received. */
export const maxCachedResponseBytes = 16 * 1024 * 1024

/** Limits of the response cache: the maximum age and number of entries. */
interface CacheLimits {
  lifetimeMs: number
  maxEntries: number
}

/** An LRU cache of responses with limits for age, number and size. */
interface CachedResponses {
  get(key: string, limits: CacheLimits): unknown
  put(key: string, answer: unknown, bytes: number, limits: CacheLimits): void
}

/** Returns an empty cache. Limits are passed on each call, because settings may change at runtime. */
export const openResponseCache = (elapsedMs: () => number): CachedResponses => {
  const cache = new LRUCache<string, { answer: unknown; sinceMs: number }>({ maxSize: maxCachedResponseBytes })
  return {
    get(key, { lifetimeMs }) {
      const found = cache.get(key)
      return found && elapsedMs() - found.sinceMs < lifetimeMs ? found.answer : undefined
    },
    put(key, answer, bytes, { lifetimeMs, maxEntries }) {
      if (lifetimeMs === 0) return
      cache.set(key, { answer, sinceMs: elapsedMs() }, { size: Math.max(1, bytes) })
      while (cache.size > maxEntries) cache.pop()
    },
  }
}

const maxResponseBytes = 4 * 1024 * 1024

/** The parameters of a request. */
interface RequestParameters {
  /** The mirror or peer in the path. */
  name?: string
  body?: object
}

/** A read-only client of the replication service. */
export interface ReplicationServiceClient {
  isConfigured(): boolean
  /** Fetches an endpoint. Responses are shared and cached briefly, failures are not. Throws `ServiceError`. */
  callApi<S extends z.ZodType>(
    endpoint: ReplicationEndpoint<S>,
    parameters: RequestParameters,
    call: CallContext,
  ): Promise<z.output<S>>
}

interface ServiceDeps {
  env: Environment
  net: Pick<Net, 'trusted'>
  clock: Clock
}

/** Returns a client; it connects on the first request. */
export const openReplicationServiceClient = (place: ServiceDeps): ReplicationServiceClient => {
  const { env, clock } = place
  const cache = openResponseCache(clock.elapsedMs)
  const runs = openSharedRuns<MaskedResponse>()
  return {
    isConfigured: () => parseSettings(repldbSettings, env).REPLDB_API_URL !== undefined,
    async callApi(endpoint, parameters, call) {
      const settings = parseSettings(repldbSettings, env)
      const { REPLDB_API_URL: base, REPLDB_FETCH_TIMEOUT_MS: timeoutMs } = settings
      if (base === undefined) throw createNotConfiguredError()
      const limits = { lifetimeMs: settings.REPLDB_CACHE_TTL_MS, maxEntries: settings.REPLDB_CACHE_MAX_ENTRIES }
      const body = parameters.body && JSON.stringify(parameters.body)
      const request = { url: addressOf(base, endpoint, parameters), method: endpoint.method, body, timeoutMs }
      const key = [endpoint.method, request.url, body].join(' ')
      const found = cache.get(key, limits)
      if (found !== undefined) return endpoint.answer.parse(found)
      const limitMs = Math.min(timeoutMs, call.deadline - clock.elapsedMs())
      const { json, bytes } = await runs.join(
        key,
        { signal: call.signal, limitMs, late: createResponseTimeoutError },
        (signal) => send(place, { ...request, signal }, settings.REPLDB_PASSWORD),
      )
      const parsed = endpoint.answer.safeParse(json)
      if (!parsed.success) throw createInvalidResponseError()
      cache.put(key, parsed.data, bytes, limits)
      return parsed.data
    },
  }
}

/** Returns the URL of an endpoint below the base path, which is `/api` for the service's web server. */
const addressOf = (base: URL, { path }: ReplicationEndpoint, { name = '' }: RequestParameters): string =>
  `${base.href.replace(/\/+$/, '')}/v1/${path.replace('{name}', () => encodeURIComponent(name))}`

interface ServiceRequest {
  url: string
  method: string
  body: string | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** A response without secrets. */
interface MaskedResponse {
  json: unknown
  bytes: number
}

const send = async (
  { net }: ServiceDeps,
  { url, ...request }: ServiceRequest,
  password: string | undefined,
): Promise<MaskedResponse> => {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (request.body !== undefined) headers['content-type'] = 'application/json'
  if (password !== undefined) headers.authorization = `Basic ${Buffer.from(`:${password}`).toString('base64')}`
  try {
    const response = await net.trusted(url, { ...request, headers, maxBytes: maxResponseBytes })
    const text = await response.text()
    if (!response.ok) throw createStatusError(response.status)
    return { json: JSON.parse(text, reviveResponseValue), bytes: Buffer.byteLength(text) }
  } catch (error) {
    throw toReplicationServiceError(error)
  }
}

/** Matches values after names with a secret word: `password=…`, `"secret_access_key": "…"`, `sslpassword='…'`. */
const assigned =
  /(?<name>\b[\w.-]{0,64}(?:password|passwd|pwd|passphrase|secret|token(?!iz)|credential|access_?key|api_?key|private_?key|sig(?:nature)?)[\w.-]{0,64}\\*["']?\s{0,8}(?:=>?|:)\s{0,8})(?:\\+".*?(?:\\+"|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&)\]}]+)/gi
const identified =
  /(?<name>\b(?:identified\s+(?:with\s+\w+\s+)?by|authorization:?\s*(?:basic|bearer))\s+)(?:'[^']*'?|\S+)/gi
const keyBlock = /-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|$)/gs
/** Matches access key ids and JSON web tokens. */
const known = /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g

/** Longer texts are truncated, because the cost of the regular expressions grows with length. */
const maxTextLength = 8_192

/** Masks likely secrets in a text. Log lines repeat connection strings. */
export const maskSecrets = (text: string): string =>
  removeCredentials(shortenText(text, maxTextLength))
    .replaceAll(keyBlock, redactionPlaceholder)
    .replaceAll(identified, `$<name>${redactionPlaceholder}`)
    .replaceAll(assigned, `$<name>${redactionPlaceholder}`)
    .replaceAll(known, redactionPlaceholder)

/** A JSON reviver: converts 64-bit numbers from text, maps invalid numbers to null and masks secrets. */
export const reviveResponseValue = (key: string, value: unknown): unknown => {
  if (typeof value === 'string') return reviveText(key, value)
  if (isNamedValue(value) && isSecretName(value.name)) {
    return { ...value, value: value.value === null ? null : redactionPlaceholder, defaultValue: redactionPlaceholder }
  }
  return value
}

const reviveText = (key: string, text: string): unknown => {
  if (wholeFields.has(key) && /^-?\d{1,19}$/.test(text)) return Number(text)
  if (figureFields.has(key) && /^-?(?:NaN|Infinity)$/.test(text)) return null
  return isSecretName(key) && text !== '' ? redactionPlaceholder : maskSecrets(text)
}

/** Matches a setting such as `{ name, value }`, whose name is not an object key. */
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
