import { expect, it } from 'vitest'
import { dropOverlaps, filterAnnotations, toAnnotations } from './annotations.ts'

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
  sinceMs: 45,
  reason: '',
}

it('marks the first breach of an episode once, with its last severity', () => {
  const alerts = [
    { ...line, kind: 'recover', atMs: 70 },
    { ...line, kind: 'escalate', atMs: 60 },
    { ...line, kind: 'fire', severity: 'warning' as const, atMs: 50 },
    { ...line, kind: 'fire', episode: 'earlier', sinceMs: 20, atMs: 30 },
  ]
  expect(toAnnotations(undefined, alerts, [])).toEqual([
    { timeMs: 20, kind: 'Alert', text: 'Disk usage (critical)' },
    { timeMs: 45, kind: 'Alert', text: 'Disk usage (critical)' },
  ])
})

it('includes deployments with their outcome', () => {
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
  expect(toAnnotations(undefined, [{ ...line, kind: 'fire', atMs: 50 }], [deployment, release])).toEqual([
    { timeMs: 40, kind: 'Release', text: 'acme/shop: v1.2.0' },
    { timeMs: 45, kind: 'Alert', text: 'Disk usage (critical)' },
    { timeMs: 55, kind: 'Deploy', text: 'acme/shop: main a1b2c3d to production (failure)' },
  ])
})

it('finds the annotations of a bucket, excluding its end', () => {
  const list = [10, 20, 30].map((timeMs) => ({ timeMs, kind: 'Version', text: '' }))
  expect(filterAnnotations(list, 10, 20).map(({ timeMs }) => timeMs)).toEqual([10, 20])
})

it('drops overlapping annotations, but keeps an alert beside a change', () => {
  const list = [
    { timeMs: 0, kind: 'Schema', text: '' },
    { timeMs: 3, kind: 'Settings', text: '' },
    { timeMs: 4, kind: 'Alert', text: '' },
    { timeMs: 9, kind: 'Version', text: '' },
  ]
  expect(dropOverlaps(list, (timeMs) => timeMs, 6).map(({ timeMs }) => timeMs)).toEqual([0, 4, 9])
})
