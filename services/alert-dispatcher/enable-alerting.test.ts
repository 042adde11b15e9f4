import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AlertSettings } from '#proto/alert-policy.ts'
import { createClock } from '#shared/time/clock.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { startDispatchers } from '../testing/alerts/dispatchers.ts'
import { type DispatcherBackends, openDispatcherBackends } from '../testing/alerts/dispatcher-backends.ts'
import type { FakeMonitoredHosts } from '../testing/alerts/fake-monitored-hosts.ts'
import { retryUntil } from '../testing/fetch-json.ts'

let ground: DispatcherBackends
beforeAll(async () => {
  ground = await openDispatcherBackends('memory')
})
afterAll(() => ground[Symbol.asyncDispose]())

/** Starts a dispatcher with two hosts that have one condition each. */
const open = async (env: Record<string, string>) => {
  const watched: FakeMonitoredHosts = { names: ['one', 'two'], values: { 'one/disk': 85, 'two/memory': 95 } }
  const clock = { ms: Date.UTC(2026, 0, 5, 12) }
  const dispatchers = await startDispatchers({
    place: await ground.next(),
    clock: createClock(() => clock.ms),
    env: { SVC_HEALTH_CONFIG_DIRECTORY: '/nowhere', ...env },
    watched,
  })
  const { alerts, call } = dispatchers
  return {
    watched,
    clock,
    dispatchers,
    sweep: () => alerts.sweep({}, call()),
    saveGeneral: (value: AlertSettings) =>
      alerts.updateAlertConfig({ update: { kind: 'general', value }, mustBe: null }, call()),
    hosts: async () => (await alerts.alertState({}, call())).hosts.map(({ hostKey }) => hostKey),
    [Symbol.asyncDispose]: () => dispatchers[Symbol.asyncDispose](),
  }
}

/** Starts a webhook that records the bodies it receives. */
const startWebhook = async () => {
  const bodies: string[] = []
  const server = await listenOnLoopback(
    createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString())
        response.end('ok')
      })
    }),
  )
  onTestFinished(server.stop)
  return { bodies, url: `${server.origin}/hook` }
}

describe('saved alert settings', () => {
  it('schedule sweeps without a restart', async () => {
    await using rig = await open({ SVC_HEALTH_SWEEP_ENABLED: '' })
    expect(await rig.sweep()).toMatchObject({ enabled: false })
    const { general } = await rig.saveGeneral({ sweepMinutes: 3 })
    expect(general).toMatchObject({
      sweepsEnabled: { value: true, source: 'database' },
      sweepMinutes: { value: 3, source: 'database' },
    })
    await rig.dispatchers.ticked()
    await rig.dispatchers.ticked()
    expect(await rig.hosts()).toEqual(['one', 'two'])
  })

  it('send what fired before they enabled alerting as one digest', async () => {
    const webhook = await startWebhook()
    await using rig = await open({ HEALTH_ALERT_WEBHOOK_URL: webhook.url })
    await rig.saveGeneral({ enabled: false })
    await rig.sweep()
    await rig.saveGeneral({ enabled: true })
    await rig.dispatchers.ticked()
    rig.watched.values['two/disk'] = 99
    rig.clock.ms += 10_000
    await rig.sweep()
    await rig.dispatchers.ticked()
    const bodies = await retryUntil(
      async () => webhook.bodies,
      ({ length }) => length >= 2,
    )
    expect(bodies).toHaveLength(2)
    const digest = bodies.find((body) => body.includes('DIGEST: '))
    expect(digest).toContain('2 conditions')
    expect(digest).toContain('firing since before alerting was enabled')
    expect(bodies.find((body) => body !== digest)).toContain('CRITICAL')
  })
})
