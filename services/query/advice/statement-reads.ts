import { z } from 'zod'
import type { adviceDataMethods, TableRead, ReadCondition } from '#proto/advice-data.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { Explanation, ExplainMode, ExplainSettings, ExplainNode } from '#proto/explain.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { readRecords } from '../analysis/read-records.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import { readPermissions } from '../config.ts'
import { toCallerError, buildExplainStatement } from '../explain/explain.ts'
import { toExplanation } from '../explain/explanation.ts'
import { extractSettings, selectPlanSettings } from '../explain/statement-settings.ts'
import type { HostContext } from '../explorer/read-view.ts'
import { checkCallerStatement } from '../read-only/caller-statement.ts'
import type { Token } from '../read-only/lexer.ts'
import { Rejection } from '../read-only/rejection.ts'
import {
  toColumnSql,
  toExpressionSql,
  parseColumnNode,
  parseFunctionNode,
  type SelectNode,
  collectSelects,
  type TableNode,
  walkNodes,
} from './expression-sql.ts'

type StatementReads = Awaited<ReturnType<ServiceHandlers<Service<typeof adviceDataMethods>>['statementReads']>>

/** Returns the tables that a statement reads, with conditions and grouping, from several EXPLAINs on the host. */
export const explainReads = async (
  { parts, host, call }: HostContext,
  { query, database }: { query: string; database?: string | undefined },
): Promise<StatementReads> => {
  const allowed = readPermissions(parts.env)
  const extracted = extractSettings(query, allowed)
  const statement = checkCallerStatement(extracted.query, refuseOthers, allowed)
  const { applied } = selectPlanSettings(extracted.settings)
  const explain = async (mode: ExplainMode, settings: ExplainSettings = {}): Promise<Explanation> => {
    const explaining = buildExplainStatement(statement, mode, settings, database, applied)
    try {
      return toExplanation(host, statement, mode, settings, await parts.client.run(host, explaining, call))
    } catch (error) {
      throw toCallerError(error, explaining.sql, statement)
    }
  }
  // The first EXPLAIN runs alone, so that an invalid statement causes only one error.
  const tree = await explain('query-tree')
  const [plan, estimate, formatted] = await Promise.all([
    explain('plan', { actions: 1 }),
    explain('estimate'),
    formatStatement({ parts, host, call }, statement),
  ])
  return { ...tableReads({ tree, plan, estimate }), formatted }
}

const refuseOthers = ([first]: readonly Token[]): void => {
  if (!first || first.word === 'SELECT' || first.word === 'WITH') return
  throw new Rejection('first-word', first.position, 'advice is available for SELECT statements only')
}

/** Longer statements do not fit into the request URL. */
const maxFormattedLength = 16_000
/** The error code of hosts before 23.8, which lack `formatQuery`. */
const unknownFunction = 46

const Row = z.object({ formatted: z.string() })

const formatStatement = async ({ parts, host, call }: HostContext, statement: string): Promise<string | null> => {
  if (statement.length > maxFormattedLength) return null
  const sql = 'SELECT formatQuery({query:String}) AS formatted'
  try {
    const answer = await parts.client.run(host, { what: 'advice/format', sql, parameters: { query: statement } }, call)
    return readRecords(host, Row, answer)[0]?.formatted ?? null
  } catch (error) {
    if (findClickhouseErrorCode(error) === unknownFunction) return null
    throw error
  }
}

/** Longer conditions, such as lists of thousands of values, are skipped. */
const maxConditionLength = 4_000

const kinds: Readonly<Record<string, ReadCondition['kind']>> = {
  equals: 'equality',
  in: 'equality',
  has: 'equality',
  less: 'range',
  lessOrEquals: 'range',
  greater: 'range',
  greaterOrEquals: 'range',
  like: 'text',
  startsWith: 'text',
  hasToken: 'text',
}

/** Converts a node to a condition when it concerns one table and can be expressed in SQL. */
const conditionOn = (tableId: string, node: ExplainNode): ReadCondition | undefined => {
  const columns = walkNodes([node], () => true).flatMap((each) => parseColumnNode(each) ?? [])
  if (columns.length === 0 || columns.some(({ source }) => source !== tableId)) return undefined
  const sql = toExpressionSql(node)
  if (sql === undefined || sql.length > maxConditionLength) return undefined
  const called = parseFunctionNode(node)
  const [compared, ...more] = called?.arguments.flatMap((each) => parseColumnNode(each) ?? []) ?? []
  const others = called?.arguments.filter(({ name }) => name !== 'COLUMN') ?? []
  const isDirect = more.length === 0 && others.every(({ name }) => name === 'CONSTANT')
  const column = isDirect ? (compared?.column ?? null) : null
  const kind = (column !== null && kinds[called?.name ?? '']) || 'other'
  return { kind, column, columns: [...new Set(columns.map((each) => each.column))], sql }
}

/** The EXPLAIN results from which the reads of a statement are derived. */
interface ExplainResults {
  tree: Explanation
  plan: Explanation
  estimate: Explanation
}

interface Other {
  name: string
  reason: 'engine' | 'repeated'
}

/** Returns the reads of MergeTree tables, and the tables that have another engine or are read several times. */
const tableReads = ({ tree, plan, estimate }: ExplainResults): { reads: TableRead[]; others: Other[] } => {
  const roots = tree.tree ?? []
  const selects = collectSelects(roots)
  const named = new Map<string, { table: TableNode; select: SelectNode }[]>()
  for (const select of selects) {
    for (const table of select.tables) named.set(table.name, [...(named.get(table.name) ?? []), { table, select }])
  }
  const reads: TableRead[] = []
  const others: Other[] = []
  for (const [name, [found, ...more]] of named) {
    const read = estimate.estimates?.find(({ database, table }) => `${database}.${table}` === name)
    if (!read || !found) others.push({ name, reason: 'engine' })
    else if (more.length > 0) others.push({ name, reason: 'repeated' })
    else {
      const isTopmost = found.select.node === roots[0]
      const sql = `${quoteName(read.database)}.${quoteName(read.table)}`
      const hasPrewhere = isFiltered(plan, name)
      reads.push({ ...read, sql, hasPrewhere, ...readOf(found.table, found.select, roots, isTopmost) })
    }
  }
  return { reads, others }
}

const readOf = (
  { id, isFinal }: TableNode,
  select: SelectNode,
  roots: readonly ExplainNode[],
  isTopmost: boolean,
): Pick<TableRead, 'isFinal' | 'columns' | 'conditions' | 'grouping' | 'isAlone'> => {
  const columns = walkNodes(roots, () => true).flatMap((node) => {
    const column = parseColumnNode(node)
    return column?.source === id ? [column.column] : []
  })
  const conditions = select.where.flatMap((node) => conditionOn(id, node) ?? [])
  const isWhole = conditions.length === select.where.length
  return {
    isFinal,
    columns: [...new Set(columns)].map((column) => ({ name: column, sql: toColumnSql(column) })),
    conditions,
    grouping: select.isPlain && isWhole && !isFinal ? groupingOf(select) : null,
    isAlone: select.isPlain && isTopmost,
  }
}

/** Matches grouping in several levels, such as ROLLUP or WITH TOTALS, which no projection can serve. */
const multiLevelGrouping = /group_by_(?:with|type)/

const groupingOf = (select: SelectNode): TableRead['grouping'] => {
  if (multiLevelGrouping.test(select.node.description ?? '')) return null
  const keys = select.clause('GROUP BY')[0]?.children ?? []
  const aggregates = walkNodes(select.node.children, ({ name }) => name !== 'QUERY').filter(
    (node) => parseFunctionNode(node)?.kind === 'aggregate',
  )
  const written = { keys: keys.map(toExpressionSql), aggregates: aggregates.map(toExpressionSql) }
  const isSaid = (sql: string | undefined): sql is string => sql !== undefined
  if (aggregates.length === 0 || !written.keys.every(isSaid) || !written.aggregates.every(isSaid)) return null
  const hasValues = walkNodes([...keys, ...aggregates], () => true).some(({ name }) => name === 'CONSTANT')
  return { keys: written.keys, aggregates: [...new Set(written.aggregates)], hasValues }
}

const isFiltered = ({ tree }: Explanation, name: string): boolean =>
  walkNodes(tree ?? [], () => true).some((step) => step.description === name && 'Prewhere info' in step.details)
