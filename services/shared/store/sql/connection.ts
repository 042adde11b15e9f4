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
import { toDatabaseFailure, describeDatabaseError } from './failure.ts'
import { openLibsql } from './libsql.ts'
import { openPostgres } from './postgres.ts'
import type { DatabaseServer } from './context.ts'
import type { StateDatabase } from './state-database.ts'

class NulTransformer extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: replaceNul(node.value) }
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(replaceNul) }
  }
}

const replaceNul = <T>(value: T): T | string => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value)

const transformer = new NulTransformer()

/** Replaces NUL characters in texts from callers: PostgreSQL rejects them, and libSQL truncates such texts on reads. */
const nulPlugin: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
}

/** Returns a plugin that adds the prefix to the named tables; aliases must not have the names of tables. */
const createPrefixPlugin = (prefix: string, tables: readonly string[]): KyselyPlugin => {
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

/** An open state database. The owner of tables migrates them with `migrate` and queries them through `run`. */
export interface Database extends AsyncDisposable {
  readonly kind: StateDatabase['kind']
  readonly connected: boolean
  /** The current outage, or a failure within the last minute, with path or address; undefined if there is none. */
  readonly problem: string | undefined
  /** Prefix of all names in the database. Tables get it automatically; indexes and channels do not. */
  readonly prefix: string
  /** Returns a query builder that adds the prefix to the named tables. */
  tables<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** Like `tables`, with a timeout of minutes: a migration may change a large table or wait for another process. */
  migrating<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /**
   * Runs queries. Throws `unavailable` immediately while the server does not respond, and if it fails during a query.
   */
  run<T>(work: () => Promise<T>): Promise<T>
  listen: DatabaseServer['listen']
  /** Reports a problem with stored data. `problem` returns it for a minute, like a query failure. */
  report(problem: string): void
}

/**
 * A function that is called when the database becomes unavailable or available again. While the database is
 * available, the function is also called with the reason for each failure.
 */
export type DatabaseListener = (connected: boolean, reason?: string) => void

/** How long `problem` returns the last query failure. On a full disk, for example, writes fail while probes succeed. */
const problemShownMs = 60_000

/** Opens the state database; throws `unavailable` if it does not respond within 10 s. */
export const openDatabase = async (where: StateDatabase, listener: DatabaseListener = () => {}): Promise<Database> => {
  const server = where.kind === 'postgres' ? await openPostgres(where) : await openLibsql(where)
  let failed: { reason: string; atMs: number } | undefined
  const explain = (error: unknown) => (error === undefined ? undefined : describeDatabaseError(error, where))
  const heartbeat = startHeartbeat(server.probe, listener, explain)
  const latest = () => (failed && performance.now() - failed.atMs < problemShownMs ? failed.reason : undefined)
  const report = (problem: string) => {
    const isNew = latest() !== problem
    failed = { reason: problem, atMs: performance.now() }
    if (isNew) listener(true, problem)
  }
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    heartbeat.require()
    try {
      return await work()
    } catch (error) {
      const failure = toDatabaseFailure(error, where)
      if (failure !== error && failure instanceof ServiceError) report(failure.message)
      throw failure
    }
  }
  // The caller declares the types of its tables; the driver does not know them.
  const builderFor = <T>(kysely: Kysely<unknown>, names: readonly string[]) =>
    kysely.withPlugin(createPrefixPlugin(where.tablePrefix, names)).withPlugin(nulPlugin) as unknown as Kysely<T>
  return {
    kind: where.kind,
    get connected() {
      return heartbeat.connected
    },
    get problem() {
      return heartbeat.reason ?? latest()
    },
    prefix: where.tablePrefix,
    tables: (names) => builderFor(server.kysely, names),
    migrating: (names) => builderFor(server.migrating ?? server.kysely, names),
    run,
    listen: server.listen,
    report,
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
