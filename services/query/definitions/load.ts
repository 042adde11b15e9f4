import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse, YAMLParseError } from 'yaml'
import type { z } from 'zod'
import { ChartDefinition, DefinitionId, TableDefinition } from '#proto/catalogue.ts'
import { checkChart, checkTable } from './check.ts'
import { describeIssues } from './describe-issues.ts'
import { defaultEventsTable, nameEvents } from './events.ts'

export interface Located {
  name: string
  topic: string
}
export type LoadedChart = ChartDefinition & Located
export type LoadedTable = TableDefinition & Located

/** What a directory holds. `problems` name the file and the key that is wrong; the rest is usable. */
export interface LoadedDefinitions {
  charts: LoadedChart[]
  tables: LoadedTable[]
  problems: { file: string; sentence: string }[]
}

/** More files than this are a mistake in the path. */
const maxFiles = 5_000

/** Reads `<topic>/<id>.chart.yaml` and `<topic>/<id>.table.yaml`. Throws only when the directory cannot be read. */
export const loadDefinitions = async (
  directory: string,
  eventsTable = defaultEventsTable,
): Promise<LoadedDefinitions> => {
  const files = await definitionFiles(directory)
  const loaded: LoadedDefinitions = { charts: [], tables: [], problems: [] }
  for (const file of files.slice(0, maxFiles)) {
    const result = await readDefinition(directory, file, eventsTable)
    if ('sentence' in result) loaded.problems.push({ file: file.path, sentence: result.sentence })
    else if ('chart' in result) loaded.charts.push(result.chart)
    else loaded.tables.push(result.table)
  }
  if (files.length > maxFiles) loaded.problems.push({ file: directory, sentence: `holds more than ${maxFiles} files` })
  return loaded
}

interface DefinitionFile extends Located {
  path: string
  kind: 'chart' | 'table'
}

const definitionFiles = async (directory: string): Promise<DefinitionFile[]> => {
  const topics = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const found = await Promise.all(
    topics.map(async ({ name: topic }) =>
      (await readdir(join(directory, topic))).flatMap((file): DefinitionFile[] => {
        const [, name, kind] = /^(.+)\.(chart|table)\.yaml$/.exec(basename(file)) ?? []
        if (name === undefined || (kind !== 'chart' && kind !== 'table')) return []
        return [{ path: join(topic, file), topic, name, kind }]
      }),
    ),
  )
  return found.flat().toSorted((a, b) => a.path.localeCompare(b.path))
}

interface Refused {
  sentence: string
}

const readDefinition = async (directory: string, file: DefinitionFile, eventsTable: string) => {
  const text = await readFile(join(directory, file.path), 'utf8').catch(() => undefined)
  if (text === undefined) return { sentence: 'cannot be read' }
  return file.kind === 'chart' ? readChart(file, text, eventsTable) : readTable(file, text, eventsTable)
}

const readChart = (file: DefinitionFile, text: string, eventsTable: string): { chart: LoadedChart } | Refused => {
  const parsed = parseFile(ChartDefinition, file, text)
  if ('sentence' in parsed) return parsed
  const chart = nameEvents(parsed.value, eventsTable)
  const [problem] = checkChart(chart)
  return problem ? { sentence: problem } : { chart: { ...chart, name: file.name, topic: file.topic } }
}

const readTable = (file: DefinitionFile, text: string, eventsTable: string): { table: LoadedTable } | Refused => {
  const parsed = parseFile(TableDefinition, file, text)
  if ('sentence' in parsed) return parsed
  const table = nameEvents(parsed.value, eventsTable)
  const [problem] = checkTable(table)
  return problem ? { sentence: problem } : { table: { ...table, name: file.name, topic: file.topic } }
}

const parseFile = <S extends z.ZodType>(
  schema: S,
  file: DefinitionFile,
  text: string,
): { value: z.output<S> } | Refused => {
  if (!DefinitionId.safeParse(file.name).success) {
    return { sentence: 'the file name must be lower case letters, digits, dashes and underscores' }
  }
  const yaml = parseYaml(text)
  if ('sentence' in yaml) return yaml
  const parsed = schema.safeParse(yaml.value)
  return parsed.success ? { value: parsed.data } : { sentence: describeIssues(parsed.error) }
}

const parseYaml = (text: string): { value: unknown } | Refused => {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error
    const line = error.linePos?.[0].line
    return { sentence: `line ${line ?? '?'}: ${error.message.split('\n')[0] ?? 'malformed YAML'}` }
  }
}
