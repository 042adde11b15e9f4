import { readParts } from '#proto/stream-parts.ts'

/** Yields the lines of a response as they arrive, without their newline. Empty lines are skipped. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  const lines = readParts(response, '\n')
  try {
    let next = await lines.next()
    for (; !next.done; next = await lines.next()) if (next.value !== '') yield next.value
    if (next.value !== '') yield next.value
  } finally {
    await lines.return('')
  }
}
