import { describe, expect, it } from 'vitest'
import { filterChanges, groupChangesByDay, listChanges, readChangeKind } from './changes.ts'

type Sources = Parameters<typeof listChanges>[0]
const at = (hour: number) => Date.UTC(2026, 2, 1, hour)
const rows = [
  { time: at(3), kind: 'Schema', what: 'ALTER TABLE shop.orders ADD COLUMN a' },
  { time: at(5), kind: 'Version', what: '25.3 to 25.8' },
  { time: null, kind: 'Schema', what: 'a row without a time' },
  { time: at(4), kind: 'Mystery', what: 'a row of an unknown kind' },
]
const sources = {
  host: { data: { rows }, failure: null, receivedAtMs: 0 },
  recorded: [
    {
      atMs: at(2),
      kind: 'schema',
      hostId: 1,
      host: 'one',
      title: 'table shop.orders changed',
      detail: '',
      diff: '--- a',
      href: null,
    },
  ],
  deployments: [
    {
      id: 'd',
      kind: 'deployment',
      repository: 'acme/shop',
      version: 'v2',
      environment: 'production',
      outcome: 'failure',
      title: 'v2',
      by: 'ann',
      url: 'https://repository.example/d',
      atMs: at(6),
    },
  ],
  alerts: ['fire', 'remind', 'recover'].map((kind, index) => ({
    id: `${index}`,
    atMs: at(7 + index),
    kind,
    title: 'Disk full',
    severity: 'critical',
    hostId: 1,
  })),
  actions: [
    {
      id: 'a',
      atMs: at(10),
      actor: { kind: 'user', subject: 'ann' },
      action: 'kill-query',
      host: 'one',
      target: { queryId: 'q-1' },
      result: 'failed',
    },
  ],
} as unknown as Sources

describe('changes', () => {
  it('of all sources are listed newest first, without reminders, unknown kinds and rows without a time', () => {
    const listed = listChanges(sources, at(0), at(23))
    expect(listed.map(({ kind, text, detail }) => [kind, text, detail])).toEqual([
      ['Action', 'kill-query', 'by ann · failed · q-1'],
      ['Alert', 'Disk full recovered', 'critical'],
      ['Alert', 'Disk full fired', 'critical'],
      ['Deployment', 'acme/shop: v2', 'production · failure · by ann'],
      ['Version', '25.3 to 25.8', ''],
      ['Schema', 'ALTER TABLE shop.orders ADD COLUMN a', ''],
      ['Schema', 'table shop.orders changed', ''],
    ])
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
  })

  it('outside of the time range are left out', () => {
    expect(listChanges(sources, at(4), at(6)).map(({ kind }) => kind)).toEqual(['Deployment', 'Version'])
  })

  it('are filtered by kind and text, and grouped by day in the time zone', () => {
    const listed = listChanges(sources, at(0), at(23))
    expect(filterChanges(listed, 'Alert', ' FIRED ').map(({ text }) => text)).toEqual(['Disk full fired'])
    expect(filterChanges(listed, null, 'ann')).toHaveLength(2)
    expect(groupChangesByDay(listed, 'UTC')).toHaveLength(1)
    expect(groupChangesByDay(listed, 'America/Los_Angeles')).toHaveLength(2)
  })

  it('read the kind from the URL', () => {
    expect([readChangeKind('Alert'), readChangeKind('alert'), readChangeKind(null)]).toEqual(['Alert', null, null])
  })
})
