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
import type { Server } from './server.ts'
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
 * Replaces the character NUL in texts: PostgreSQL has none with it and fails the query, and libSQL reads what it kept only up to
 * there. What callers write may have one.
 */
const withoutNul: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
}

/** Puts the prefix before the named tables wherever a query mentions them; aliases must therefore have other names than tables. */
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
  /** What is wrong with it in words, with its path or address: why it does not answer, or what failed within the last minute. */
  readonly problem: string | undefined
  /** Put before every name in the database; tables get it by themselves, names of indexes and channels need it written. */
  readonly prefix: string
  /** Queries over the named tables, which exist under their prefixed names. */
  tables<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** The same, for migrations: a table that grew large is changed, and another process waited for, in minutes. */
  migrating<T>(names: readonly (keyof T & string)[]): Kysely<T>
  /** Runs queries; fails `unavailable` at once while the server does not answer, and when it fails meanwhile. */
  run<T>(work: () => Promise<T>): Promise<T>
  listen: Server['listen']
  /** Takes note of what is wrong with stored data, as of a failed query. */
  report(problem: string): void
}

/** Hears when the database stops and begins to answer, and with a reason of what it fails at meanwhile. */
export type DatabaseListener = (connected: boolean, reason?: string) => void

/** A failure is reported for so long: a full disk fails writes while reads go on. */
const reportedForMs = 60_000

/** Opens the state database; throws `unavailable` when it does not answer within 10 s. */
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
  // The names are the caller's claim about the tables it owns; the driver knows no types.
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
