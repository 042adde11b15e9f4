import { expect, it } from 'vitest'
import { describeDeadLetter } from './dead-letter-text.ts'

const common = { id: '7', atMs: 1, reason: 'HTTP 404' }
const alert = { channel: 'webhook', target: 'team', kind: 'fire', episode: 'e', hostId: 0 } as const
const event = { event: 'a1', status: 'firing' } as const

it.each([
  [
    { ...common, ...alert, stream: 'DELIVER', title: 'Disk full', severity: 'critical', host: 'db' },
    { title: 'Disk full', on: 'db', path: 'To team', severity: 'critical', isReadable: true },
  ],
  [
    { ...common, ...event, stream: 'EVENTS', title: 'Disk full', severity: 'info', source: 'grafana' },
    { title: 'Disk full', on: null, path: 'Inbound event from grafana', severity: 'info', isReadable: true },
  ],
  [
    { ...common, stream: 'EVENTS', event: null, status: null, title: null, severity: null, source: null },
    { title: 'Unreadable event', on: null, path: 'Inbound event', severity: 'warning', isReadable: false },
  ],
] as const)('describes %o as %o', (letter, words) => expect(describeDeadLetter(letter)).toEqual(words))
