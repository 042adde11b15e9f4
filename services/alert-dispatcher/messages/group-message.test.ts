import { expect, it } from 'vitest'
import type { Notice } from '../notice.ts'
import { chatBody } from '../channels/webhook.ts'
import { raw } from '../channels/formats/raw.ts'
import { groupMessageOf } from './group-message.ts'
import { maxGroup } from '../delivery/target-queue.ts'
import { noticeOf } from '../delivery/testing/notice.ts'

const frame = {
  origin: 'watchhouse-1',
  instance: 'prod',
  dashboardUrl: 'https://watch.example',
  metadata: {},
  zone: 'UTC',
  isInteractive: true,
}
const hosts = new Map([['db', { id: 3, name: 'Database' }]])
const headline = (...notices: readonly [Notice, ...Notice[]]) => groupMessageOf(notices, frame, hosts).headline

it.each<[string, [Partial<Notice>, ...Partial<Notice>[]]]>([
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
])('says %s', (expected, [first, ...others]) => {
  const of = (more: Partial<Notice>, index: number) => noticeOf({ episode: `e${index}`, ...more })
  expect(headline(of(first, 0), ...others.map((more, index) => of(more, index + 1)))).toBe(expected)
})

it('lists where each condition is, with its value, and names its own rule where there are several', () => {
  const of = groupMessageOf(
    [noticeOf({ episode: 'a' }), noticeOf({ episode: 'b', hostKey: 'other', value: 95 })],
    frame,
    hosts,
  )
  expect(of.gathered).toEqual(['Database (91.5 %)', 'other (95 %)'])
  const mixed = groupMessageOf([noticeOf({ episode: 'a' }), noticeOf({ episode: 'b', title: 'Parts' })], frame, hosts)
  expect(mixed.gathered).toEqual([
    'WARNING: Disk almost full on Database (91.5 %)',
    'WARNING: Parts on Database (91.5 %)',
  ])
})

it('has the same name for the same conditions, in any order, and another for others', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((episode) => noticeOf({ episode }))
  if (!a || !b || !c) throw new Error('three notices')
  const id = (...notices: readonly [Notice, ...Notice[]]) => groupMessageOf(notices, frame, hosts).notice.id
  expect(id(a, b)).toBe(id(b, a))
  expect(id(a, b)).not.toBe(id(a, c))
})

it('carries each condition with its own key in the raw form, and no buttons in a chat', () => {
  const notices = [noticeOf({ episode: 'a' }), noticeOf({ episode: 'b', hostKey: 'other' })] as const
  const message = groupMessageOf(notices, frame, hosts)
  const address = new URL('https://hooks.slack.com/services/x')
  expect(raw.compose({ message, address, write: () => ({}), key: 'k' }).body).toMatchObject({
    event: 'group',
    rule: 'disk-usage',
    conditions: [
      { event: 'fire', dedup_key: 'a', sequence: 0, host_key: 'db', severity: 'warning' },
      { event: 'fire', dedup_key: 'b', host_key: 'other' },
    ],
  })
  expect(JSON.stringify(chatBody(message, { address }))).not.toContain('actions')
})

it('stays below 200 kB in the raw form when it is as large as may be', () => {
  const [first, ...others] = Array.from({ length: maxGroup }, (_, index) =>
    noticeOf({
      episode: `0199${index}-aaaa-bbbb-cccc-dddddddddddd`,
      hostKey: `clickhouse-${index}.example.net`,
      ruleId: 'replication-queue-stuck',
    }),
  )
  if (!first) throw new Error('no notice')
  const { body } = raw.compose({
    message: groupMessageOf([first, ...others], frame, hosts),
    address: new URL('https://x.example/'),
    write: () => ({}),
    key: 'k',
  })
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(200_000)
})
