import type { ResultColumn } from '#proto/console.ts'
import { formatCell } from './cells.ts'
import { type Column, formatRows, layOutColumns, type Layout } from './columns.ts'
import { formatCsvLine } from './csv.ts'
import type { Output } from './output.ts'
import { toTabSeparatedField } from './terminal-text.ts'

/** The formats of rows. */
export const rowFormats = ['table', 'csv', 'json', 'ndjson'] as const
export type RowFormat = (typeof rowFormats)[number]

/** Values in the order of their columns. */
export type Cells = readonly unknown[]
type Columns = readonly ResultColumn[]

/** Writes rows as they arrive, and keeps none of them. */
export interface RowSink {
  /** Returns a function that writes rows with these columns. It is called once for each result. */
  begin(columns: Columns): (cells: Cells) => void
  /** Ends the output. If rows are missing in the middle of a result, a JSON array stays open. */
  end(isComplete: boolean): void
  /** Names of columns that no row shows, because the first result does not have them. */
  omittedColumns(): string[]
}

/** Returns the sink of a format. It writes in large pieces, but never delays a row that has arrived. */
export const createRowSink = (format: RowFormat, output: Output): RowSink => {
  const text = bufferText(output)
  const sink = createSink(format, output, text.write)
  return {
    ...sink,
    end(isComplete) {
      sink.end(isComplete)
      text.flush()
    },
  }
}

type Write = (text: string) => void

const createSink = (format: RowFormat, output: Output, write: Write): RowSink => {
  if (format === 'json') return createJsonSink(write, output.isTerminal)
  if (format === 'ndjson') return createNdjsonSink(write)
  if (format === 'csv') return createTabularSink(writeLines(write, formatCsvLine))
  if (output.mode === 'terminal') return createTabularSink(writeTable(output, write))
  return createTabularSink(writeLines(write, formatTabSeparatedLine))
}

const maxBufferedLength = 32_768

const bufferText = (output: Output) => {
  let pending = ''
  let timer: NodeJS.Immediate | undefined
  const flush = (): void => {
    clearImmediate(timer)
    timer = undefined
    if (pending !== '') output.write(pending)
    pending = ''
  }
  const write = (text: string): void => {
    pending += text
    if (pending.length >= maxBufferedLength) flush()
    else timer ??= setImmediate(flush)
  }
  return { write, flush }
}

const toObject = (columns: Columns, cells: Cells): Record<string, unknown> =>
  Object.fromEntries(columns.map(({ name }, index) => [name, cells[index]]))

const createNdjsonSink = (write: Write): RowSink => ({
  begin: (columns) => (cells) => write(`${JSON.stringify(toObject(columns, cells))}\n`),
  end: () => undefined,
  omittedColumns: () => [],
})

const createJsonSink = (write: Write, isIndented: boolean): RowSink => {
  const [opening, separator, closing] = isIndented ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n']
  let isOpen = false
  let isEmpty = true
  const format = (row: object) =>
    isIndented ? JSON.stringify(row, null, 2).replaceAll('\n', '\n  ') : JSON.stringify(row)
  return {
    begin(columns) {
      isOpen = true
      return (cells) => {
        write(`${isEmpty ? opening : separator}${format(toObject(columns, cells))}`)
        isEmpty = false
      }
    },
    end(isComplete) {
      if (isOpen && isComplete) write(isEmpty ? '[]\n' : closing)
    },
    omittedColumns: () => [],
  }
}

/** Writes a header and rows with the same columns. */
interface TableWriter {
  open(columns: Columns): void
  row(cells: Cells): void
  end(): void
}

/** Returns a sink for formats with one header. Later results can have other columns, such as those of another version. */
const createTabularSink = (writer: TableWriter): RowSink => {
  let header: Columns | undefined
  const omitted = new Set<string>()
  return {
    begin(columns) {
      if (!header) {
        header = columns
        writer.open(columns)
        return writer.row
      }
      const shown = header
      const names = columns.map(({ name }) => name)
      if (names.join('\0') === shown.map(({ name }) => name).join('\0')) return writer.row
      for (const name of names) if (!shown.some((column) => column.name === name)) omitted.add(name)
      const places = shown.map(({ name }) => names.indexOf(name))
      return (cells) => writer.row(places.map((place) => cells[place] ?? null))
    },
    end: () => writer.end(),
    omittedColumns: () => [...omitted],
  }
}

const writeLines = (write: Write, format: (cells: Cells) => string): TableWriter => ({
  open: (columns) => write(format(columns.map(({ name }) => name))),
  row: (cells) => write(format(cells)),
  end: () => undefined,
})

const formatTabSeparatedLine = (cells: Cells): string =>
  `${cells.map((cell) => toTabSeparatedField(formatCell(cell) ?? '')).join('\t')}\n`

/** The rows that decide the widths of the columns. */
const sampleRows = 1_000

const writeTable = (output: Output, write: Write): TableWriter => {
  let columns: Column<Cells>[] = []
  let layout: Layout<Cells> | undefined
  let waiting: Cells[] = []
  let isOpen = false
  const flush = (): void => {
    if (!isOpen) return
    const isFirst = layout === undefined
    layout ??= layOutColumns({ rows: waiting, columns }, output.width)
    for (const line of formatRows(waiting, layout, { paint: output.paint, hasHeader: isFirst })) write(`${line}\n`)
    waiting = []
  }
  return {
    open(found) {
      isOpen = true
      columns = found.map(({ name, type }, index) => ({
        title: name,
        value: (cells) => formatCell(cells[index]),
        isRight: numericType.test(type),
      }))
    },
    row(cells) {
      waiting.push(cells)
      if (layout || waiting.length >= sampleRows) flush()
    },
    end() {
      flush()
      output.noteHiddenColumns(layout?.hidden ?? [])
    },
  }
}

const numericType = /^(?:Nullable\(|LowCardinality\()*(?:U?Int|Float|BFloat|Decimal)\d*/
