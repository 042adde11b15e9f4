import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { openDefinitions } from '../../query/definitions/definitions.ts'
import { type Figure, nameFigure, readFigures, reduceRows, type RowFigure } from './figures.ts'

const { charts, tables, metrics } = await openDefinitions(pino({ level: 'silent' }))
const figures = await readFigures()

const find = (figure: RowFigure) =>
  'chart' in figure
    ? charts.find(({ name }) => name === figure.chart)
    : tables.find(({ name }) => name === figure.table)

/** Returns what a figure names that does not exist. */
const findUnknown = (figure: Figure): string | undefined => {
  if ('overview' in figure) return undefined
  if ('metric' in figure) return metrics.some(({ name }) => name === figure.metric) ? undefined : figure.metric
  const definition = find(figure)
  if (!definition) return nameFigure(figure)
  const columns = [...Object.keys(figure.where ?? {}), ...(figure.figure.column ? [figure.figure.column] : [])]
  const known = new Set(definition.columns.map(({ name }) => name))
  const parameters = new Set(definition.parameters.map(({ name }) => name))
  return (
    columns.find((column) => !known.has(column)) ??
    Object.keys(figure.parameters ?? {}).find((parameter) => !parameters.has(parameter))
  )
}

describe('the figures with independent statements', () => {
  it('name existing charts, pages, metrics, columns and parameters', () => {
    const unknown = figures.flatMap((figure) => (findUnknown(figure) === undefined ? [] : nameFigure(figure)))
    expect(unknown).toEqual([])
  })

  it('are different ones', () => {
    const names = figures.map(nameFigure)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('are 300 or more, from 100 charts and 60 pages', () => {
    const namedCharts = new Set(figures.flatMap((figure) => ('chart' in figure ? figure.chart : [])))
    const namedTables = new Set(figures.flatMap((figure) => ('table' in figure ? figure.table : [])))
    expect(figures.length).toBeGreaterThanOrEqual(300)
    expect(namedCharts.size).toBeGreaterThanOrEqual(100)
    expect(namedTables.size).toBeGreaterThanOrEqual(60)
  })
})

describe('a figure of rows', () => {
  const rows = [
    { kind: 'Select', queries: 3 },
    { kind: 'Insert', queries: 5 },
    { kind: 'Select', queries: null },
    { kind: 'Select', queries: 4 },
  ]
  it.each([
    ['rows', undefined, 4],
    ['rows', { kind: 'Select' }, 3],
    ['sum(queries)', undefined, 12],
    ['sum(queries)', { kind: 'Select' }, 7],
    ['max(queries)', undefined, 5],
    ['min(queries)', undefined, 3],
    ['first(queries)', undefined, 3],
    ['last(queries)', undefined, 4],
    ['sum(missing)', undefined, null],
  ])('%s of rows with %j is %s', (text, where, value) => {
    const [, reduction, column] = /^(\w+)\((\w+)\)$/.exec(text) ?? []
    const figure = { text, reduction, column } as RowFigure['figure'] // as the schema parses it
    expect(reduceRows({ chart: 'c', figure, sql: '', ...(where && { where }) }, rows)).toBe(value)
  })
})
