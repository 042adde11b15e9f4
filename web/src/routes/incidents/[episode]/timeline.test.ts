import { describe, expect, it } from 'vitest'
import type { Incident } from '#lib/api/incidents.ts'
import { createTimeline, findPeriod, writeReport } from './timeline.ts'

const event = (kind: string, atMs: number): Incident['events'][number] => ({
  id: `${kind}-${atMs}`,
  kind,
  ruleId: 'disk-usage',
  episode: 'e1',
  severity: 'critical',
  title: 'Disk usage',
  value: 95,
  threshold: 90,
  sinceMs: 1_000,
  atMs,
  reason: kind === 'held' ? 'maintenance' : '95 %',
})
const incident: Incident = {
  events: [event('fire', 2_000), event('held', 3_000), event('recover', 9_000)],
  notes: [{ id: 'n1', text: 'Deleted *old*\nparts', by: 'Ada', atMs: 5_000, isOwn: true }],
}

describe('the timeline of an incident', () => {
  const timeline = createTimeline({ incident, changes: undefined, deployments: [] })

  it('has events and notes in the order of time', () => {
    expect(timeline.map(({ label, text }) => `${label}: ${text}`)).toEqual([
      'First breach: severity critical',
      'Fired: 95 %',
      'Not sent: the host is in maintenance',
      'Note: Deleted *old*\nparts',
      'Recovered: 95 %',
    ])
  })

  it('starts with the first breach and ends with the recovery', () => {
    expect(findPeriod(incident, 0)).toEqual({ startMs: 1_000, endMs: 9_000 })
    expect(findPeriod({ ...incident, events: [] }, 7)).toEqual({ startMs: 7, endMs: null })
  })

  it('is exported as Markdown, in which texts have no effect', () => {
    const report = writeReport({
      title: 'Disk usage',
      host: 'one',
      severity: 'critical',
      link: 'http://watch/incidents/e1',
      period: findPeriod(incident, 0),
      timeline,
      queries: [{ id: 'q1', text: 'SELECT *\nFROM t', outcome: 'Failed' }],
      write: (atMs) => `${atMs} ms`,
    })
    expect(report).toContain('# Disk usage\n')
    expect(report).toContain('- End: 9000 ms')
    expect(report).toContain('- 5000 ms **Note** by Ada: Deleted \\*old\\* parts')
    expect(report).toContain('- Failed: `q1` SELECT \\* FROM t')
  })
})
