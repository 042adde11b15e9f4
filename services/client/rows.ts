import type { ResponseBody, RouteData, RouteName } from '#proto/http/route.ts'
import { createInvalidResponseError } from './failure.ts'

/** The data of a response with rows: values in the order of the columns. */
interface RowsData {
  columns: readonly unknown[]
  rows: readonly unknown[]
}

/** A route that returns the rows of a statement. */
export type RowsRoute = { [R in RouteName]: RouteData<R> extends RowsData ? R : never }[RouteName]

type Part<R extends RowsRoute, K extends keyof RowsData> = RouteData<R> extends Record<K, infer V> ? V : never

/** The rows of a response as they arrive. */
export interface RowStream<R extends RowsRoute> {
  readonly columns: Part<R, 'columns'>
  /** Yields each row once. If the consumer stops early, the connection is closed. */
  readonly rows: AsyncGenerator<Part<R, 'rows'> extends readonly (infer Row)[] ? Row : never>
  /** Returns the metadata, which arrive after the last row. Throws before that. */
  metadata(): ResponseBody<R> extends { metadata: infer M } ? M : never
}

/** The text before the first row. Inside a string of JSON, its quotation marks would be escaped. */
const beforeRows = '"rows":['

/**
 * Reads the columns of a response and returns its rows as a stream. The response is one JSON document of any size, of
 * which only the row that is arriving is kept in memory.
 */
export const readRows = async <R extends RowsRoute>(response: Response): Promise<RowStream<R>> => {
  const chunks = readChunks(response)
  let head = ''
  let length = -1
  while (length === -1) {
    const { value, done } = await chunks.next()
    if (done) throw createInvalidResponseError(response)
    head += value
    length = head.indexOf(beforeRows)
  }
  const [opening, rest] = [head.slice(0, length) + beforeRows, head.slice(length + beforeRows.length)]
  const parse = createParser(response)
  let metadata: unknown
  const readMetadata = (closing: string): void => void ({ metadata } = parse(`${opening}${closing}`))
  // Every response is validated by the service against the schema from which these types are inferred.
  return {
    columns: parse(`${opening}]}}`).data?.columns,
    rows: readElements(rest, { chunks, parse, readMetadata }),
    metadata: () => {
      if (metadata === undefined) throw new Error('the metadata arrive after the last row')
      return metadata
    },
  } as RowStream<R>
}

interface Document {
  data?: { columns?: unknown }
  metadata?: unknown
}

const createParser =
  (response: Response) =>
  (text: string): Document => {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw createInvalidResponseError(response, cause)
    }
  }

interface Source {
  chunks: AsyncGenerator<string, void>
  parse: (text: string) => unknown
  /** Receives the text from the end of the array. */
  readMetadata(closing: string): void
}

const structure = /["[\]{}]/g
const endOfString = /["\\]/g

/** Yields the elements of a JSON array whose text begins with `text`, after the opening bracket. */
async function* readElements(
  text: string,
  { chunks, parse, readMetadata }: Source,
): AsyncGenerator<unknown, void, void> {
  try {
    let [at, depth, start, isString] = [0, 0, 0, false]
    for (;;) {
      const pattern = isString ? endOfString : structure
      pattern.lastIndex = at
      const found = at < text.length ? pattern.exec(text) : null
      if (!found) {
        // Only the element that has not ended is kept.
        const kept = depth > 0 ? start : text.length
        const { value, done } = await chunks.next()
        if (done) break
        at = Math.max(at, text.length) - kept
        start = 0
        text = text.slice(kept) + value
        continue
      }
      const { 0: character, index } = found
      at = index + (character === '\\' ? 2 : 1)
      if (character === '"') isString = !isString
      else if (character === '[' || character === '{') {
        if (depth === 0) start = index
        depth += 1
      } else if (character !== '\\') {
        if (depth === 0) return readMetadata(text.slice(index) + (await readRest(chunks)))
        depth -= 1
        if (depth === 0) yield parse(text.slice(start, at))
      }
    }
    // The array has not ended, so no valid document can follow.
    parse('')
  } finally {
    await chunks.return()
  }
}

const readRest = async (chunks: AsyncGenerator<string, void>): Promise<string> => {
  let text = ''
  for await (const chunk of chunks) text += chunk
  return text
}

async function* readChunks(response: Response): AsyncGenerator<string, void> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    // Closes the connection if the consumer stops early.
    await reader.cancel().catch(() => undefined)
  }
}
