import { describe, expect, it } from 'vitest'
import { parseEvents } from './accept.ts'
import { normalizeEvent } from './normalize.ts'

const around = {
  idempotencyKey: undefined,
  index: 0,
  receivedAt: Date.UTC(2026, 2, 1),
  hops: 0,
  origin: 'watchhouse-0',
}

const keyOf = (sent: object): string => {
  const [draft] = parseEvents(JSON.stringify(sent), {})
  if (!draft || 'error' in draft) throw new Error('no event')
  const event = normalizeEvent(draft, around)
  if ('error' in event) throw new Error(event.error)
  return event.dedupKey
}

describe('the key of an event whose sender names none', () => {
  it.each<[string, object, object]>([
    ['two incidents without a title', { incident: 'checkout', state: 'down' }, { incident: 'login', state: 'down' }],
    ['one title on two hosts', { title: 'Disk full', host: 'a' }, { title: 'Disk full', host: 'b' }],
    ['one title of two teams', { title: 'Outage', team: 'shop' }, { title: 'Outage', team: 'login' }],
    ['one title under two ids', { title: 'Outage', id: '1' }, { title: 'Outage', id: '2' }],
    ['two messages', { message: 'checkout is down' }, { message: 'login is down' }],
    ['nested subjects', { data: { check: { name: 'a' } } }, { data: { check: { name: 'b' } } }],
  ])('distinguishes %s', (_name, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other))
  })

  it.each<[string, object, object]>([
    ['by title and host', { title: 'Disk', host: 'a', status: 'down' }, { title: 'Disk', host: 'a', status: 'up' }],
    ['by its id', { title: 'Outage', id: '1', status: 'open' }, { id: '1', status: 'closed' }],
    [
      'by the fields that stay the same',
      { incident: 'checkout', state: 'down', at: '2026-03-01T10:00:00Z', value: 95, message: 'timeout' },
      { incident: 'checkout', state: 'up', at: '2026-03-01T11:00:00Z', value: 12, message: 'ok' },
    ],
    ['in any order of its fields', { a: 'x', b: 'y' }, { b: 'y', a: 'x' }],
  ])('is the same at the end %s', (_name, firing, resolved) => {
    expect(keyOf(firing)).toBe(keyOf(resolved))
  })
})
