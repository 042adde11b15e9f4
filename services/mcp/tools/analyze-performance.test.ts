import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { parseAndRunTool } from '#shared/tools/tool.ts'
import { createToolContext } from '../testing/context.ts'
import { analyzePerformance } from './analyze-performance.ts'

it('reports no values that the host does not provide', async () => {
  const { text, structured } = await parseAndRunTool(
    analyzePerformance,
    {},
    createToolContext(() => []),
  )
  expect(structured).toMatchObject({
    severity: 'unknown',
    findings: [
      { check: 'slow-queries', severity: 'ok', value: 0 },
      { check: 'parts-per-partition', severity: 'ok', value: 0 },
      { check: 'merge-backlog', severity: 'ok', value: 0 },
      { check: 'memory', severity: 'unknown', value: null },
      { check: 'disk', severity: 'unknown', value: null },
    ],
  })
  expect(text).toBe(
    'one: unknown. Memory usage is not reported by this host. This host reports no local disk with a known size.',
  )
})

it('reports the findings of successful checks and the error of a failed one', async () => {
  const { text } = await parseAndRunTool(
    analyzePerformance,
    {},
    createToolContext((statement) => {
      const isCombined = statement === 'snapshot'
      if (isCombined || statement === 'parts-per-partition')
        throw new ServiceError('timeout', 'host one did not answer in time')
      return [{ name: 'it', value: 85 }]
    }),
  )
  expect(text).toBe(
    'one: critical. The slowest query of the last day took 85.0 s. parts-per-partition: no data: host one did not answer in time. Memory usage is 85.0 %. The fullest disk is 85.0 % full.',
  )
})

it.each(['unavailable', 'busy', 'timeout'] as const)(
  'fails with the error of the host if every check fails: %s',
  async (code) => {
    const failure = new ServiceError(code, 'host one cannot be reached')
    const statements: string[] = []
    const failing = createToolContext((statement) => {
      statements.push(statement)
      throw failure
    })
    await expect(parseAndRunTool(analyzePerformance, {}, failing)).rejects.toBe(failure)
    expect(statements).toHaveLength(code === 'timeout' ? 6 : 1)
  },
)

it('reads all checks in one statement, and shows the worst value of each', async () => {
  const statements: string[] = []
  const { structured } = await parseAndRunTool(
    analyzePerformance,
    {},
    createToolContext((statement) => {
      statements.push(statement)
      return [
        { check: 'disk', name: 'default', value: 12 },
        { check: 'slow-queries', name: 'SELECT 1', value: 3 },
        { check: 'slow-queries', name: 'SELECT 2', value: '61' },
      ]
    }),
  )
  expect(statements).toEqual(['snapshot'])
  expect(structured).toMatchObject({ severity: 'critical' })
  expect(structured?.findings).toMatchObject([
    {
      check: 'slow-queries',
      value: 61,
      where: [
        { name: 'SELECT 2', value: 61 },
        { name: 'SELECT 1', value: 3 },
      ],
    },
    { check: 'parts-per-partition', value: 0 },
    { check: 'merge-backlog', value: 0 },
    { check: 'memory', severity: 'unknown', value: null },
    { check: 'disk', severity: 'ok', value: 12 },
  ])
})
