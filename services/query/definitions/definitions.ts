import { fileURLToPath } from 'node:url'
import type { Catalogue, ChartInfo, TableInfo } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import {
  type LoadedChart,
  type LoadedDefinitions,
  type LoadedMetric,
  type LoadedRule,
  type LoadedTable,
  type DefinitionLocation,
  loadDefinitions,
  createEmptyDefinitions,
} from './load.ts'
import { leadingCharts, leadingTables, findTopic, findTopicPosition, findDefinitionPosition } from './topics.ts'

const ownDirectory = fileURLToPath(new URL('../../../charts', import.meta.url))

/** All valid charts, table pages, rules and metrics. */
export interface Definitions {
  readonly charts: readonly LoadedChart[]
  readonly tables: readonly LoadedTable[]
  readonly rules: readonly LoadedRule[]
  readonly metrics: readonly LoadedMetric[]
  readonly catalogue: Catalogue
  /** Returns the chart with this name. Like the methods below, throws `not-found` with similar names if absent. */
  chart(name: string): LoadedChart
  table(name: string): LoadedTable
  rule(name: string): LoadedRule
  metric(name: string): LoadedMetric
}

/** Loads built-in definitions, which must be valid, and custom ones, which are skipped with a warning if invalid. */
export const openDefinitions = async (
  log: Telemetry['log'],
  mounted?: string,
  own = ownDirectory,
  eventsTable?: string,
): Promise<Definitions> => {
  const ours = await loadDefinitions(own, eventsTable)
  const wrong = [...ours.problems, ...wrongIn(ours)]
  if (wrong.length > 0) {
    // The message is for the author of the file, so startup fails without a stack trace.
    throw new ServiceError('internal', wrong.map(({ file, sentence }) => `${file}: ${sentence}`).join('\n'))
  }
  if (mounted === undefined) return arrange(ours)

  const theirs = await loadMounted(log, mounted, eventsTable)
  const skip = (kind: Kind, { topic, name }: DefinitionLocation, problem: string): void =>
    log.warn({ file: `${topic}/${name}.${kind}.yaml`, problem }, 'definition skipped')
  return arrange(mergeDefinitions(ours, theirs, skip))
}

type Kind = 'chart' | 'table' | 'rule' | 'metric'
type Skip = (kind: Kind, definition: DefinitionLocation, problem: string) => void

/** Adds custom definitions to the built-in ones. It skips those with a duplicate name or an unknown reference. */
const mergeDefinitions = (ours: LoadedDefinitions, theirs: LoadedDefinitions, skip: Skip): LoadedDefinitions => {
  const added = <D extends DefinitionLocation>(kind: Kind, own: readonly D[], further: readonly D[]): D[] => [
    ...own,
    ...further.filter(createNameFilter(own, (definition, why) => skip(kind, definition, why))),
  ]
  const all = {
    charts: added('chart', ours.charts, theirs.charts),
    tables: added('table', ours.tables, theirs.tables),
    rules: added('rule', ours.rules, theirs.rules),
    metrics: added('metric', ours.metrics, theirs.metrics),
    problems: [],
  }
  const wrong = new Map(wrongReferences(all).map(({ kind, definition, sentence }) => [definition, { kind, sentence }]))
  for (const [definition, { kind, sentence }] of wrong) skip(kind, definition, sentence)
  const isRight = (definition: DefinitionLocation): boolean => !wrong.has(definition)
  return { ...all, tables: all.tables.filter(isRight), rules: all.rules.filter(isRight) }
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
    log.warn({ err: error, directory }, 'reading definitions directory failed')
    return createEmptyDefinitions()
  }
}

/** Returns a filter for definitions with unused names. It reports every other definition to `skip`. */
const createNameFilter = <D extends DefinitionLocation>(
  ours: readonly D[],
  skip: (definition: D, why: string) => void,
) => {
  const taken = new Set(ours.map((definition) => definition.name))
  return (definition: D): boolean => {
    const isFree = !taken.has(definition.name)
    taken.add(definition.name)
    if (!isFree) skip(definition, 'duplicate definition name')
    return isFree
  }
}

interface WrongReference {
  kind: Kind
  definition: DefinitionLocation
  sentence: string
}

/** Returns the references of table pages to unknown charts, and of composite rules to unknown rules. */
const wrongReferences = ({ charts, tables, rules }: LoadedDefinitions): WrongReference[] => {
  const chartNames = namesOf(charts)
  const simple = namesOf(rules.filter(({ allOf }) => allOf === undefined))
  const ofTables = tables.flatMap((definition) =>
    definition.charts
      .filter((name) => !chartNames.has(name))
      .map((name) => ({ kind: 'table' as const, definition, sentence: `charts: unknown chart "${name}"` })),
  )
  const ofRules = rules.flatMap((definition) =>
    (definition.allOf ?? [])
      .filter(({ rule }) => !simple.has(rule))
      .map(({ rule }) => ({
        kind: 'rule' as const,
        definition,
        sentence: `allOf: unknown rule "${rule}"; only rules without allOf are allowed`,
      })),
  )
  return [...ofTables, ...ofRules]
}

const namesOf = (definitions: readonly DefinitionLocation[]): Set<string> =>
  new Set(definitions.map(({ name }) => name))

const wrongIn = (ours: LoadedDefinitions): { file: string; sentence: string }[] => [
  ...wrongReferences(ours).map(({ kind, definition: { topic, name }, sentence }) => ({
    file: `${topic}/${name}.${kind}.yaml`,
    sentence,
  })),
  ...[ours.charts, ours.tables, ours.rules, ours.metrics]
    .flatMap(repeated)
    .map((name) => ({ file: name, sentence: 'duplicate definition name' })),
]

const repeated = (definitions: readonly DefinitionLocation[]): string[] => {
  const names = definitions.map((definition) => definition.name)
  return names.filter((name, index) => names.indexOf(name) !== index)
}

const arrange = ({ charts, tables, rules, metrics }: LoadedDefinitions): Definitions => {
  const byName = { charts: named(charts), tables: named(tables), rules: named(rules), metrics: named(metrics) }
  const used = [...new Set([...charts, ...tables].map((definition) => definition.topic))].toSorted(byTopic)
  return {
    charts: inMenuOrder(charts),
    tables: inMenuOrder(tables),
    rules: inMenuOrder(rules),
    metrics: inMenuOrder(metrics),
    catalogue: {
      topics: used.map(findTopic),
      charts: inMenuOrder(charts, byUse(leadingCharts)).map(toChartInfo),
      tables: inMenuOrder(tables, byUse(leadingTables)).map(toTableInfo),
    },
    chart: (name) => byName.charts.get(name) ?? unknown('chart', name, byName.charts),
    table: (name) => byName.tables.get(name) ?? unknown('table', name, byName.tables),
    rule: (name) => byName.rules.get(name) ?? unknown('rule', name, byName.rules, 'ruleId'),
    metric: (name) => byName.metrics.get(name) ?? unknown('metric', name, byName.metrics),
  }
}

const named = <D extends DefinitionLocation>(definitions: readonly D[]): Map<string, D> =>
  new Map(definitions.map((definition) => [definition.name, definition]))

const byTopic = (a: string, b: string): number => findTopicPosition(a) - findTopicPosition(b) || a.localeCompare(b)

const byAlphabet = (a: DefinitionLocation, b: DefinitionLocation): number => a.name.localeCompare(b.name)
const byUse =
  (first: typeof leadingTables) =>
  (a: DefinitionLocation, b: DefinitionLocation): number =>
    findDefinitionPosition(first, a.topic, a.name) - findDefinitionPosition(first, b.topic, b.name) || byAlphabet(a, b)

const inMenuOrder = <D extends DefinitionLocation>(definitions: readonly D[], within = byAlphabet): D[] =>
  definitions.toSorted((a, b) => byTopic(a.topic, b.topic) || within(a, b))

/** Returns a chart without its SQL, as callers see it. */
export const toChartInfo = ({ sql: _sql, history: _history, ...info }: LoadedChart): ChartInfo => info
/** Returns a table page without its SQL, as callers see it. */
export const toTableInfo = ({
  sql: _sql,
  history: _history,
  key: _key,
  logTime: _logTime,
  ...info
}: LoadedTable): TableInfo => info

const unknown = (
  kind: Kind,
  name: string,
  known: ReadonlyMap<string, DefinitionLocation>,
  parameter = 'name',
): never => {
  throw createNotFoundError(kind, name, known.keys(), parameter)
}
