import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

const shorter = 5_000
const longer = 9 * shorter
/** Maximum factor by which the cost may grow for a nine times longer statement. Quadratic cost would grow 81-fold. */
const maxRatio = 12

const pieces = [
  ['/*', '$a$', '$a$x', "'a'", "'", '"', '((', '[', 'FROM x(', '1.', '--\n', 'a,', 'a.', 'a ', ';', '\u200b'],
  ['hasColumnInTable(', 'hasColumnInTable(a,', 'extract(a FROM ', 'SETTINGS ', 'JOIN ', 'view(SELECT 1 FROM '],
  [
    'EXPLAIN AST ',
    'DISTINCT ON (',
    'EXCEPT (',
    'array JOIN ',
    'FROM (',
    'arrayMap((',
    'arrayMap(a)',
    '* APPLY(',
    '1_',
    '1e-',
    '.1',
    "x'41'",
    'a IS DISTINCT FROM ',
    '(set ',
    'a IN (f((',
    'in(a, ((f(',
  ],
].flat()

const statement = (piece: string, length: number): string => `SELECT ${piece.repeat(Math.floor(length / piece.length))}`

/** The numbers of executed code blocks by piece, for the shorter and the longer statement. */
let counted: number[][]
beforeAll(async () => {
  const statements = pieces.flatMap((piece) => [statement(piece, shorter), statement(piece, longer)])
  const worker = new Worker(new URL('../testing/count-blocks.ts', import.meta.url), { workerData: statements })
  const [counts] = z.tuple([z.array(z.number())]).parse(await once(worker, 'message'))
  await worker.terminate()
  counted = pieces.map((_, index) => counts.slice(2 * index, 2 * index + 2))
})

describe('the cost of checking a statement', () => {
  it.each(pieces.map((piece, index) => [piece, index] as const))(
    'grows linearly with repetitions of %s',
    (_piece, index) => {
      const [few = 0, many = Infinity] = counted[index] ?? []
      expect(few).toBeGreaterThan(0)
      expect(many / few).toBeLessThan(maxRatio)
    },
  )
})
