import { describe, expect, it } from 'vitest'
import { truncateText, formatDuration, formatQuantity } from './text.ts'
import { readMessageSettings, readMetadata } from './message-settings.ts'
import { renderMessage, toPlainText } from './message.ts'
import type { Notification } from '../notification.ts'
import { createNotification } from '../delivery/testing/notification.ts'

const hosts = new Map([['db', { id: 3, name: 'Database' }]])
const frame = {
  origin: 'watchhouse-0',
  instance: 'prod',
  dashboardUrl: 'https://watch.example',
  metadata: { team: 'storage' },
  zone: 'UTC',
  isInteractive: false,
}
const message = (more: Partial<Notification> = {}, text = frame) => renderMessage(createNotification(more), text, hosts)

describe('a message', () => {
  it('contains headline, facts and a link with the current id of its host', () => {
    expect(toPlainText(message({ sinceMs: 0, atMs: 7_500_000 }), 4_000)).toBe(
      [
        '[prod] WARNING: Disk almost full on Database (91.5 %)',
        'Host: Database',
        'Severity: warning',
        'Rule: disk-usage',
        'Value: 91.5 %',
        'Threshold: 90 %',
        'Since: 1970-01-01T00:00:00Z, for 2 h 5 min',
        'Reason: threshold reached',
        'Worst: default, cold',
        'team: storage',
        '',
        'Free some space.',
        '',
        'https://watch.example/health?host=3',
      ].join('\n'),
    )
  })

  it.each([
    [{ kind: 'fire', severity: 'critical' }, '[prod] CRITICAL: Disk almost full on Database (91.5 %)'],
    [{ kind: 'escalate', severity: 'critical' }, '[prod] CRITICAL: Disk almost full on Database (91.5 %)'],
    [{ kind: 'remind' }, '[prod] STILL WARNING: Disk almost full on Database (91.5 %)'],
    [{ unit: 'count', value: 3 }, '[prod] WARNING: Disk almost full on Database'],
    [{ unit: 'seconds', value: 7_500 }, '[prod] WARNING: Disk almost full on Database (2 h 5 min)'],
    [{ kind: 'recover' }, '[prod] RECOVERED: Disk almost full on Database'],
    [{ kind: 'recover', isUnseen: true }, '[prod] CLOSED: Disk almost full on Database'],
    [{ kind: 'test', hostKey: null }, '[prod] TEST: Disk almost full'],
    [{ hostKey: null, source: 'grafana', value: null }, '[prod] WARNING: Disk almost full, from grafana'],
    [
      { hostKey: null, source: 'webhook:default', title: 'Notifications fail for webhook:default', value: null },
      '[prod] WARNING: Notifications fail for webhook:default',
    ],
    [{ kind: 'notify', title: 'Weekly report of Database' }, '[prod] Weekly report of Database'],
    [{ hostKey: 'gone' }, '[prod] WARNING: Disk almost full on gone (91.5 %)'],
  ] as const)('of %j begins with %j', (more, headline) => {
    expect(message(more).headline).toBe(headline)
  })

  it('uses the time zone of COLUMNDB_TZ', () => {
    const { zone } = readMessageSettings({ COLUMNDB_TZ: 'Asia/Tokyo' })
    const text = toPlainText(message({ sinceMs: 1_790_000_000_999 }, { ...frame, zone }), 4_000)
    expect(text).toContain('Since: 2026-09-21T23:13:20+09:00')
    expect(message({ atMs: 0 }, { ...frame, zone }).at).toBe('1970-01-01T09:00:00+09:00')
    expect(readMessageSettings({}).zone).toBe('UTC')
  })

  it('links to the page of all hosts if its host left the list', () => {
    expect(message({ hostKey: 'gone' }).url).toBe('https://watch.example/health')
  })

  it('lists the entries of a digest', () => {
    const gathered = [
      {
        episode: 'e1',
        ruleId: 'r',
        hostKey: 'db',
        source: null,
        title: 'Parts',
        severity: 'warning',
        recovered: false,
      },
      {
        episode: 'e2',
        ruleId: 'r',
        hostKey: null,
        source: 'prometheus',
        title: 'Other',
        severity: 'warning',
        recovered: true,
      },
    ] as const
    const text = toPlainText(
      message({ kind: 'digest', hostKey: null, title: '2 conditions', gathered: [...gathered] }),
      4_000,
    )
    expect(text).toContain('[prod] DIGEST: 2 conditions\n')
    expect(text).toContain('WARNING: Parts on Database\nWARNING: Other, from prometheus (fired and recovered)')
  })

  it('removes line breaks from texts', () => {
    const { headline, facts } = message({ title: 'a\r\nBcc: x', offenders: ['t\u2028u', 'v\nw'], reason: 'r\0s' })
    expect(headline).toBe('[prod] WARNING: a Bcc: x on Database (91.5 %)')
    expect(facts.map(({ value }) => value).join('')).not.toMatch(/[\r\n\u2028\0]/)
  })

  it('shows yes-no values as words', () => {
    const text = toPlainText(message({ unit: 'yes-no', value: 1, threshold: 1 }), 4_000)
    expect(text).toContain('\nValue: yes\nSince: ')
  })

  it('keeps its link when it is cut', () => {
    const text = toPlainText(message({ runbook: 'word '.repeat(2_000) }), 500)
    expect(text.length).toBeLessThanOrEqual(500)
    expect(text).toMatch(/…\n\nhttps:\/\/watch\.example\/health\?host=3$/)
  })
})

describe('cutting a text', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['a😀b', 3, 'a…'],
    ['a👨‍👩‍👧b', 8, 'a…'],
    ['e\u0301e\u0301e\u0301', 4, 'e\u0301…'],
    ['abc', 0, ''],
    ['abc', 1, '…'],
  ])('%j to %s is %j', (text, length, expected) => {
    expect(truncateText(text, length)).toBe(expected)
  })
})

describe('message settings', () => {
  it.each([
    ['a=1,b=two', { a: '1', b: 'two' }],
    [' a = 1 , b=x=y', { a: '1', b: 'x=y' }],
    ['{"a":"1","b":2,"c":true,"d":null,"e":{}}', { a: '1', b: '2', c: 'true' }],
    ['{"a":', {}],
    ['no pair,=x,b a=1,ok=1', { ok: '1' }],
    [`${'k'.repeat(33)}=1,ok=1`, { ok: '1' }],
    [`a=${'v'.repeat(129)},b=${'v'.repeat(128)}`, { b: 'v'.repeat(128) }],
    ['{"a":"x\\ny","b":"z"}', { b: 'z' }],
    [undefined, {}],
  ])('parses the pairs of %j', (text, expected) => {
    expect(readMetadata(text)).toEqual(expected)
  })

  it('keeps at most ten pairs', () => {
    const pairs = Array.from({ length: 12 }, (_, index) => `k${index}=${index}`).join(',')
    expect(Object.keys(readMetadata(pairs))).toHaveLength(10)
  })

  it.each([
    ['https://watch.example', 'https://watch.example'],
    ['https://watch.example:8443//', 'https://watch.example:8443'],
    ['https://reader:secret@watch.example/base/?tab=1#top', 'https://watch.example/base'],
    ['ftp://watch.example', null],
    ['watch.example', null],
  ])('uses %s as base URL %s', (HEALTH_ALERT_DASHBOARD_URL, expected) => {
    expect(readMessageSettings({ HEALTH_ALERT_DASHBOARD_URL }).dashboardUrl).toBe(expected)
  })

  it('removes trailing slashes and cuts the name', () => {
    const env = {
      HEALTH_ALERT_INSTANCE_NAME: `a\n${'😀'.repeat(70)}`,
      HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example/base/',
    }
    const { instance, dashboardUrl } = readMessageSettings(env)
    expect(dashboardUrl).toBe('https://watch.example/base')
    expect([...(instance ?? '')]).toHaveLength(64)
    expect(instance).toMatch(/^a 😀/)
  })
})

it.each([
  [0, 'bytes', '0 bytes'],
  [1_536, 'bytes', '1.5 KiB'],
  [5 * 1024 ** 3, 'bytes-per-second', '5 GiB/s'],
  [91.456_78, 'percent', '91.46 %'],
  [1_234_567, 'rows', '1,234,567 rows'],
  [0.25, 'ratio', '0.25'],
  [3, 'count', '3'],
  [90, 'seconds', '90 s'],
  [2_726, 'seconds', '45 min'],
  [1, 'yes-no', 'yes'],
  [0, 'yes-no', 'no'],
  [2, 'level', 'failing'],
] as const)('writes %s %s as %j', (value, unit, expected) => {
  expect(formatQuantity(value, unit)).toBe(expected)
})

it.each([
  [500, '1 s'],
  [59_000, '59 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('formats %s ms as %j', (ms, expected) => {
  expect(formatDuration(ms)).toBe(expected)
})
