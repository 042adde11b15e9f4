import { fileURLToPath } from 'node:url'
import { distance } from 'fastest-levenshtein'
import type { Catalogue, ChartInfo, TableInfo } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { type LoadedChart, type LoadedDefinitions, type LoadedTable, type Located, loadDefinitions } from './load.ts'
import { topicOf, topicOrder } from './topics.ts'

const ownDirectory = fileURLToPath(new URL('../../../charts', import.meta.url))
const nearestCount = 5

/** Every chart and table page in force. */
export interface Definitions {
  readonly charts: readonly LoadedChart[]
  readonly tables: readonly LoadedTable[]
  readonly catalogue: Catalogue
  /** `not-found` with the nearest names for an unknown one. */
  chart(name: string): LoadedChart
  table(name: string): LoadedTable
}

/** Loads our own definitions, which must all be right, and an operator's, of which wrong ones are skipped with a warning. */
export const openDefinitions = async (
  log: Telemetry['log'],
  mounted?: string,
  own = ownDirectory,
  eventsTable?: string,
): Promise<Definitions> => {
  const ours = await loadDefinitions(own, eventsTable)
  const wrong = [...ours.problems, ...wrongReferences(ours)]
  if (wrong.length > 0) {
    // A sentence for whoever wrote the file, so it ends the start without a stack.
    throw new ServiceError('internal', wrong.map(({ file, sentence }) => `${file}: ${sentence}`).join('\n'))
  }
  if (mounted === undefined) return arrange(ours.charts, ours.tables)

  const theirs = await loadMounted(log, mounted, eventsTable)
  const skip = (kind: Kind, { topic, name }: Located, problem: string): void =>
    log.warn({ file: `${topic}/${name}.${kind}.yaml`, problem }, 'definition skipped')
  const charts = [
    ...ours.charts,
    ...theirs.charts.filter(untaken(ours.charts, (chart, why) => skip('chart', chart, why))),
  ]
  const tables = theirs.tables.filter(untaken(ours.tables, (table, why) => skip('table', table, why)))
  const wrongTables = new Map(wrongCharts({ charts, tables }).map(({ table, sentence }) => [table, sentence]))
  for (const [table, sentence] of wrongTables) skip('table', table, sentence)
  return arrange(charts, [...ours.tables, ...tables.filter((table) => !wrongTables.has(table))])
}

const loadMounted = async (
  log: Telemetry['log'],
  directory: string,
  eventsTable: string | undefined,
): Promise<LoadedDefinitions> => {
  try {
    const theirs = await loadDefinitions(directory, eventsTable)
    for (const { file, sentence } of theirs.problems) log.warn({ file, problem: sentence }, 'definition skipped')
    return theirs
  } catch (error) {
    log.warn({ err: error, directory }, 'definitions directory cannot be read')
    return { charts: [], tables: [], problems: [] }
  }
}

type Kind = 'chart' | 'table'

/** Lets through what has a name of its own; says why of all else. */
const untaken = <D extends Located>(ours: readonly D[], skip: (definition: D, why: string) => void) => {
  const taken = new Set(ours.map((definition) => definition.name))
  return (definition: D): boolean => {
    const isFree = !taken.has(definition.name)
    taken.add(definition.name)
    if (!isFree) skip(definition, 'the name is taken')
    return isFree
  }
}

/** Table pages that name a chart which there is not. */
const wrongCharts = ({ charts, tables }: Pick<LoadedDefinitions, 'charts' | 'tables'>) => {
  const names = new Set(charts.map((chart) => chart.name))
  return tables.flatMap((table) =>
    table.charts
      .filter((name) => !names.has(name))
      .map((name) => ({ table, sentence: `charts: there is no chart ${name}` })),
  )
}

const wrongReferences = (ours: LoadedDefinitions): { file: string; sentence: string }[] => [
  ...wrongCharts(ours).map(({ table: { topic, name }, sentence }) => ({
    file: `${topic}/${name}.table.yaml`,
    sentence,
  })),
  ...[...repeated(ours.charts), ...repeated(ours.tables)].map((name) => ({
    file: name,
    sentence: 'the name is taken',
  })),
]

const repeated = (definitions: readonly Located[]): string[] => {
  const names = definitions.map((definition) => definition.name)
  return names.filter((name, index) => names.indexOf(name) !== index)
}

const arrange = (charts: readonly LoadedChart[], tables: readonly LoadedTable[]): Definitions => {
  const byName = { charts: named(charts), tables: named(tables) }
  const used = [...new Set([...charts, ...tables].map((definition) => definition.topic))].toSorted(byTopic)
  return {
    charts: inMenuOrder(charts),
    tables: inMenuOrder(tables),
    catalogue: {
      topics: used.map(topicOf),
      charts: inMenuOrder(charts).map(chartInfo),
      tables: inMenuOrder(tables).map(tableInfo),
    },
    chart: (name) => byName.charts.get(name) ?? unknown('chart', name, byName.charts),
    table: (name) => byName.tables.get(name) ?? unknown('table', name, byName.tables),
  }
}

const named = <D extends Located>(definitions: readonly D[]): Map<string, D> =>
  new Map(definitions.map((definition) => [definition.name, definition]))

const byTopic = (a: string, b: string): number => topicOrder(a) - topicOrder(b) || a.localeCompare(b)

const inMenuOrder = <D extends Located>(definitions: readonly D[]): D[] =>
  definitions.toSorted((a, b) => byTopic(a.topic, b.topic) || a.name.localeCompare(b.name))

/** What callers may know of a chart. */
export const chartInfo = ({ sql: _, ...info }: LoadedChart): ChartInfo => info
/** What callers may know of a table page. */
export const tableInfo = ({ sql: _, ...info }: LoadedTable): TableInfo => info

const unknown = (kind: 'chart' | 'table', name: string, known: ReadonlyMap<string, Located>): never => {
  const nearest = [...known.keys()].toSorted((a, b) => distance(a, name) - distance(b, name)).slice(0, nearestCount)
  const [best] = nearest
  const isClose = best !== undefined && distance(best, name) <= best.length / 2
  throw new ServiceError('not-found', `no such ${kind}: ${name}${isClose ? `; did you mean ${best}?` : ''}`, {
    details: { parameter: 'name', nearest },
  })
}
