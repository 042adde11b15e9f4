import { describe, expect, it } from 'vitest'
import { openInbound } from '../testing/inbound.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

describe('an inbound event', () => {
  it('that fires is told at once, reminds, escalates and recovers', async () => {
    await using inbound = await openInbound()
    expect(await inbound.hear({})).toEqual(['fire warning Disk full on prometheus'])
    expect(await inbound.hear({})).toEqual([])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['remind warning Disk full on prometheus'])
    inbound.nowMs += minuteMs
    expect(await inbound.hear({ severity: 'critical' })).toEqual(['escalate critical Disk full on prometheus'])
    inbound.nowMs += minuteMs
    expect(await inbound.hear({ status: 'resolved' })).toEqual(['recover critical Disk full on prometheus'])
    expect(await inbound.tick()).toEqual([])
    expect(await inbound.history()).toEqual([
      'fire: its source says so',
      'remind: still so 60 min after it was told last',
      'escalate: it has become worse',
      'recover: its source says that it is over',
    ])
  })

  it('says what it is about, and names itself so that routes can', async () => {
    await using inbound = await openInbound()
    const labels = { alertname: 'DiskFull' }
    const sinceMs = inbound.nowMs - hourMs
    await inbound.hear({
      labels,
      resource: 'db-1',
      body: '5 % are left',
      url: 'https://grafana/d',
      occurredAt: sinceMs,
    })
    expect(inbound.notices).toMatchObject([
      {
        hostKey: null,
        source: 'prometheus',
        ruleId: 'event:DiskFull',
        title: 'Disk full (db-1)',
        runbook: '5 % are left\n\nhttps://grafana/d',
        reason: 'its source says so',
        value: null,
        sinceMs,
      },
    ])
    await inbound.hear({ status: 'resolved' })
    expect(inbound.notices).toMatchObject([{ kind: 'recover', reason: 'its source says that it is over' }])
  })

  it('says in words why it was held, and of which source it was', async () => {
    await using inbound = await openInbound()
    const days = [0, 1, 2, 3, 4, 5, 6]
    const quiet = { id: 'q', days, start: '00:00', end: '24:00', timezone: 'UTC', severityCap: 'critical' } as const
    inbound.policy = { ...inbound.policy, quietHours: [quiet] }
    expect(await inbound.hear({})).toEqual([])
    inbound.policy = { ...inbound.policy, quietHours: [] }
    await inbound.tick()
    expect(inbound.notices).toMatchObject([{ reason: 'its source says so; it was held until now: quiet hours' }])
  })

  it('says what to do where its source has written that down, however long its text is', async () => {
    await using inbound = await openInbound()
    const labels = { runbook_url: 'https://runbooks/disk' }
    await inbound.hear({ labels, body: 'x'.repeat(5_000), url: 'https://grafana/d' })
    const told = inbound.notices[0]?.runbook ?? ''
    expect(told.length).toBe(4_000)
    expect(told.endsWith('x\n\nRunbook: https://runbooks/disk\n\nhttps://grafana/d')).toBe(true)
  })

  it.each([
    ['of severity info', { severity: 'info' as const }],
    ['that tells of something', { status: 'info' as const }],
    ['that somebody is at', { status: 'acknowledged' as const }],
    ['that began with us', { own: true }],
    ['that is over before it was heard of', { status: 'resolved' as const }],
  ])('%s tells nobody', async (_name, more) => {
    await using inbound = await openInbound()
    expect(await inbound.hear(more)).toEqual([])
    expect(await inbound.tick()).toEqual([])
  })

  it.each([
    [{ SVC_EVENTS_ALERTS_ENABLED: 'off' }, []],
    [{ SVC_EVENTS_ALERTS_EXCEPT_SOURCES: 'nagios, PROM*' }, []],
    [{ SVC_EVENTS_ALERTS_EXCEPT_SOURCES: 'nagios' }, ['fire critical b on prometheus', 'fire warning a on prometheus']],
    [{ SVC_EVENTS_ALERTS_MIN_SEVERITY: 'critical' }, ['fire critical b on prometheus']],
  ])('is told as %o has it', async (env, told) => {
    await using inbound = await openInbound()
    Object.assign(inbound.env, env)
    const both = await inbound.hear({ title: 'a', dedupKey: 'a' }, { title: 'b', dedupKey: 'b', severity: 'critical' })
    expect(both.toSorted()).toEqual(told)
  })

  it('ends whatever was switched off since it began', async () => {
    await using inbound = await openInbound()
    await inbound.hear({})
    inbound.env.SVC_EVENTS_ALERTS_ENABLED = 'off'
    expect(await inbound.hear({ status: 'resolved' })).toEqual(['recover warning Disk full on prometheus'])
  })

  it.each([
    ['info', {}],
    ['warning', { SVC_EVENTS_ALERTS_MIN_SEVERITY: 'critical' }],
  ] as const)('that has become %s where people are told of worse is over for them, with %o', async (severity, env) => {
    await using inbound = await openInbound()
    Object.assign(inbound.env, env)
    expect(await inbound.hear({ severity: 'critical' })).toEqual(['fire critical Disk full on prometheus'])
    expect(await inbound.hear({ severity })).toEqual(['recover critical Disk full on prometheus'])
    expect(await inbound.hear({ severity })).toEqual([])
    inbound.nowMs += minuteMs
    expect(await inbound.hear({ severity: 'critical' })).toEqual(['fire critical Disk full on prometheus'])
  })

  it('is one thing for its source and key only', async () => {
    await using inbound = await openInbound()
    const told = await inbound.hear({}, { dedupKey: 'l' }, { source: 'nagios' }, {})
    expect(told).toHaveLength(3)
    expect(await inbound.hear({ status: 'resolved' })).toHaveLength(1)
  })
})

describe('the order in which events happened', () => {
  it('counts, not that in which they came', async () => {
    await using inbound = await openInbound()
    const at = inbound.nowMs
    expect(await inbound.hear({ status: 'resolved', occurredAt: at }, { occurredAt: at - 1 })).toEqual([])
    expect(await inbound.hear({ occurredAt: at })).toEqual([])
    expect(await inbound.hear({ occurredAt: at + 1 })).toHaveLength(1)
    expect(await inbound.hear({ status: 'resolved', occurredAt: at })).toEqual([])
    expect(await inbound.hear({ severity: 'critical', occurredAt: at })).toEqual([])
    expect(await inbound.hear({ status: 'resolved', occurredAt: at + 2 })).toHaveLength(1)
  })

  it('is forgotten an hour after the end', async () => {
    await using inbound = await openInbound()
    const at = inbound.nowMs
    await inbound.hear({ occurredAt: at }, { status: 'resolved', occurredAt: at })
    inbound.nowMs += hourMs + 1
    await inbound.tick()
    expect(await inbound.hear({ occurredAt: at })).toHaveLength(1)
  })
})

describe('an inbound event of which nothing more is heard', () => {
  it('is over after a day without repeat', async () => {
    await using inbound = await openInbound()
    inbound.policy = { ...inbound.policy, cooldownMs: 0 }
    await inbound.hear({})
    inbound.nowMs += 23 * hourMs
    const at = inbound.nowMs - 23 * hourMs
    await inbound.hear({ occurredAt: at })
    inbound.nowMs += 23 * hourMs
    expect(await inbound.tick()).toEqual([])
    inbound.nowMs += hourMs
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
    expect(inbound.notices[0]?.reason).toBe('nothing more was heard of it')
    // Its source has not said that it is over, so the same word again begins it anew.
    expect(await inbound.hear({ occurredAt: at })).toEqual(['fire warning Disk full on prometheus'])
  })

  it('is told to nobody when it comes after its end, unless it goes on', async () => {
    await using inbound = await openInbound()
    const at = inbound.nowMs
    expect(await inbound.hear({ occurredAt: at, endsAt: at })).toEqual([])
    expect(await inbound.hear({ occurredAt: at, endsAt: at + minuteMs })).toHaveLength(1)
    inbound.nowMs += minuteMs
    expect(await inbound.hear({ occurredAt: at, endsAt: at + 2 * minuteMs })).toEqual([])
    expect(await inbound.tick()).toEqual([])
    inbound.nowMs += minuteMs
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })

  it('is over after the hours that are set, or at the end that its source named', async () => {
    await using inbound = await openInbound()
    inbound.env.SVC_EVENTS_ALERTS_HOURS = '2'
    inbound.policy = { ...inbound.policy, cooldownMs: 0 }
    await inbound.hear({}, { dedupKey: 'l', title: 'Short', endsAt: inbound.nowMs + minuteMs })
    inbound.nowMs += minuteMs
    expect(await inbound.tick()).toEqual(['recover warning Short on prometheus'])
    inbound.nowMs += 2 * hourMs
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })
})

describe('what operators have settled', () => {
  it('holds of inbound events too, and what was held is told when it may be', async () => {
    await using inbound = await openInbound()
    const { policy } = inbound
    inbound.policy = { ...policy, leastSeverity: 'critical' }
    expect(await inbound.hear({})).toEqual([])
    inbound.policy = { ...policy, enabled: false }
    expect(await inbound.tick()).toEqual([])
    inbound.policy = policy
    expect(await inbound.tick()).toEqual(['fire warning Disk full on prometheus'])
    inbound.policy = { ...policy, enabled: false }
    expect(await inbound.hear({ status: 'resolved' })).toEqual([])
    inbound.policy = policy
    expect(await inbound.tick()).toEqual(['recover warning Disk full on prometheus'])
  })
})

it('opens as many as there is room for, and one more that stands for all others', async () => {
  await using inbound = await openInbound(300)
  const events = Array.from({ length: 300 }, (_, index) => ({ dedupKey: `k${index}`, title: 'T' }))
  expect(await inbound.hear(...events)).toHaveLength(300)
  const overflow = '300 inbound events are open; nobody is told of further ones on watchhouse'
  expect(await inbound.hear({ dedupKey: 'one more' }, { dedupKey: 'another' }, { dedupKey: 'k7' })).toEqual([
    `fire warning ${overflow}`,
  ])
  expect(await inbound.tick()).toEqual([])
  expect(await inbound.hear({ dedupKey: 'k7', status: 'resolved' })).toHaveLength(1)
  expect(await inbound.tick()).toEqual([`recover warning ${overflow}`])
  expect(await inbound.hear({ dedupKey: 'one more' })).toHaveLength(1)
})
