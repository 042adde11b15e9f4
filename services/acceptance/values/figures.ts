import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const reductions = ['sum', 'max', 'min', 'first', 'last'] as const

/** How the rows of a chart or page become one number: `rows`, or a reduction of a column such as `sum(queries)`. */
const Reduction = z
  .string()
  .regex(new RegExp(`^(?:rows|(?:${reductions.join('|')})\\(\\w+\\))$`))
  .transform((text) => {
    const [, reduction, column] = /^(\w+)\((\w+)\)$/.exec(text) ?? []
    return { reduction: reductions.find((each) => each === reduction), column, text }
  })

const comparison = {
  /** The relative difference that is allowed for values that change while they are read. */
  tolerance: z.number().min(0).max(0.2).optional(),
  /** A statement that returns the expected number. `{from:UInt32}` and `{to:UInt32}` are the window in epoch seconds. */
  sql: z.string(),
}
const rowSelection = {
  figure: Reduction,
  /** Only rows with these values. */
  where: z.record(z.string(), Scalar).optional(),
  parameters: z.record(z.string(), z.string()).optional(),
  ...comparison,
}

/** A figure of the product and a statement that computes it independently. */
export const Figure = z.union([
  z.strictObject({ chart: z.string(), ...rowSelection }),
  z.strictObject({ table: z.string(), ...rowSelection }),
  z.strictObject({ metric: z.string(), ...comparison }),
  z.strictObject({ overview: z.string(), ...comparison }),
])
export type Figure = z.infer<typeof Figure>
/** A figure of a chart or a table page. */
export type RowFigure = Extract<Figure, { figure: unknown }>

const directory = join(import.meta.dirname, 'figures')

export const readFigures = async (): Promise<Figure[]> => {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.yaml')).toSorted()
  const lists = await Promise.all(
    files.map(async (file) => z.array(Figure).parse(parseYaml(await readFile(join(directory, file), 'utf8')))),
  )
  return lists.flat()
}

/** Returns a name such as `chart query-count sum(queries) {"kind":"Select"}`. */
export const nameFigure = (figure: Figure): string => {
  if ('metric' in figure) return `metric ${figure.metric}`
  if ('overview' in figure) return `overview ${figure.overview}`
  const page = 'chart' in figure ? `chart ${figure.chart}` : `table ${figure.table}`
  const selected = [figure.where, figure.parameters].filter(Boolean).map((each) => JSON.stringify(each))
  return [page, figure.figure.text, ...selected].join(' ')
}

type Row = Readonly<Record<string, unknown>>

/** Reduces the rows of a chart or page to one number; null if there is none. */
export const reduceRows = ({ figure, where = {} }: RowFigure, rows: readonly Row[]): number | null => {
  const selected = rows.filter((row) => Object.entries(where).every(([name, value]) => row[name] === value))
  const { reduction, column = '' } = figure
  if (reduction === undefined) return selected.length
  const values = selected.map((row) => row[column]).filter((value) => value !== null && value !== undefined)
  if (values.length === 0) return null
  const numbers = values.map(Number)
  if (reduction === 'sum') return numbers.reduce((sum, value) => sum + value, 0)
  if (reduction === 'max') return Math.max(...numbers)
  if (reduction === 'min') return Math.min(...numbers)
  return numbers.at(reduction === 'first' ? 0 : -1) ?? null
}
