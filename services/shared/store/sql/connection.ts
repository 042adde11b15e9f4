import {
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type SchemableIdentifierNode,
  type PrimitiveValueListNode,
  type ValueNode,
} from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { failureOf, reasonOf } from './failure.ts'
import { openLibsql } from './libsql.ts'
import { openPostgres } from './postgres.ts'
import type { Server } from './context.ts'
import type { StateDatabase } from './state-database.ts'

class NulTransformer extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: replaced(node.value) }
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(replaced) }
  }
}

const replaced = <T>(value: T): T | string => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value)

const transformer = new NulTransformer()

/**
 * Replaces NUL characters in texts, which callers may send: PostgreSQL rejects them, and libSQL truncates the text when it is read.
 */
const withoutNul: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
}

/** Adds the prefix to the named tables in queries; aliases must therefore not have the names of tables. */
const tablePrefix = (prefix: string, tables: readonly string[]): KyselyPlugin => {
  const transformer = new PrefixTransformer(prefix, new Set(tables))
  return {
    transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
    transformResult: async ({ result }) => result,
  }
}

class PrefixTransformer extends OperationNodeTransformer {
  readonly #prefix: string
  readonly #tables: ReadonlySet<string>

  constructor(prefix: string, tables: ReadonlySet<string>) {
    super()
    this.#prefix = prefix
    this.#tables = tables
  }

  protected override transformSchemableIdentifier(
    ...parts: Parameters<OperationNodeTransformer['transformSchemableIdentifier']>
  ): SchemableIdentifierNode {
    const node = super.transformSchemableIdentifier(...parts)
    if (!this.#tables.has(node.identifier.name)) return node
    return { ...node, identifier: { ...node.identifier, name: `${this.#prefix}${node.identifier.name}` } }
  }
}

/** An open state database. The owner of tables in it migrates them with `migrate` and queries them through `run`. */
export interface Database extends AsyncDisposable {
  readonly kind: StateDatabase['kind']
  readonly connected: boolean
  /** The problem of the database with its path or address: why it does not respond, or what failed within the last minute. */
  readonly problem: string | undefined
  /** Prefix of all names in the database. Tables get it automatically; indexes and channels do not. */
  readonly prefix: string
  /** Returns a query builder for the named tables, which have the prefix in the database. */
  tables<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** Like `tables`, with a time limit of minutes: changing a large table or waiting for another process takes time. */
  migrating<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** Runs queries; throws `unavailable` at once while the server does not respond, and if it fails meanwhile. */
  run<T>(work: () => Promise<T>): Promise<T>
  listen: Server['listen']
  /** Reports a problem of stored data, like a failed query. */
  report(problem: string): void
}

/** Called when the database becomes unavailable or available, and with a reason for each failure in between. */
export type DatabaseListener = (connected: boolean, reason?: string) => void

/** How long a failure is reported: with a full disk, writes fail while reads succeed. */
const reportedForMs = 60_000

/** Opens the state database; throws `unavailable` if it does not respond within 10 s. */
export const openDatabase = async (where: StateDatabase, listener: DatabaseListener = () => {}): Promise<Database> => {
  const server = where.kind === 'postgres' ? await openPostgres(where) : await openLibsql(where)
  let failed: { reason: string; atMs: number } | undefined
  const explain = (error: unknown) => (error === undefined ? undefined : reasonOf(error, where))
  const heartbeat = startHeartbeat(server.probe, listener, explain)
  const latest = () => (failed && performance.now() - failed.atMs < reportedForMs ? failed.reason : undefined)
  const report = (problem: string) => {
    const isNews = latest() !== problem
    failed = { reason: problem, atMs: performance.now() }
    if (isNews) listener(true, problem)
  }
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    heartbeat.require()
    try {
      return await work()
    } catch (error) {
      const failure = failureOf(error, where)
      if (failure !== error && failure instanceof ServiceError) report(failure.message)
      throw failure
    }
  }
  // The caller declares the types of its tables; the driver has none.
  const over = <T>(kysely: Kysely<unknown>, names: readonly string[]) =>
    kysely.withPlugin(tablePrefix(where.tablePrefix, names)).withPlugin(withoutNul) as unknown as Kysely<T>
  return {
    kind: where.kind,
    get connected() {
      return heartbeat.connected
    },
    get problem() {
      return heartbeat.reason ?? latest()
    },
    prefix: where.tablePrefix,
    tables: (names) => over(server.kysely, names),
    migrating: (names) => over(server.migrating ?? server.kysely, names),
    run,
    listen: server.listen,
    report,
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      await server.migrating?.destroy()
      await server.kysely.destroy()
    },
  }
}
