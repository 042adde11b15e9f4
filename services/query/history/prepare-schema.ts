import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { acquireRenewedLease } from '#shared/store/renewed-lease.ts'
import type { Store } from '#shared/store/store.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import {
  addColumns,
  alterRetention,
  columnsStatement,
  createSchemaStatements,
  formatRetention,
  fullName,
  historyTables,
  type HistoryTable,
  ownerTable,
  retentionStatement,
  tablesStatement,
} from './schema.ts'
import { insertSettings, type HistoryConfig } from './settings.ts'

/** The first version in which tokens, combined TTL rules and the used functions work together. */
const minVersion: readonly [year: number, month: number] = [23, 8]

interface SchemaDeps {
  client: ClickHouseClient
  config: HistoryConfig
  store: Store
  log: Telemetry['log']
  readInstallation(): Promise<string>
}

/** Creates and migrates the tables, claims the database and applies the retention. One process at a time does this. */
export const prepareSchema = async (deps: SchemaDeps): Promise<void> => {
  const { client, config, store } = deps
  await using lease = await acquireRenewedLease(store, 'history:schema', new AbortController().signal)
  if (!lease) throw new ServiceError('unavailable', 'history store: another process creates the tables; try again')
  await checkVersion(client)
  await createDatabase(client, config)
  await createTables(deps)
  // The owner is checked before any existing table is changed.
  await claimDatabase(deps)
  await applyRetention(deps, await addMissingColumns(deps))
}

/** Statements on a cluster wait for all servers, except those that are down, which run them when they are back. */
const clusterSettings = {
  distributed_ddl_task_timeout: '10',
  distributed_ddl_output_mode: 'null_status_on_timeout',
  alter_sync: '2',
  replication_wait_for_inactive_replica_timeout: '0',
} as const
/** The code of a change that a server which is down has not applied yet. */
const unfinishedCode = '341'

const change = async ({ client, config }: SchemaDeps, query: string): Promise<void> => {
  try {
    await client.command({ query, ...(config.cluster !== undefined && { clickhouse_settings: clusterSettings }) })
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.code === unfinishedCode)) throw error
  }
}

const read = async <S extends z.ZodType>({ client }: SchemaDeps, query: string, row: S): Promise<z.output<S>[]> => {
  const answer = await client.query({ query, format: 'JSONEachRow' })
  return z.array(row).parse(await answer.json())
}

/** Creates the tables that are missing on the server, or on any server of the cluster. */
const createTables = async (deps: SchemaDeps): Promise<void> => {
  const rows = await read(deps, tablesStatement(deps.config), z.object({ name: z.string(), servers: z.number() }))
  const servers = new Map(rows.map((row) => [row.name, row.servers]))
  const all = servers.get('') ?? 1
  for (const [table, query] of createSchemaStatements(deps.config))
    if ((servers.get(table) ?? 0) < all) await change(deps, query)
}

/** Adds the columns of newer versions. Returns the tables that lacked some. */
const addMissingColumns = async (deps: SchemaDeps): Promise<ReadonlySet<HistoryTable>> => {
  const row = z.object({ changed: z.enum(historyTables), names: z.array(z.string()) })
  const altered = new Set<HistoryTable>()
  for (const { changed: table, names } of await read(deps, columnsStatement(deps.config), row)) {
    const statements = addColumns(deps.config, table, new Set(names))
    for (const query of statements) await change(deps, query)
    if (statements.length > 0) altered.add(table)
  }
  return altered
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
  if (owner === undefined)
    throw new ServiceError('unavailable', 'history store: the row of the owner is not replicated yet; try again')
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

const ownerAttempts = 10
const ownerPauseMs = 300

/** The token of the owner row is constant, so the engine keeps only the first of two concurrent inserts. */
const insertOwner = async (client: ClickHouseClient, config: HistoryConfig, installation: string) => {
  await client.insert({
    table: fullName(config, ownerTable),
    values: [{ installation }],
    format: 'JSONEachRow',
    clickhouse_settings: { ...insertSettings, insert_deduplication_token: 'owner' },
  })
  // Another replica may have the row, which arrives within moments.
  for (let attempt = 0; attempt < ownerAttempts; attempt++) {
    const owner = await readOwner(client, config)
    if (owner !== undefined) return owner
    await wait(ownerPauseMs)
  }
  return undefined
}

/** Alters the tables whose retention or columns changed. */
const applyRetention = async (deps: SchemaDeps, changed: ReadonlySet<HistoryTable>): Promise<void> => {
  const { config, log } = deps
  const applied = await read(
    deps,
    retentionStatement(config),
    z.object({ table: z.enum(historyTables), comment: z.string() }),
  )
  const wanted = formatRetention(config.retention)
  for (const { table, comment } of applied) {
    if (comment === wanted && !changed.has(table)) continue
    for (const query of alterRetention(config, table)) await change(deps, query)
    if (comment !== wanted) log.info({ table, before: comment, after: wanted }, 'history retention changed')
  }
}
