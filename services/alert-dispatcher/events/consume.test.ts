import { describe, expect, it } from 'vitest'
import { openInboundFixture } from '../testing/inbound.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

describe('an inbound event', () => {
  it('sends an alert at once, reminders, escalations and the recovery', async () => {
    await using inbound = await openInboundFixture()
    expect(await inbound.process({})).toEqual(['fire warning Disk full on prometheus'])
    expect(await inbound.process({})).toEqual([])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['remind warning Disk full on prometheus'])
    inbound.nowMs += minuteMs
    expect(await inbound.process({ severity: 'critical' })).toEqual(['escalate critical Disk full on prometheus'])
    inbound.nowMs += minuteMs
    expect(await inbound.process({ status: 'resolved' })).toEqual(['recover critical Disk full on prometheus'])
    expect(await inbound.tick()).toEqual([])
    expect(await inbound.history()).toEqual([
      'fire: reported by its source',
      'remind: still firing, 60 min after the last notification',
      'escalate: severity increased to critical',
      'recover: resolved by its source',
    ])
  })

  it('contains its subject and an id that routes can match', async () => {
    await using inbound = await openInboundFixture()
    const labels = { alertname: 'DiskFull' }
    const sinceMs = inbound.nowMs - hourMs
    await inbound.process({
      labels,
      resource: 'db-1',
      body: '5 % are left',
      url: 'https://grafana/d',
      occurredAt: sinceMs,
    })
    expect(inbound.notifications).toMatchObject([
      {
        hostKey: null,
        source: 'prometheus',
        ruleId: 'event:DiskFull',
        title: 'Disk full (db-1)',
        runbook: '5 % are left\n\nhttps://grafana/d',
        reason: 'reported by its source',
        value: null,
        sinceMs,
      },
    ])
    await inbound.process({ status: 'resolved' })
    expect(inbound.notifications).toMatchObject([{ kind: 'recover', reason: 'resolved by its source' }])
  })

  it('explains why it was held and names its source', async () => {
    await using inbound = await openInboundFixture()
    const days = [0, 1, 2, 3, 4, 5, 6]
    const quiet = { id: 'q', days, start: '00:00', end: '24:00', timezone: 'UTC', severityCap: 'critical' } as const
    inbound.policy = { ...inbound.policy, quietHours: [quiet] }
    expect(await inbound.process({})).toEqual([])
    inbound.policy = { ...inbound.policy, quietHours: [] }
    await inbound.tick()
    expect(inbound.notifications).toMatchObject([{ reason: 'reported by its source; held until now: quiet hours' }])
  })

  it('contains the runbook link, even with a long text', async () => {
    await using inbound = await openInboundFixture()
    const labels = { runbook_url: 'https://runbooks/disk' }
    await inbound.process({ labels, body: 'x'.repeat(5_000), url: 'https://grafana/d' })
    const notified = inbound.notifications[0]?.runbook ?? ''
    expect(notified.length).toBe(4_000)
    expect(notified.endsWith('x\n\nRunbook: https://runbooks/disk\n\nhttps://grafana/d')).toBe(true)
  })

  it.each([
    ['of severity info', { severity: 'info' as const }],
    ['that is informational', { status: 'info' as const }],
    ['that is acknowledged', { status: 'acknowledged' as const }],
    ['that originates from this installation', { own: true }],
    ['that resolves before it fired', { status: 'resolved' as const }],
  ])('%s sends nothing', async (_name, more) => {
    await using inbound = await openInboundFixture()
    expect(await inbound.process(more)).toEqual([])
    expect(await inbound.tick()).toEqual([])
  })

  it.each([
    [{ SVC_EVENTS_ALERTS_ENABLED: 'off' }, []],
    [{ SVC_EVENTS_ALERTS_EXCEPT_SOURCES: 'nagios, PROM*' }, []],
    [{ SVC_EVENTS_ALERTS_EXCEPT_SOURCES: 'nagios' }, ['fire critical b on prometheus', 'fire warning a on prometheus']],
    [{ SVC_EVENTS_ALERTS_MIN_SEVERITY: 'critical' }, ['fire critical b on prometheus']],
  ])('sends notifications as configured by %o', async (env, notified) => {
    await using inbound = await openInboundFixture()
    Object.assign(inbound.env, env)
    const both = await inbound.process(
      { title: 'a', dedupKey: 'a' },
      { title: 'b', dedupKey: 'b', severity: 'critical' },
    )
    expect(both.toSorted()).toEqual(notified)
  })

  it('closes even if event alerts were disabled since', async () => {
    await using inbound = await openInboundFixture()
    await inbound.process({})
    inbound.env.SVC_EVENTS_ALERTS_ENABLED = 'off'
    expect(await inbound.process({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
  })

  it.each([
    ['info', {}],
    ['warning', { SVC_EVENTS_ALERTS_MIN_SEVERITY: 'critical' }],
  ] as const)('closes when it drops to %s below the minimum severity, with %o', async (severity, env) => {
    await using inbound = await openInboundFixture()
    Object.assign(inbound.env, env)
    expect(await inbound.process({ severity: 'critical' })).toEqual(['fire critical Disk full on prometheus'])
    expect(await inbound.process({ severity })).toEqual(['recover critical Disk full on prometheus'])
    expect(await inbound.process({ severity })).toEqual([])
    inbound.nowMs += minuteMs
    expect(await inbound.process({ severity: 'critical' })).toEqual(['fire critical Disk full on prometheus'])
  })

  it('is identified by source and key', async () => {
    await using inbound = await openInboundFixture()
    const notified = await inbound.process({}, { dedupKey: 'l' }, { source: 'nagios' }, {})
    expect(notified).toHaveLength(3)
    expect(await inbound.process({ status: 'resolved' })).toHaveLength(1)
  })
})

describe('the order of events', () => {
  it('follows their time, not their arrival', async () => {
    await using inbound = await openInboundFixture()
    const at = inbound.nowMs
    expect(await inbound.process({ status: 'resolved', occurredAt: at }, { occurredAt: at - 1 })).toEqual([])
    expect(await inbound.process({ occurredAt: at })).toEqual([])
    expect(await inbound.process({ occurredAt: at + 1 })).toHaveLength(1)
    expect(await inbound.process({ status: 'resolved', occurredAt: at })).toEqual([])
    expect(await inbound.process({ severity: 'critical', occurredAt: at })).toEqual([])
    expect(await inbound.process({ status: 'resolved', occurredAt: at + 2 })).toHaveLength(1)
  })

  it('is remembered for an hour after the end', async () => {
    await using inbound = await openInboundFixture()
    const at = inbound.nowMs
    await inbound.process({ occurredAt: at }, { status: 'resolved', occurredAt: at })
    inbound.nowMs += hourMs + 1
    await inbound.tick()
    expect(await inbound.process({ occurredAt: at })).toHaveLength(1)
  })
})

describe('an inbound event that is not repeated', () => {
  it('expires after a day', async () => {
    await using inbound = await openInboundFixture()
    inbound.policy = { ...inbound.policy, cooldownMs: 0 }
    await inbound.process({})
    inbound.nowMs += 23 * hourMs
    const at = inbound.nowMs - 23 * hourMs
    await inbound.process({ occurredAt: at })
    inbound.nowMs += 23 * hourMs
    expect(await inbound.tick()).toEqual([])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
    expect(inbound.notifications[0]?.reason).toBe('expired: its source sent no further event')
    // The source did not report an end, so the same event opens a new episode.
    expect(await inbound.process({ occurredAt: at })).toEqual(['fire warning Disk full on prometheus'])
  })

  it('sends nothing if it arrives after its end, unless it is extended', async () => {
    await using inbound = await openInboundFixture()
    const at = inbound.nowMs
    expect(await inbound.process({ occurredAt: at, endsAt: at })).toEqual([])
    expect(await inbound.process({ occurredAt: at, endsAt: at + minuteMs })).toHaveLength(1)
    inbound.nowMs += minuteMs
    expect(await inbound.process({ occurredAt: at, endsAt: at + 2 * minuteMs })).toEqual([])
    expect(await inbound.tick()).toEqual([])
    inbound.nowMs += minuteMs
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })

  it('expires after the configured hours or at the end that its source states', async () => {
    await using inbound = await openInboundFixture()
    inbound.env.SVC_EVENTS_ALERTS_HOURS = '2'
    inbound.policy = { ...inbound.policy, cooldownMs: 0 }
    await inbound.process({}, { dedupKey: 'l', title: 'Short', endsAt: inbound.nowMs + minuteMs })
    inbound.nowMs += minuteMs
    expect(await inbound.tick()).toEqual(['recover warning Short on prometheus'])
    inbound.nowMs += 2 * hourMs
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })
})

describe('alert configuration', () => {
  it('applies to inbound events, and held notifications are sent later', async () => {
    await using inbound = await openInboundFixture()
    const { policy } = inbound
    inbound.policy = { ...policy, leastSeverity: 'critical' }
    expect(await inbound.process({})).toEqual([])
    inbound.policy = { ...policy, enabled: false }
    expect(await inbound.tick()).toEqual([])
    inbound.policy = policy
    expect(await inbound.tick()).toEqual(['fire warning Disk full on prometheus'])
    inbound.policy = { ...policy, enabled: false }
    expect(await inbound.process({ status: 'resolved' })).toEqual([])
    inbound.policy = policy
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })
})

it('opens conditions up to the limit, and one more for all others', async () => {
  await using inbound = await openInboundFixture(300)
  const events = Array.from({ length: 300 }, (_, index) => ({ dedupKey: `k${index}`, title: 'T' }))
  expect(await inbound.process(...events)).toHaveLength(300)
  const overflow = '300 inbound events are open; further ones send no notifications on watchhouse'
  expect(await inbound.process({ dedupKey: 'one more' }, { dedupKey: 'another' }, { dedupKey: 'k7' })).toEqual([
    `fire warning ${overflow}`,
  ])
  expect(await inbound.tick()).toEqual([])
  expect(await inbound.process({ dedupKey: 'k7', status: 'resolved' })).toHaveLength(1)
  expect(await inbound.tick()).toEqual([`recover warning ${overflow}`])
  expect(await inbound.process({ dedupKey: 'one more' })).toHaveLength(1)
})
