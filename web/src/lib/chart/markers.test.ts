import { expect, it } from 'vitest'
import { apart, markersIn, toMarkers } from './markers.ts'

const line = {
  id: '1',
  hostId: 0,
  host: 'one',
  ruleId: 'disk',
  episode: 'e',
  severity: 'critical' as const,
  title: 'Disk usage',
  value: 95,
  threshold: 90,
  sinceMs: 0,
  reason: '',
}

it('puts what fired and what changed in the order of time, and leaves out what only ended', () => {
  const alerts = [
    { ...line, kind: 'fire', atMs: 50 },
    { ...line, kind: 'recover', atMs: 60 },
  ]
  expect(toMarkers(undefined, alerts, [])).toEqual([{ timeMs: 50, kind: 'Alert', text: 'Disk usage (critical)' }])
})

it('puts what was put into use between them, and says how it ended', () => {
  const deployment = {
    id: 'deployment:1',
    kind: 'deployment',
    repository: 'acme/shop',
    version: 'main a1b2c3d',
    environment: 'production',
    outcome: 'failure',
    title: 'main a1b2c3d to production',
    by: null,
    url: null,
    atMs: 55,
  }
  const release = { ...deployment, kind: 'release', title: 'v1.2.0', outcome: null, atMs: 40 }
  expect(toMarkers(undefined, [{ ...line, kind: 'fire', atMs: 50 }], [deployment, release])).toEqual([
    { timeMs: 40, kind: 'Release', text: 'acme/shop: v1.2.0' },
    { timeMs: 50, kind: 'Alert', text: 'Disk usage (critical)' },
    { timeMs: 55, kind: 'Deploy', text: 'acme/shop: main a1b2c3d to production (failure)' },
  ])
})

it('finds the marks of a bucket, whose end belongs to the next', () => {
  const list = [10, 20, 30].map((timeMs) => ({ timeMs, kind: 'Version', text: '' }))
  expect(markersIn(list, 10, 20).map(({ timeMs }) => timeMs)).toEqual([10, 20])
})

it('draws one mark where several would lie on one another, but an alert beside a change', () => {
  const list = [
    { timeMs: 0, kind: 'Schema', text: '' },
    { timeMs: 3, kind: 'Settings', text: '' },
    { timeMs: 4, kind: 'Alert', text: '' },
    { timeMs: 9, kind: 'Version', text: '' },
  ]
  expect(apart(list, (timeMs) => timeMs, 6).map(({ timeMs }) => timeMs)).toEqual([0, 4, 9])
})
