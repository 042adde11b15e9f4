import { Session } from 'node:inspector/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkReadOnly } from './read-only.ts'

const shorter = 5_000
const longer = 9 * shorter
/** Linear work is nine times as much, quadratic eighty-one. */
const most = 12

/** Counts what the engine executes, which is the same on a busy machine and an idle one. */
const session = new Session()
beforeAll(async () => {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
})
afterAll(() => session.disconnect())

const blocksRun = async (piece: string, length: number): Promise<number> => {
  await session.post('Profiler.takePreciseCoverage')
  read(`SELECT ${piece.repeat(Math.floor(length / piece.length))}`)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const own = result.filter(({ url }) => /read-only\/(?!.*test)/.test(url))
  const blocks = own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
  return blocks.reduce((sum, { count }) => sum + count, 0)
}

const read = (sql: string): void => {
  try {
    checkReadOnly(sql)
  } catch {
    // Refused or not: what counts is the way there.
  }
}

describe('the work of reading a statement', () => {
  it.each(
    [
      ['/*', '$a$', '$a$x', "'a'", "'", '"', '((', '[', 'FROM x(', '1.', '--\n', 'a,', 'a.', 'a ', ';', '\u200b'],
      ['hasColumnInTable(', 'hasColumnInTable(a,', 'extract(a FROM ', 'SETTINGS ', 'JOIN ', 'view(SELECT 1 FROM '],
    ].flat(),
  )('grows with the length alone when it repeats %s', async (piece) => {
    const few = await blocksRun(piece, shorter)
    const many = await blocksRun(piece, longer)
    expect(few).toBeGreaterThan(0)
    expect(many / few).toBeLessThan(most)
  })
})
