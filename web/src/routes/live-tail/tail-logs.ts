import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'

/** A log that can be followed. Its rows are those of a table page. */
export interface TailLog {
  id: 'queries' | 'server'
  title: string
  /** The table page that returns the rows. */
  table: string
  /** The columns that identify a row together with its time. */
  key: readonly string[]
  /** The columns with a filter, and the choices of those with few values. */
  filters: readonly TailFilter[]
}

export interface TailFilter {
  /** The column, which is also the URL parameter. */
  name: string
  label: string
  choices?: readonly { value: string; label: string }[]
}

/** Log levels, most severe first. Each choice includes all more severe levels. */
const levels = ['Fatal', 'Critical', 'Error', 'Warning', 'Notice', 'Information', 'Debug', 'Trace'] as const

export const tailLogs: readonly TailLog[] = [
  {
    id: 'queries',
    title: 'Queries',
    table: 'recent-queries',
    key: ['query_id', 'type'],
    filters: [
      { name: 'user', label: 'User' },
      {
        name: 'kind',
        label: 'Kind',
        choices: ['Select', 'Insert', 'Create', 'Alter', 'Drop', 'System'].map((value) => ({ value, label: value })),
      },
      {
        name: 'type',
        label: 'Event',
        choices: [
          { value: 'QueryStart', label: 'Started' },
          { value: 'QueryFinish', label: 'Finished' },
          { value: 'ExceptionWhileProcessing,ExceptionBeforeStart', label: 'Failed' },
        ],
      },
    ],
  },
  {
    id: 'server',
    title: 'Server log',
    table: 'text-log',
    key: ['thread_id', 'level', 'logger', 'source_line', 'query_id', 'message'],
    filters: [
      {
        name: 'level',
        label: 'Level',
        choices: levels.map((level, index) => ({
          value: levels.slice(0, index + 1).join(','),
          label: index === 0 ? level : `${level} and above`,
        })),
      },
      { name: 'logger', label: 'Logger' },
    ],
  },
]

/** The selected filter values by column; columns without a value are not filtered. */
export type TailFilterValues = Readonly<Record<string, string>>

/** Returns the filters of the table API: `column.operator.value`. */
export const toTableFilters = ({ filters }: TailLog, values: TailFilterValues): string[] =>
  filters.flatMap(({ name, choices }) => {
    const value = values[name]
    if (!value) return []
    return [choices ? `${name}.in.${value}` : `${name}.contains.${value}`]
  })

/** The state of a line, for its badge. */
export type TailStatus = 'ok' | 'running' | 'warning' | 'failed' | 'off'

/** A row of a log as a line of the page. */
export interface TailLine {
  timeMs: number
  word: string
  status: TailStatus
  /** The user of a query, or the logger. */
  origin: string
  text: string
  /** Further facts, such as the duration or the error message. */
  detail: string
  queryId: string
}

const eventStates: Readonly<Record<string, { word: string; status: TailStatus }>> = {
  QueryStart: { word: 'Started', status: 'running' },
  QueryFinish: { word: 'Finished', status: 'ok' },
  ExceptionBeforeStart: { word: 'Rejected', status: 'failed' },
  ExceptionWhileProcessing: { word: 'Failed', status: 'failed' },
}
const cancelledPattern = /QUERY_WAS_CANCELLED/

const levelStatus = (level: string): TailStatus => {
  const index = levels.findIndex((each) => each === level)
  if (index >= 0 && index <= levels.indexOf('Error')) return 'failed'
  return level === 'Warning' ? 'warning' : 'off'
}

const textOf = (row: Row, name: string): string => String(row[name] ?? '')

/** Converts a row of a log to a line. */
export const toTailLine = ({ id }: TailLog, row: Row): TailLine => {
  const common = { timeMs: readNumber(row['time']) ?? 0, queryId: textOf(row, 'query_id') }
  if (id === 'server') {
    const level = textOf(row, 'level')
    const origin = textOf(row, 'logger')
    return { ...common, word: level, status: levelStatus(level), origin, text: textOf(row, 'message'), detail: '' }
  }
  const type = textOf(row, 'type')
  const isCancelled = cancelledPattern.test(textOf(row, 'exception'))
  const state = isCancelled ? { word: 'Cancelled', status: 'warning' as const } : eventStates[type]
  return {
    ...common,
    word: state?.word ?? type,
    status: state?.status ?? 'off',
    origin: textOf(row, 'user'),
    text: textOf(row, 'query'),
    detail: textOf(row, 'exception'),
  }
}
