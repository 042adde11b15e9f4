import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { openSendDurations } from './send-durations.ts'

const readCounts = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).match(/^watchhouse_alert_send_duration_seconds_count.*$/gm) ?? []

it('exports every outcome of a channel before its first send, and keeps counts when it is included again', async () => {
  const registry = new Registry()
  const durations = openSendDurations(registry)
  durations.include(['webhook'])
  const lines = await readCounts(registry)
  expect(lines.map((line) => /outcome="(\w+)"\} (\d+)/.exec(line)?.slice(1).join(' '))).toEqual([
    'ok 0',
    'retry 0',
    'permanent 0',
    'config 0',
  ])
  durations.observe('webhook', 'permanent', 0.1)
  durations.include(['webhook'])
  expect(await readCounts(registry)).toContain(
    'watchhouse_alert_send_duration_seconds_count{channel="webhook",outcome="permanent"} 1',
  )
})
