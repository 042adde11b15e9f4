import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import { acquireRenewedLease } from '#shared/store/renewed-lease.ts'
import type { Store } from '#shared/store/store.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { shortenText } from '#shared/text/strings.ts'
import {
  alterRetention,
  createSchemaStatements,
  formatRetention,
  fullName,
  historyTables,
  type HistoryTable,
  ownerTable,
  retentionStatement,
} from './schema.ts'
import { type HistoryConfig, readHistoryConfig } from './settings.ts'

/** A row of a history table, by column. */
export type HistoryRow = Readonly<Record<string, unknown>>

/** The store of the history on a ClickHouse server. Without a configured server, every method fails as `unavailable`. */
export interface HistoryStore extends AsyncDisposable {
  /** Whether a server is configured. */
  readonly isEnabled: boolean
  /** Why the last request failed; undefined if it succeeded. */
  readonly problem: string | undefined
  /** Inserts rows as one block. An insert with a token that was used before changes nothing. */
  insert(table: HistoryTable, rows: readonly HistoryRow[], token: string): Promise<void>
  /** Runs a SELECT, in which `{table:samples}` stands for a table, and returns the validated rows. */
  select<S extends z.ZodType>(sql: string, schema: S, parameters?: Record<string, unknown>): Promise<z.output<S>[]>
}

const requestTimeoutMs = 30_000
/** The first version in which tokens, combined TTL rules and the used functions work together. */
const minVersion: readonly [year: number, month: number] = [23, 8]
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
  let preparing: Promise<void> | undefined
  let problem: string | undefined

  const prepare = (): Promise<void> =>
    (preparing ??= prepareSchema({ client, config, store, log, readInstallation }).catch((error: unknown) => {
      preparing = undefined
      throw error
    }))

  const request = async <T>(send: () => Promise<T>): Promise<T> => {
    try {
      await prepare()
      const result = await send()
      if (problem !== undefined) log.info('history store recovered')
      problem = undefined
      return result
    } catch (error) {
      // Lost tables are created again with the next request.
      if (error instanceof ClickHouseError && ['60', '81'].includes(error.code)) preparing = undefined
      const failure = toHistoryError(error)
      if (problem !== failure.message) log.warn({ reason: failure.message }, 'history store unavailable')
      problem = failure.message
      throw failure
    }
  }

  return {
    isEnabled: true,
    get problem() {
      return problem
    },
    insert: (table, rows, token) =>
      request(async () => {
        await client.insert({
          table: fullName(config, table),
          values: rows,
          format: 'JSONEachRow',
          clickhouse_settings: { ...insertSettings, insert_deduplication_token: token },
        })
      }),
    select: (sql, schema, parameters = {}) =>
      request(async () => {
        const query = sql.replaceAll(/\{table:(\w+)\}/g, (_, table: string) => fullName(config, table))
        const answer = await client.query({ query, format: 'JSONEachRow', query_params: parameters })
        return z.array(schema).parse(await answer.json())
      }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** Settings that make an insert one block in one request, so that its token covers all of its rows. */
const insertSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  input_format_parallel_parsing: 0,
  max_insert_block_size: '1048576',
  min_insert_block_size_rows: '1048576',
  distributed_foreground_insert: 1,
  wait_end_of_query: 1,
} as const

const openHistoryClient = ({ url, user, password, database }: HistoryConfig): ClickHouseClient =>
  createClient({
    url: url.origin,
    pathname: url.pathname,
    username: user,
    password,
    application: 'watchhouse-history',
    request_timeout: requestTimeoutMs,
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
  problem: undefined,
  insert: disabled,
  select: disabled,
  [Symbol.asyncDispose]: async () => undefined,
}

/** Returns the error of a request to the history server, without its address and without statements. */
const toHistoryError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  const reason =
    error instanceof ClickHouseError
      ? `${error.type ?? 'error'} ${error.code}: ${error.message.replaceAll(/\s+/g, ' ')}`
      : 'the server cannot be reached or does not respond'
  return new ServiceError('unavailable', `history store: ${shortenText(reason, maxReasonLength)}`, {
    details: { reason: 'history-unavailable' },
    cause: error,
  })
}

interface SchemaDeps {
  client: ClickHouseClient
  config: HistoryConfig
  store: Store
  log: Telemetry['log']
  readInstallation(): Promise<string>
}

/** Creates the tables, applies the retention and claims the database. One process at a time does this. */
const prepareSchema = async (deps: SchemaDeps): Promise<void> => {
  const { client, config, store } = deps
  await using lease = await acquireRenewedLease(store, 'history:schema', new AbortController().signal)
  if (!lease) throw new ServiceError('unavailable', 'history store: another process creates the tables; try again')
  await checkVersion(client)
  await createDatabase(client, config)
  for (const query of createSchemaStatements(config)) await client.command({ query })
  await claimDatabase(deps)
  await applyRetention(deps)
}

const VersionRows = z.array(z.object({ version: z.string() }))

const checkVersion = async (client: ClickHouseClient): Promise<void> => {
  const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  const [row] = VersionRows.parse(await answer.json())
  const [year = 0, month = 0] = (row?.version ?? '').split('.').map(Number)
  const [minYear, minMonth] = minVersion
  if (year > minYear || (year === minYear && month >= minMonth)) return
  throw new ServiceError(
    'unavailable',
    `history store: ClickHouse ${row?.version} is too old; use ${minYear}.${minMonth} or newer`,
  )
}

/** Creates the database if it is missing. A user with privileges on this database only may not be allowed to. */
const createDatabase = async (client: ClickHouseClient, { database, cluster }: HistoryConfig): Promise<void> => {
  const answer = await client.query({
    query: 'SELECT count() AS present FROM system.databases WHERE name = {database:String}',
    query_params: { database },
    format: 'JSONEachRow',
  })
  const [row] = z.array(z.object({ present: z.coerce.number() })).parse(await answer.json())
  if (row?.present) return
  const suffix = cluster === undefined ? '' : ` ON CLUSTER \`${cluster}\``
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS \`${database}\`${suffix}` })
}

/** Inserts the id of this installation unless the database has an owner. Throws if that is another installation. */
const claimDatabase = async ({ client, config, readInstallation }: SchemaDeps): Promise<void> => {
  const installation = await readInstallation()
  const owner = (await readOwner(client, config)) ?? (await insertOwner(client, config, installation))
  if (owner === installation) return
  throw new ServiceError(
    'unavailable',
    `history store: the database "${config.database}" belongs to the installation "${owner}"; choose another SVC_HISTORY_DATABASE, or truncate its table "${ownerTable}" to take it over`,
    { details: { reason: 'history-owner' } },
  )
}

const readOwner = async (client: ClickHouseClient, config: HistoryConfig): Promise<string | undefined> => {
  const query = `SELECT installation FROM ${fullName(config, ownerTable)} ORDER BY since, installation LIMIT 1`
  const answer = await client.query({ query, format: 'JSONEachRow' })
  return z.array(z.object({ installation: z.string() })).parse(await answer.json())[0]?.installation
}

/** The token of the owner row is constant, so the engine keeps only the first of two concurrent inserts. */
const insertOwner = async (client: ClickHouseClient, config: HistoryConfig, installation: string) => {
  await client.insert({
    table: fullName(config, ownerTable),
    values: [{ installation }],
    format: 'JSONEachRow',
    clickhouse_settings: { ...insertSettings, insert_deduplication_token: 'owner' },
  })
  return readOwner(client, config)
}

const applyRetention = async ({ client, config, log }: SchemaDeps): Promise<void> => {
  const answer = await client.query({ query: retentionStatement(config), format: 'JSONEachRow' })
  const applied = z.array(z.object({ table: z.enum(historyTables), comment: z.string() })).parse(await answer.json())
  const wanted = formatRetention(config.retention)
  for (const { table, comment } of applied.filter((each) => each.comment !== wanted)) {
    for (const query of alterRetention(config, table)) await client.command({ query })
    log.info({ table, before: comment, after: wanted }, 'history retention changed')
  }
}
