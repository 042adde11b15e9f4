import { expect, it } from 'vitest'
import { describeProgress } from './progress.ts'

const run = { elapsedSeconds: 4, rowsRead: 1_234_567, bytesRead: 9_876_543, totalRows: 10_000_000 }

it.each([
  [null, 4, { message: 'query has been running for 4 s' }],
  [run, 1_234_567, { message: 'query has read 1,234,567 of about 10,000,000 rows (9.9 MB) in 4 s', total: 10_000_000 }],
  [{ ...run, totalRows: null }, 1_234_567, { message: 'query has read 1,234,567 rows (9.9 MB) in 4 s' }],
  // The estimate of the host may be too low.
  [
    { ...run, totalRows: 1_000 },
    1_234_567,
    { message: 'query has read 1,234,567 of about 1,000 rows (9.9 MB) in 4 s' },
  ],
])('describes the progress of %j', (progress, reported, notification) => {
  expect(describeProgress('query', 4, progress, reported)).toEqual(notification)
})
