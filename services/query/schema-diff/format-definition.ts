import { quoteName } from '#shared/sql/statement-text.ts'
import { formatColumn, type ObjectDefinition, quoteTable } from './definition.ts'
import { normalizeEngine, splitQuery } from './parse-definition.ts'

const kindWords = {
  table: 'TABLE',
  view: 'VIEW',
  'materialized-view': 'MATERIALIZED VIEW',
  dictionary: 'DICTIONARY',
} as const

const clauseOrder = [
  'PARTITION BY',
  'PRIMARY KEY',
  'ORDER BY',
  'SAMPLE BY',
  'TTL',
  'SOURCE',
  'LIFETIME',
  'LAYOUT',
  'RANGE',
  'DEFINER',
  'SQL SECURITY',
]

const byName = (elements: ReadonlyMap<string, string>): [string, string][] =>
  [...elements].toSorted(([one], [other]) => (one < other ? -1 : 1))

/** Returns a definition with one line per column and clause. Differences by nature, such as Keeper paths, are left out. */
export const formatDefinition = (object: ObjectDefinition): string => {
  const { kind, head, clauses, settings, comment, query } = object
  const lines = [
    ...object.columns.map((column) => `  ${quoteName(column.name)} ${formatColumn(column)}`),
    ...elementLines('INDEX', object.indexes),
    ...elementLines('PROJECTION', object.projections),
    ...elementLines('CONSTRAINT', object.constraints),
  ]
  const settingLines = byName(settings).map(
    ([name, value], index) => `${index === 0 ? 'SETTINGS ' : '  '}${name} = ${value}`,
  )
  return [
    `${kindWords[kind]} ${quoteTable(object)}${head && ` ${head}`}`,
    ...(lines.length > 0 ? ['(', ...lines.map((line) => `${line},`), ')'] : []),
    ...(object.engine === '' ? [] : [`ENGINE = ${formatEngine(object.engine)}`]),
    ...clauseOrder.flatMap((clause) => formatClause(clause, clauses.get(clause))),
    ...settingLines,
    ...(comment === '' ? [] : [`COMMENT ${comment}`]),
    ...(query === '' ? [] : ['AS', ...splitQuery(query)]),
    '',
  ].join('\n')
}

const elementLines = (word: string, elements: ReadonlyMap<string, string>): string[] =>
  byName(elements).map(([name, definition]) => `  ${word} ${quoteName(name)} ${definition}`)

const formatEngine = (engine: string): string => (engine.startsWith('Replicated') ? normalizeEngine(engine) : engine)

const formatClause = (clause: string, text: string | undefined): string[] =>
  text === undefined ? [] : [`${clause}${text.startsWith('(') && !clause.endsWith('BY') ? '' : ' '}${text}`]
