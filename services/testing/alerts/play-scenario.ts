import { createClock } from '#shared/time/clock.ts'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { toOutboxMessage } from '../../alert-dispatcher/notification.ts'
import { webhookRig } from '../../alert-dispatcher/channels/testing/webhook.ts'
import { createNotification } from '../../alert-dispatcher/delivery/testing/notification.ts'
import { retryUntil } from '../fetch-json.ts'
import { type Dispatchers, startDispatchers } from './dispatchers.ts'
import type { DispatcherBackend } from './dispatcher-backends.ts'
import type { FakeMonitoredHosts } from './fake-monitored-hosts.ts'

/** A step of a scenario: its events, and all notifications that they cause, in any order. */
export interface ScenarioStep {
  /** Minutes since the previous step; a negative number sets the clock back. */
  after?: number
  /** The instant to set the clock to, in ISO 8601. */
  at?: string
  /** New values by `host/rule`. A sweep follows. Without new values, only time passes. */
  measured?: Record<string, number | null>
  /** The new host list, as host names. It remains in effect for all later steps. */
  hosts?: string[]
  /** Performs an action, such as one of an operator or a restart. */
  act?: (running: RunningScenario) => Promise<unknown>
  notifications?: readonly string[]
}

export interface Scenario {
  env?: Record<string, string>
  /** Number of dispatchers. Default: one. */
  count?: number
  hosts?: string[]
  moments: readonly ScenarioStep[]
}

/** The dispatchers of a running scenario, with their backend. */
export interface RunningScenario extends Dispatchers {
  place: DispatcherBackend
  /** Replaces all dispatchers with new ones. */
  restart(): Promise<void>
}

const begins = '2026-01-05T12:00:00Z'
const minuteMs = 60_000

/** Runs a scenario and returns its log. Throws if an expected message is missing or an unexpected one arrives. */
export const playScenario = async (
  place: DispatcherBackend,
  { env = {}, count, hosts, moments }: Scenario,
): Promise<string> => {
  await using scope = new AsyncDisposableStack()
  const chat = scope.use(await webhookRig.start())
  let nowMs = Date.parse(begins)
  const clock = createClock(() => nowMs)
  const watched: FakeMonitoredHosts = { names: hosts ?? ['one', 'two', 'three'], values: {} }
  const start = () => startDispatchers({ place, clock, watched, env: { ...webhookRig.env(chat.url), ...env }, count })
  let dispatchers = await start()
  scope.defer(() => dispatchers[Symbol.asyncDispose]())
  const running = (): RunningScenario => ({
    ...dispatchers,
    place,
    async restart() {
      await dispatchers[Symbol.asyncDispose]()
      dispatchers = await start()
    },
  })

  const expected: string[] = []
  for (const [index, { after = 0, at, measured, hosts: listed, act, notifications = [] }] of moments.entries()) {
    nowMs = at === undefined ? nowMs + after * minuteMs : Date.parse(at)
    if (listed) watched.names = listed
    await act?.(running())
    if (measured) {
      watched.values = measured
      await dispatchers.alerts.sweep({}, dispatchers.call())
    }
    expected.push(...notifications)
    await dispatchers.ticked()
    await expectMessages(place, chat, expected, `step ${index + 1}`)
  }
  return dispatchers.logged()
}

type Chat = Awaited<ReturnType<typeof webhookRig.start>>

/** Returns the headlines of the received messages, without their values. A digest becomes one line per condition. */
const messagesOf = ({ taken, wrong }: Chat): string[] => {
  if (wrong.length > 0) throw new Error(`a message was rejected: ${wrong.join(', ')}`)
  return taken.map(({ text }) => {
    const body = Body.parse(JSON.parse(text))
    const lines = body.attachments.flatMap((attachment) => attachment.text.split('\n'))
    return body.text.startsWith('DIGEST') ? lines.toSorted().join('; ') : body.text.replace(/ \(\d+ %\)$/, '')
  })
}

const Body = z.object({ text: z.string(), attachments: z.array(z.object({ text: z.string() })) })

const marker = 'TEST'

/**
 * Throws if an expected message is missing or an unexpected one has arrived. Before the check, waits for a marker
 * message, because all earlier messages arrive before it.
 */
const expectMessages = async (
  place: DispatcherBackend,
  chat: Chat,
  expected: readonly string[],
  when: string,
): Promise<void> => {
  const arrived = () => messagesOf(chat).filter((message) => !message.startsWith(marker))
  await retryUntil(
    async () => arrived(),
    (messages) => messages.length >= expected.length,
  ).catch((error: unknown) => {
    throw new Error(`${when}: missing ${JSON.stringify(subtractMessages(expected, arrived()))}`, { cause: error })
  })
  const before = messagesOf(chat).length - arrived().length
  await appendMarker(place)
  await retryUntil(
    async () => messagesOf(chat).length - arrived().length,
    (markers) => markers > before,
  )
  const [missing, extra] = [subtractMessages(expected, arrived()), subtractMessages(arrived(), expected)]
  if (missing.length + extra.length > 0)
    throw new Error(`${when}: missing ${JSON.stringify(missing)}, unexpected ${JSON.stringify(extra)}`)
}

const appendMarker = async (place: DispatcherBackend): Promise<void> => {
  await using store = await place.openStore()
  const notification = createNotification({ kind: 'test', episode: randomUUID(), title: 'marker' })
  await store.update(`test:${notification.episode}`, z.number(), () => ({
    value: 1,
    outbox: [toOutboxMessage(notification)],
  }))
}

/** Returns the multiset difference of two lists. */
const subtractMessages = (first: readonly string[], second: readonly string[]): string[] => {
  const rest = [...second]
  return first.filter((message) => {
    const at = rest.indexOf(message)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}
