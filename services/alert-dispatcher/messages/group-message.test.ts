import { expect, it } from 'vitest'
import type { Notification } from '../notification.ts'
import { buildChatBody } from '../channels/webhook.ts'
import { rawFormat } from '../channels/formats/raw.ts'
import { renderGroupMessage } from './group-message.ts'
import { maxGroupSize } from '../delivery/target-queue.ts'
import { createNotification } from '../delivery/testing/notification.ts'

const frame = {
  origin: 'watchhouse-1',
  instance: 'prod',
  dashboardUrl: 'https://watch.example',
  metadata: {},
  zone: 'UTC',
  isInteractive: true,
}
const hosts = new Map([['db', { id: 3, name: 'Database' }]])
const headline = (...notifications: readonly [Notification, ...Notification[]]) =>
  renderGroupMessage(notifications, frame, hosts).headline

it.each<[string, [Partial<Notification>, ...Partial<Notification>[]]]>([
  ['[prod] WARNING: Disk almost full on 2 hosts', [{ hostKey: 'db' }, { hostKey: 'other' }]],
  ['[prod] RECOVERED: Disk almost full on 2 hosts', [{ kind: 'recover' }, { kind: 'recover', hostKey: 'other' }]],
  [
    '[prod] STILL CRITICAL: Disk almost full on 2 hosts',
    [
      { kind: 'remind', severity: 'critical' },
      { kind: 'remind', severity: 'critical', hostKey: 'other' },
    ],
  ],
  [
    '[prod] CRITICAL: Disk almost full on 2 hosts',
    [
      { kind: 'escalate', severity: 'critical' },
      { severity: 'critical', hostKey: 'other' },
    ],
  ],
  ['[prod] WARNING: 2 conditions on Database', [{}, { ruleId: 'parts', title: 'Too many parts' }]],
  ['[prod] WARNING: 3 conditions on 2 hosts', [{}, { hostKey: 'other' }, { ruleId: 'parts', title: 'Too many parts' }]],
  [
    '[prod] WARNING: Backup failed: 2 conditions',
    [
      { hostKey: null, source: 'cron', title: 'Backup failed' },
      { hostKey: null, source: 'cron', title: 'Backup failed' },
    ],
  ],
])('has the headline %s', (expected, [first, ...others]) => {
  const of = (more: Partial<Notification>, index: number) => createNotification({ episode: `e${index}`, ...more })
  expect(headline(of(first, 0), ...others.map((more, index) => of(more, index + 1)))).toBe(expected)
})

it('lists place and value of each condition, and its rule if there are several', () => {
  const of = renderGroupMessage(
    [createNotification({ episode: 'a' }), createNotification({ episode: 'b', hostKey: 'other', value: 95 })],
    frame,
    hosts,
  )
  expect(of.gathered).toEqual(['Database (91.5 %)', 'other (95 %)'])
  const mixed = renderGroupMessage(
    [createNotification({ episode: 'a' }), createNotification({ episode: 'b', title: 'Parts' })],
    frame,
    hosts,
  )
  expect(mixed.gathered).toEqual([
    'WARNING: Disk almost full on Database (91.5 %)',
    'WARNING: Parts on Database (91.5 %)',
  ])
})

it('has one id per set of conditions, in any order', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((episode) => createNotification({ episode }))
  if (!a || !b || !c) throw new Error('expected three notifications')
  const id = (...notifications: readonly [Notification, ...Notification[]]) =>
    renderGroupMessage(notifications, frame, hosts).notification.id
  expect(id(a, b)).toBe(id(b, a))
  expect(id(a, b)).not.toBe(id(a, c))
})

it('contains each condition with its key in the raw format, and no buttons in chats', () => {
  const notifications = [
    createNotification({ episode: 'a' }),
    createNotification({ episode: 'b', hostKey: 'other' }),
  ] as const
  const message = renderGroupMessage(notifications, frame, hosts)
  const address = new URL('https://hooks.slack.com/services/x')
  expect(rawFormat.compose({ message, address, write: () => ({}), key: 'k' }).body).toMatchObject({
    event: 'group',
    rule: 'disk-usage',
    conditions: [
      { event: 'fire', dedup_key: 'a', sequence: 0, host_key: 'db', severity: 'warning' },
      { event: 'fire', dedup_key: 'b', host_key: 'other' },
    ],
  })
  expect(JSON.stringify(buildChatBody(message, { address }))).not.toContain('actions')
})

it('stays below 200 kB in the raw format at its maximum size', () => {
  const [first, ...others] = Array.from({ length: maxGroupSize }, (_, index) =>
    createNotification({
      episode: `0199${index}-aaaa-bbbb-cccc-dddddddddddd`,
      hostKey: `clickhouse-${index}.example.net`,
      ruleId: 'replication-queue-stuck',
    }),
  )
  if (!first) throw new Error('expected a notification')
  const { body } = rawFormat.compose({
    message: renderGroupMessage([first, ...others], frame, hosts),
    address: new URL('https://x.example/'),
    write: () => ({}),
    key: 'k',
  })
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(200_000)
})
