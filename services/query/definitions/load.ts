import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { z } from 'zod'
import { ChartDefinition, DefinitionId, TableDefinition, type VersionedSql } from '#proto/catalogue.ts'
import { MetricDefinition, RuleDefinition } from '#proto/rule-definition.ts'
import { buildWatchhouseIdCondition } from '#shared/sql/statement-text.ts'
import { YamlError, parseYaml } from '#shared/config/yaml.ts'
import { checkChart, checkTable, checkMetric, checkRule } from './check.ts'
import { describeIssues } from './describe-issues.ts'
import { defaultEventsTable, expandEventsTable } from './events.ts'
import { expandVersions } from './versions.ts'

export interface DefinitionLocation {
  name: string
  topic: string
}
export type LoadedChart = ChartDefinition & DefinitionLocation
export type LoadedTable = TableDefinition & DefinitionLocation
export type LoadedRule = RuleDefinition & DefinitionLocation
export type LoadedMetric = MetricDefinition & DefinitionLocation

/** The valid definitions of a directory. `problems` lists the invalid files with the reasons. */
export interface LoadedDefinitions {
  charts: LoadedChart[]
  tables: LoadedTable[]
  rules: LoadedRule[]
  metrics: LoadedMetric[]
  problems: { file: string; sentence: string }[]
}

/** Maximum number of files in a directory; more indicate a wrong path. */
const maxFiles = 5_000

/** Returns an empty set of definitions. */
export const createEmptyDefinitions = (): LoadedDefinitions => ({
  charts: [],
  tables: [],
  rules: [],
  metrics: [],
  problems: [],
})

/** Reads the files `<topic>/<id>.<kind>.yaml`. Throws only when the directory cannot be read. */
export const loadDefinitions = async (
  directory: string,
  eventsTable = defaultEventsTable,
): Promise<LoadedDefinitions> => {
  const files = await definitionFiles(directory)
  const loaded = createEmptyDefinitions()
  for (const file of files.slice(0, maxFiles)) {
    const text = await readFile(join(directory, file.path), 'utf8').catch(() => undefined)
    const sentence = text === undefined ? 'cannot be read' : add(loaded, file, text, eventsTable)
    if (sentence !== undefined) loaded.problems.push({ file: file.path, sentence })
  }
  if (files.length > maxFiles)
    loaded.problems.push({ file: directory, sentence: `contains more than ${maxFiles} definition files` })
  return loaded
}

interface DefinitionFile extends DefinitionLocation {
  path: string
  kind: Kind
}

const kinds = ['chart', 'table', 'rule', 'metric'] as const
type Kind = (typeof kinds)[number]

const definitionFiles = async (directory: string): Promise<DefinitionFile[]> => {
  const topics = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const found = await Promise.all(
    topics.map(async ({ name: topic }) =>
      (await readdir(join(directory, topic))).flatMap((file): DefinitionFile[] => {
        const [, name, suffix] = /^(.+)\.(\w+)\.yaml$/.exec(basename(file)) ?? []
        const kind = kinds.find((each) => each === suffix)
        return name === undefined || kind === undefined ? [] : [{ path: join(topic, file), topic, name, kind }]
      }),
    ),
  )
  return found.flat().toSorted((a, b) => a.path.localeCompare(b.path))
}

/** Adds the definitions of a file, or reports its errors. */
const add = (loaded: LoadedDefinitions, file: DefinitionFile, text: string, eventsTable: string) => {
  const parsed = parseFile(file, text)
  if ('sentence' in parsed) return parsed.sentence
  const { value } = parsed
  switch (file.kind) {
    case 'chart':
      return take(loaded.charts, file, value, ChartDefinition, checkChart, (chart) =>
        expandFixedWords(chart, eventsTable),
      )
    case 'table':
      return take(loaded.tables, file, value, TableDefinition, checkTable, (table) =>
        expandFixedWords(table, eventsTable),
      )
    case 'rule':
      return take(loaded.rules, file, value, RuleDefinition, checkRule)
    case 'metric':
      return take(loaded.metrics, file, value, MetricDefinition, checkMetric)
  }
}

/** Expands `$from`, `$events` and `$people`, which, unlike macros, do not depend on the request. */
const expandFixedWords = <D extends ChartDefinition | TableDefinition>(definition: D, eventsTable: string): D =>
  expandPeopleMacro(expandEventsTable({ ...definition, sql: expandVersions(definition.sql) }, eventsTable))

const take = <D extends object>(
  taken: (D & DefinitionLocation)[],
  { name, topic }: DefinitionLocation,
  value: unknown,
  schema: z.ZodType<D>,
  check: (definition: D) => readonly string[],
  complete: (definition: D) => D = (definition) => definition,
): string | undefined => {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return describeIssues(parsed.error)
  try {
    const definition = complete(parsed.data)
    const [problem] = check(definition)
    if (problem === undefined) taken.push({ ...definition, name, topic })
    return problem
  } catch (error) {
    return `sql: ${error instanceof Error ? error.message : String(error)}`
  }
}

interface ParseFailure {
  sentence: string
}

const parseFile = ({ name }: DefinitionFile, text: string): { value: unknown } | ParseFailure => {
  if (!DefinitionId.safeParse(name).success) {
    return { sentence: 'the file name must be lower case letters, digits, dashes and underscores' }
  }
  try {
    return { value: parseYaml(text) }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return { sentence: `line ${error.line ?? '?'}: ${error.message}` }
  }
}

/** The parameter with which callers include Watchhouse's own statements. */
const ownSwitch: ChartDefinition['parameters'][number] = {
  name: 'own',
  type: 'Bool',
  default: 0,
  doc: 'Include the statements of Watchhouse itself.',
}

/** Expands `$people` to the queries of users, and adds the parameter `own` to definitions that contain it. */
export const expandPeopleMacro = <D extends Pick<ChartDefinition, 'sql' | 'parameters'>>(definition: D): D => {
  const texts = typeof definition.sql === 'string' ? [definition.sql] : definition.sql.map(({ sql }) => sql)
  if (!texts.some((sql) => people.test(sql))) return definition
  return { ...definition, sql: expandPeople(definition.sql), parameters: [...definition.parameters, ownSwitch] }
}

/** `$people` for rows of the query log, `$people(process)` for processes, and `$people(id)` for a column of ids. */
const people = /\$people\b(?:\((\w+(?:\.\w+)?)\))?/

const expandPeople = (sql: VersionedSql): VersionedSql => {
  const conditionOf = (source: string | undefined): string => {
    if (source === undefined) return '$own'
    return source === 'process' ? '$ownprocess' : buildWatchhouseIdCondition(source)
  }
  const spelled = (text: string): string =>
    text.replaceAll(new RegExp(people, 'g'), (_, source?: string) => `({own:Bool} OR NOT ${conditionOf(source)})`)
  return typeof sql === 'string' ? spelled(sql) : sql.map((branch) => ({ ...branch, sql: spelled(branch.sql) }))
}
