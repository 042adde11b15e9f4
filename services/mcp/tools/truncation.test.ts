import { expect, it } from 'vitest'
import { parseAndRunTool } from '#shared/tools/tool.ts'
import { createToolContext } from '../testing/context.ts'
import { getMergeStatus } from './get-merge-status.ts'
import { getRunningQueries } from './get-running-queries.ts'

const figures = { elapsedSeconds: 9, rowsRead: 1, bytesRead: 1, memoryBytes: 1, progress: 0.5, parts: 2, sizeBytes: 1 }
const texts = {
  queryId: 'q',
  user: 'u',
  kind: 'Select',
  statement: 'SELECT ?',
  database: 'd',
  table: 't',
  resultPart: 'p',
}
const row = { ...figures, ...texts, isMutation: false }

it.each([
  [getRunningQueries, 1, '1 running on one, the longest for 9.0 s.', false],
  [getRunningQueries, 2, '2 running on one, the longest for 9.0 s.', false],
  [getRunningQueries, 3, 'More than 2 running on one, the longest for 9.0 s.', true],
  [getMergeStatus, 1, '1 merge on one, the longest for 9.0 s.', false],
  [getMergeStatus, 2, '2 merges on one, the longest for 9.0 s.', false],
  [getMergeStatus, 3, 'More than 2 merges on one, the longest for 9.0 s.', true],
])('$name reports whether its list is truncated: %#', async (tool, running, sentence, truncated) => {
  const { text, structured } = await parseAndRunTool(
    tool,
    { limit: 2 },
    createToolContext(() => Array.from({ length: running }, () => row)),
  )
  expect(text).toBe(sentence)
  expect(structured).toMatchObject({ truncated })
  expect(Object.values(structured ?? {}).find(Array.isArray)).toHaveLength(Math.min(2, running))
})
