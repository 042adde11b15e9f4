import { EventEmitter, once } from 'node:events'
import { styleText } from 'node:util'
import { formatRows, layOutColumns, type Column } from './columns.ts'
import { toTabSeparatedField } from './terminal-text.ts'

/** `terminal` for people, `plain` for pipes: tab-separated values without colours. */
export type OutputMode = 'terminal' | 'plain' | 'json'

/** The meaning of a text, which decides its colour. */
export type Tone = 'good' | 'warning' | 'critical' | 'muted' | 'strong'

const colors = { good: 'green', warning: 'yellow', critical: 'red', muted: 'dim', strong: 'bold' } as const

/** A stream that a command writes to. */
export interface OutputStream {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
  writableNeedDrain?: boolean
}

/** Writes results to standard output, and notes and failures to standard error. */
export interface Output {
  readonly mode: OutputMode
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  readonly hasColors: boolean
  /** The width of the terminal in columns. */
  readonly width: number
  /** Writes rows as a table, as tab-separated values, or `json` as JSON. */
  list<T>(list: List<T>): void
  json(value: unknown): void
  /** Writes a line to standard output. */
  line(text?: string): void
  /** Writes text to standard output as it is. */
  write(text: string): void
  /** Writes a line to standard error. */
  note(text: string): void
  /** Says which columns of a table are hidden, if any are. */
  noteHiddenColumns(titles: readonly string[]): void
  /** Whether the reader of standard output is slower than the command. */
  isBusy(): boolean
  /** Waits until the reader of standard output has caught up, or until the signal aborts. */
  drain(signal: AbortSignal): Promise<void>
  paint(text: string, tone: Tone | undefined): string
}

/** Rows with their columns. */
export interface List<T> {
  rows: readonly T[]
  columns: readonly Column<T>[]
  /** The value for `--json`; the rows by default. */
  json?: unknown
  /** What to say on a terminal if there are no rows. */
  empty: string
}

interface OutputOptions {
  stdout: OutputStream
  stderr: OutputStream
  isJson: boolean
  hasColors: boolean
}

/** The width of a terminal that does not report its own. */
const defaultWidth = 100

/** Returns the output of a command. */
export const createOutput = ({ stdout, stderr, isJson, hasColors }: OutputOptions): Output => {
  const mode = isJson ? 'json' : stdout.isTTY ? 'terminal' : 'plain'
  const paint = (text: string, tone: Tone | undefined): string =>
    hasColors && tone !== undefined ? styleText(colors[tone], text, { validateStream: false }) : text
  const width = stdout.columns ?? defaultWidth
  const line = (text = ''): void => void stdout.write(`${text}\n`)
  const json = (value: unknown): void => line(JSON.stringify(value, null, stdout.isTTY ? 2 : undefined))
  const note = (text: string): void => void stderr.write(`${text}\n`)
  const noteHiddenColumns = (titles: readonly string[]): void => {
    if (titles.length > 0)
      note(paint(`The terminal is too narrow for: ${titles.join(', ')}. --json has all columns.`, 'muted'))
  }
  return {
    mode,
    isTerminal: stdout.isTTY === true,
    hasColors,
    width,
    json,
    line,
    write: (text) => void stdout.write(text),
    note,
    noteHiddenColumns,
    isBusy: () => stdout.writableNeedDrain === true,
    async drain(signal) {
      // A stream that needs to drain is a stream of Node.
      if (stdout instanceof EventEmitter) await once(stdout, 'drain', { signal })
    },
    paint,
    list(list) {
      if (mode === 'json') return json(list.json ?? list.rows)
      if (mode === 'plain') return writeTabSeparated(list, line)
      if (list.rows.length === 0) return line(paint(list.empty, 'muted'))
      const layout = layOutColumns(list, width)
      for (const text of formatRows(list.rows, layout, { paint, hasHeader: true })) line(text)
      noteHiddenColumns(layout.hidden)
    },
  }
}

const writeTabSeparated = <T>({ rows, columns }: List<T>, line: (text: string) => void): void => {
  line(columns.map(({ title }) => toTabSeparatedField(title)).join('\t'))
  for (const row of rows) line(columns.map(({ value }) => toTabSeparatedField(String(value(row) ?? ''))).join('\t'))
}

/**
 * Returns whether to use colours: not for pipes, with `NO_COLOR` (https://no-color.org), with `--no-color` or on a
 * terminal that cannot show them. `FORCE_COLOR` overrides the check of the terminal.
 */
export const chooseColors = (
  env: Readonly<Record<string, string | undefined>>,
  stream: OutputStream,
  isAllowed: boolean,
): boolean => {
  if (!isAllowed || env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0'
  return stream.isTTY === true && env.TERM !== 'dumb'
}
