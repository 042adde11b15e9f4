import { describe, expect, it } from 'vitest'
import { filterChanges, groupChangesByDay, listChanges, readChangeKind, readChangeScope } from './changes.ts'

type Sources = Parameters<typeof listChanges>[0]
const at = (hour: number) => Date.UTC(2026, 2, 1, hour)
const rows = [
  { time: at(2) - 5_000, kind: 'Schema', what: 'ALTER TABLE shop.orders whose result is recorded' },
  { time: at(3), kind: 'Schema', what: 'ALTER TABLE shop.orders ADD COLUMN a' },
  { time: at(5), kind: 'Server', what: 'SYSTEM RELOAD CONFIG' },
  { time: null, kind: 'Schema', what: 'a row without a time' },
  { time: at(4), kind: 'Mystery', what: 'a row of an unknown kind' },
]
const recorded = (hour: number, kind: string, title: string, more: object = {}) => ({
  atMs: at(hour),
  kind,
  hostId: 1,
  host: 'one',
  title,
  detail: '',
  diff: null,
  href: null,
  ...more,
})
const sources = {
  log: { data: { rows }, failure: null, receivedAtMs: 0 },
  logHost: 'one',
  recorded: [
    recorded(2, 'schema', 'table shop.orders changed', { diff: '--- a' }),
    recorded(6, 'deployment', 'acme/shop: v2', { hostId: null, host: null, href: 'https://repository.example/d' }),
    recorded(7, 'alert', 'Disk full fired', { detail: 'critical', href: '/incidents/e' }),
    recorded(8, 'weather', 'a kind of a newer release'),
    recorded(10, 'action', 'kill query', { detail: 'by ann, q-1', href: '/audit?action=kill-query' }),
  ],
} as unknown as Sources

describe('changes', () => {
  it('of the timeline and the log are listed newest first, each of them once', () => {
    const listed = listChanges(sources, at(0), at(23))
    expect(listed.map(({ kind, text, href }) => [kind, text, href])).toEqual([
      ['Action', 'kill query', '/audit?action=kill-query&host=1'],
      ['Alert', 'Disk full fired', '/incidents/e?host=1'],
      ['Deployment', 'acme/shop: v2', 'https://repository.example/d'],
      ['Server', 'SYSTEM RELOAD CONFIG', null],
      ['Schema', 'ALTER TABLE shop.orders ADD COLUMN a', null],
      ['Schema', 'table shop.orders changed', null],
    ])
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
  })

  it('outside of the time range are left out', () => {
    expect(listChanges(sources, at(4), at(6)).map(({ kind }) => kind)).toEqual(['Deployment', 'Server'])
  })

  it('are filtered by kind and text, and grouped by day in the time zone', () => {
    const listed = listChanges(sources, at(0), at(23))
    expect(filterChanges(listed, 'Alert', ' FIRED ').map(({ text }) => text)).toEqual(['Disk full fired'])
    expect(filterChanges(listed, null, 'ann')).toHaveLength(1)
    expect(groupChangesByDay(listed, 'UTC')).toHaveLength(1)
    expect(groupChangesByDay(listed, 'America/Los_Angeles')).toHaveLength(2)
  })

  it('read kind and hosts from the URL', () => {
    expect([readChangeKind('Alert'), readChangeKind('alert'), readChangeKind(null)]).toEqual(['Alert', null, null])
    const read = (text: string) => readChangeScope(new URLSearchParams(text), 3)
    expect([read(''), read('hosts=all'), read('group=eu&hosts=all')]).toEqual([{ hostId: 3 }, {}, { group: 'eu' }])
  })
})
