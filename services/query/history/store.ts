import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { Store } from '#shared/store/store.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { shortenText } from '#shared/text/strings.ts'
import { prepareSchema } from './prepare-schema.ts'
import { fullName, type HistoryTable } from './schema.ts'
import { type HistoryConfig, type HistoryRetention, insertSettings, readHistoryConfig } from './settings.ts'

/** A row of a history table, by column. */
export type HistoryRow = Readonly<Record<string, unknown>>

/** The store of the history on a ClickHouse server. Without a configured server, every method fails as `unavailable`. */
export interface HistoryStore extends AsyncDisposable {
  /** Whether a server is configured. */
  readonly isEnabled: boolean
  /** How long rows are kept in each resolution. */
  readonly retention: HistoryRetention
  /** Why the last request failed; undefined if it succeeded. */
  readonly problem: string | undefined
  /** Inserts rows as one block. An insert with a token that was used before changes nothing. */
  insert(table: HistoryTable, rows: readonly HistoryRow[], token: string): Promise<void>
  /** Runs a SELECT, in which `{table:samples}` stands for a table, and returns the validated rows. */
  select<S extends z.ZodType>(sql: string, schema: S, parameters?: Record<string, unknown>): Promise<z.output<S>[]>
}

const insertTimeoutMs = 30_000
const selectTimeoutMs = 10_000
/** Requests fail without being sent for this time after the server did not respond, so that pages need not wait. */
const pauseMs = 5_000
const maxReasonLength = 300

interface HistoryStoreDeps {
  env: Environment
  store: Store
  log: Telemetry['log']
}

/** Opens the history store. The server is contacted at the first request, and again after every failure. */
export const openHistoryStore = ({ env, store, log }: HistoryStoreDeps): HistoryStore => {
  const config = readHistoryConfig(env)
  if (!config) return disabledHistory
  const client = openHistoryClient(config)
  const readInstallation = openInstallationId(store)
  const requests = openRequests(() => prepareSchema({ client, config, store, log, readInstallation }), log)
  return {
    isEnabled: true,
    retention: config.retention,
    get problem() {
      return requests.problem()
    },
    insert: (table, rows, token) =>
      requests.send(async () => {
        await client.insert({
          table: fullName(config, table),
          values: rows,
          format: 'JSONEachRow',
          clickhouse_settings: { ...insertSettings, insert_deduplication_token: token },
        })
      }),
    select: (sql, schema, parameters = {}) =>
      requests.send(async () => {
        const query = sql.replaceAll(/\{table:(\w+)\}/g, (_, table: string) => fullName(config, table))
        const answer = await client.query({
          query,
          format: 'JSONEachRow',
          query_params: parameters,
          abort_signal: AbortSignal.timeout(selectTimeoutMs),
          clickhouse_settings: selectSettings,
        })
        return z.array(schema).parse(await answer.json())
      }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** The requests to the history server. */
interface Requests {
  problem(): string | undefined
  /** Sends a request after the tables are prepared. Throws a ServiceError if that or the request fails. */
  send<T>(request: () => Promise<T>): Promise<T>
}

const openRequests = (prepare: () => Promise<void>, log: Telemetry['log']): Requests => {
  let preparing: Promise<void> | undefined
  let problem: string | undefined
  /** The last failure to reach the server, and when it ended; undefined if the server responded since. */
  let outage: { failure: ServiceError; atMs: number } | undefined
  let isTrying = false

  const prepareOnce = (): Promise<void> =>
    (preparing ??= prepare().catch((error: unknown) => {
      preparing = undefined
      throw error
    }))
  const succeed = (): void => {
    if (problem !== undefined) log.info('history store recovered')
    problem = undefined
    outage = undefined
  }
  const fail = (error: unknown): ServiceError => {
    // Lost tables are created again with the next request.
    if (error instanceof ClickHouseError && lostCodes.has(error.code)) preparing = undefined
    const failure = toHistoryError(error)
    if (problem !== failure.message) log.warn({ reason: failure.message }, 'history store unavailable')
    problem = failure.message
    outage = isResponse(error) ? undefined : { failure, atMs: performance.now() }
    return failure
  }
  return {
    problem: () => problem,
    async send(request) {
      // One request at a time tries whether the server responds again; the others fail meanwhile.
      const isTrial = outage !== undefined
      if (outage && (isTrying || performance.now() - outage.atMs < pauseMs)) throw outage.failure
      isTrying ||= isTrial
      try {
        await prepareOnce()
        const result = await request()
        succeed()
        return result
      } catch (error) {
        throw fail(error)
      } finally {
        if (isTrial) isTrying = false
      }
    },
  }
}

/** Unknown table and unknown database. */
const lostCodes = new Set(['60', '81'])

/** Returns whether the server responded, so that other requests may succeed. */
const isResponse = (error: unknown): boolean =>
  error instanceof ClickHouseError || error instanceof ServiceError || error instanceof z.ZodError

const selectSettings = {
  max_execution_time: selectTimeoutMs / 1_000,
  cancel_http_readonly_queries_on_client_close: 1,
} as const

const openHistoryClient = ({ url, user, password, database }: HistoryConfig): ClickHouseClient =>
  createClient({
    url: url.origin,
    pathname: url.pathname,
    username: user,
    password,
    application: 'watchhouse-history',
    request_timeout: insertTimeoutMs,
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      log_comment: JSON.stringify({ watchhouse: `history-store/${database}` }),
      output_format_json_quote_64bit_integers: 0,
    },
  })

const disabled = (): Promise<never> =>
  Promise.reject(
    new ServiceError('unavailable', 'no history is recorded: SVC_HISTORY_URL is not set', {
      details: { reason: 'history-disabled' },
    }),
  )

const disabledHistory: HistoryStore = {
  isEnabled: false,
  retention: { rawDays: 0, fiveMinuteDays: 0, hourDays: 0 },
  problem: undefined,
  insert: disabled,
  select: disabled,
  [Symbol.asyncDispose]: async () => undefined,
}

const describeFailure = (error: unknown): string =>
  error instanceof z.ZodError
    ? 'the server returned unexpected rows'
    : 'the server cannot be reached or does not respond'

const accessDenied = '497'

const describeError = ({ code, type, message }: ClickHouseError): string => {
  const text = message.replaceAll(/\s+/g, ' ')
  const [, user, grant] =
    /^(\S+): Not enough privileges\..* the grant (.+? ON [^\s,.]+(?:\.[^\s,.]+)?)/.exec(text) ?? []
  return code === accessDenied && grant !== undefined
    ? `the user "${user}" lacks the grant ${grant}`
    : `${type ?? 'error'} ${code}: ${text}`
}

/** Returns the error of a request to the history server, without its address and without statements. */
const toHistoryError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  const reason = error instanceof ClickHouseError ? describeError(error) : describeFailure(error)
  return new ServiceError('unavailable', `history store: ${shortenText(reason, maxReasonLength)}`, {
    details: { reason: 'history-unavailable' },
    cause: error,
  })
}
