import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildMetricCondition, readRecordedMetrics, selectColumns } from './recorded-metrics.ts'

const withFile = async (text: string) => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-metrics-'))
  try {
    await writeFile(join(directory, 'history-metrics.yaml'), text)
    return readRecordedMetrics(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

it('records about 150 metrics, each once', () => {
  const { columns, asynchronous } = readRecordedMetrics()
  const all = [...columns, ...asynchronous]
  expect(new Set(all).size).toBe(all.length)
  expect(all.length).toBeGreaterThanOrEqual(150)
  expect(all.length).toBeLessThanOrEqual(200)
})

it('adds the metrics of a custom file', async () => {
  const added = await withFile('events: [MyEvent_*]\nasynchronous: [MyMetric]')
  expect(added.columns).toContain('ProfileEvent_MyEvent_*')
  expect(added.columns).toContain('CurrentMetric_Query')
  expect(added.asynchronous).toContain('MyMetric')
})

it.each(["asynchronous: ['a b']", 'gauges: [Query]', 'events: Query'])('names an invalid file: %s', async (text) => {
  await expect(withFile(text)).rejects.toThrow(/history-metrics\.yaml: /)
})

it('matches names that end with an asterisk', () => {
  expect(selectColumns(['A', 'B_*'], ['A', 'AB', 'B_1', 'B_2', 'C'])).toEqual(['A', 'B_1', 'B_2'])
  expect(buildMetricCondition(['A', 'B_*'])).toBe("(metric IN ('A') OR startsWith(metric, 'B_'))")
  expect(buildMetricCondition([])).toBe('0')
})
