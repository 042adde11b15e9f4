import { z } from 'zod'
import type { TableDependency } from '#proto/explorer.ts'
import { readRecords } from '../analysis/read-records.ts'
import { findIncompleteReason, checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { type HostContext, type ViewResult, explainEmptyResult } from './read-view.ts'

/** Maximum numbers of tables and of their definitions. Hosts with more get incomplete dependencies. */
const maxNodes = 50_000
const maxTexts = 5_000
const maxDependencies = 10_000

const needs = { requires: ['system.tables'] }

const names = z.array(z.tuple([z.string(), z.string()]))
const NodeRow = z.object({
  database: z.string(),
  table: z.string(),
  engine: z.string(),
  uuid: z.string(),
  dependents: names,
  needs: names,
})
const TextRow = z.object({
  database: z.string(),
  table: z.string(),
  engineFull: z.string(),
  asSelect: z.string(),
  create: z.string(),
})

const outsideSystemDatabases = `NOT described.is_temporary
  AND described.database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')`

const nodeStatement: Statement = {
  what: 'explorer/dependencies',
  cache: 'standard',
  sql: `SELECT
  described.database AS database,
  described.name AS table,
  described.engine AS engine,
  toString(described.uuid) AS uuid,
  arrayZip(described.dependencies_database, described.dependencies_table) AS dependents,
  arrayZip(described.loading_dependencies_database, described.loading_dependencies_table) AS needs
FROM system.tables AS described
WHERE ${outsideSystemDatabases}
LIMIT ${maxNodes + 1}`,
}

/** Servers format definitions slowly, so this statement reads only engines whose definitions name other tables. */
const textStatement: Statement = {
  what: 'explorer/dependencies',
  cache: 'standard',
  sql: `SELECT
  described.database AS database,
  described.name AS table,
  described.engine_full AS engineFull,
  described.as_select AS asSelect,
  if(described.engine = 'MaterializedView', described.create_table_query, '') AS create
FROM system.tables AS described
WHERE (described.engine IN ('Distributed', 'Buffer', 'Merge') OR endsWith(described.engine, 'View')) AND ${outsideSystemDatabases}
LIMIT ${maxTexts + 1}`,
}

/** Reads the direct and indirect dependencies of a table, or those of all tables of a database. */
export const readDependencies = async (
  context: HostContext,
  named: { database: string; table?: string | undefined },
): Promise<ViewResult<TableDependency>> => {
  const { parts, host, call } = context
  const none = { rows: [], truncated: false, incomplete: null }
  const missing = await checkRequirements(parts.client, host, needs, call)
  if (missing) return { ...none, unavailable: missing }
  try {
    const [nodeResult, textResult] = await Promise.all(
      [nodeStatement, textStatement].map((statement) => parts.client.run(host, statement, call)),
    )
    const nodes = nodeResult ? readRecords(host, NodeRow, nodeResult) : []
    const texts = textResult ? readRecords(host, TextRow, textResult) : []
    // Loaded on demand, because its regular expression library is large.
    const { findDependencies } = await import('./dependencies.ts')
    const rows = dependenciesOf(findDependencies(nodes, texts), named)
    const incomplete = await findIncompleteReason(parts.client, host, needs, call)
    if (rows.length === 0) return { ...none, unavailable: await explainEmptyResult(context, named), incomplete }
    const truncated = nodes.length > maxNodes || texts.length > maxTexts || rows.length > maxDependencies
    return { rows: rows.slice(0, maxDependencies), truncated, unavailable: null, incomplete }
  } catch (error) {
    const unavailable = findUnavailableReason(parts.client, host, needs, error)
    if (unavailable) return { ...none, unavailable }
    throw error
  }
}

/** Returns the flow through a table, or the dependencies of every table of a database. */
const dependenciesOf = (
  edges: readonly Omit<TableDependency, 'direction'>[],
  { database, table }: { database: string; table?: string | undefined },
): TableDependency[] => {
  if (table !== undefined) return findDataFlow(edges, { database, table })
  return edges
    .filter(({ from, to }) => from.database === database || to.database === database)
    .map((edge) => ({ ...edge, direction: null }))
}

type Edge = Omit<TableDependency, 'direction'>
type End = 'from' | 'to'

/** Returns all upstream and downstream dependencies of a table, nearest first. */
export const findDataFlow = (edges: readonly Edge[], table: { database: string; table: string }): TableDependency[] => {
  const upstream = follow(edges, keyOf(table), 'to', 'from')
  const downstream = follow(edges, keyOf(table), 'from', 'to')
  return [
    ...[...upstream].map((edge) => ({ ...edge, direction: 'upstream' as const })),
    // Edges of a cycle are listed once.
    ...[...downstream]
      .filter((edge) => !upstream.has(edge))
      .map((edge) => ({ ...edge, direction: 'downstream' as const })),
  ]
}

const follow = (edges: readonly Edge[], start: string, near: End, far: End): Set<Edge> => {
  const next = Map.groupBy(edges, (edge) => keyOf(edge[near]))
  const reached = new Set([start])
  const found = new Set<Edge>()
  // The loop also visits items that are added to the set during the iteration.
  for (const place of reached) {
    for (const edge of next.get(place) ?? []) {
      found.add(edge)
      reached.add(keyOf(edge[far]))
    }
  }
  return found
}

const keyOf = ({ database, table }: { database: string; table: string }): string => JSON.stringify([database, table])
