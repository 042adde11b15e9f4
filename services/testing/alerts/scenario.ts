import { clockOf } from '#shared/time/clock.ts'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { asMessage } from '../../alert-dispatcher/notification.ts'
import { webhookRig } from '../../alert-dispatcher/channels/testing/webhook.ts'
import { notificationOf } from '../../alert-dispatcher/delivery/testing/notification.ts'
import { eventually } from '../ask.ts'
import { type Dispatchers, startDispatchers } from './dispatchers.ts'
import type { Place } from './ground.ts'
import type { WatchedHosts } from './watched-hosts.ts'

/** One moment of a scenario: what happens then, and every message that people get by it, in any order. */
export interface Moment {
  /** Minutes after the moment before; less than none sets the clock back. */
  after?: number
  /** Sets the clock. */
  at?: string
  /** What hosts measure from now on, by `host/rule`; a sweep finds it. Without it time alone passes. */
  measured?: Record<string, number | null>
  /** The host list from now on. */
  hosts?: string[]
  /** What an operator does. */
  act?: (running: Running) => Promise<unknown>
  told?: readonly string[]
}

export interface Scenario {
  env?: Record<string, string>
  /** Dispatchers on the same servers. */
  count?: number
  hosts?: string[]
  moments: readonly Moment[]
}

/** A scenario on its way. */
export interface Running extends Dispatchers {
  place: Place
  /** Ends the dispatchers and starts others in their place. */
  restart(): Promise<void>
}

const begins = '2026-01-05T12:00:00Z'
const minuteMs = 60_000

/** Plays a scenario. Fails on the first message that is missing, and on any that is not expected. */
export const play = async (place: Place, { env = {}, count, hosts, moments }: Scenario): Promise<string> => {
  await using scope = new AsyncDisposableStack()
  const chat = scope.use(await webhookRig.start())
  let nowMs = Date.parse(begins)
  const clock = clockOf(() => nowMs)
  const watched: WatchedHosts = { names: hosts ?? ['one', 'two', 'three'], values: {} }
  const start = () => startDispatchers({ place, clock, watched, env: { ...webhookRig.env(chat.url), ...env }, count })
  let dispatchers = await start()
  scope.defer(() => dispatchers[Symbol.asyncDispose]())
  const running = (): Running => ({
    ...dispatchers,
    place,
    async restart() {
      await dispatchers[Symbol.asyncDispose]()
      dispatchers = await start()
    },
  })

  const expected: string[] = []
  for (const [index, { after = 0, at, measured, hosts: listed, act, told = [] }] of moments.entries()) {
    nowMs = at === undefined ? nowMs + after * minuteMs : Date.parse(at)
    if (listed) watched.names = listed
    await act?.(running())
    if (measured) {
      watched.values = measured
      await dispatchers.alerts.sweep({}, dispatchers.call())
    }
    expected.push(...told)
    await dispatchers.ticked()
    await expectMessages(place, chat, expected, `moment ${index + 1}`)
  }
  return dispatchers.logged()
}

type Chat = Awaited<ReturnType<typeof webhookRig.start>>

/** What people have got: a headline each without its figure, of a digest with a line for each condition. */
const messagesOf = ({ taken, wrong }: Chat): string[] => {
  if (wrong.length > 0) throw new Error(`a message was refused: ${wrong.join(', ')}`)
  return taken.map(({ text }) => {
    const body = Body.parse(JSON.parse(text))
    const lines = body.attachments.flatMap((attachment) => attachment.text.split('\n'))
    return body.text.startsWith('DIGEST') ? lines.toSorted().join('; ') : body.text.replace(/ \(\d+ %\)$/, '')
  })
}

const Body = z.object({ text: z.string(), attachments: z.array(z.object({ text: z.string() })) })

const marker = 'TEST'

/** Sends a message of our own after them, so that what was on its way before it has arrived. */
const expectMessages = async (place: Place, chat: Chat, expected: readonly string[], when: string): Promise<void> => {
  const arrived = () => messagesOf(chat).filter((message) => !message.startsWith(marker))
  await eventually(
    async () => arrived(),
    (messages) => messages.length >= expected.length,
  ).catch((error: unknown) => {
    throw new Error(`${when}: missing ${JSON.stringify(left(expected, arrived()))}`, { cause: error })
  })
  const before = messagesOf(chat).length - arrived().length
  await appendMarker(place)
  await eventually(
    async () => messagesOf(chat).length - arrived().length,
    (markers) => markers > before,
  )
  const [missing, extra] = [left(expected, arrived()), left(arrived(), expected)]
  if (missing.length + extra.length > 0)
    throw new Error(`${when}: missing ${JSON.stringify(missing)}, not expected ${JSON.stringify(extra)}`)
}

const appendMarker = async (place: Place): Promise<void> => {
  await using store = await place.openStore()
  const notification = notificationOf({ kind: 'test', episode: randomUUID(), title: 'marker' })
  await store.update(`test:${notification.episode}`, z.number(), () => ({
    value: 1,
    outbox: [asMessage(notification)],
  }))
}

/** What is in the first and not in the second, each as often as it is. */
const left = (first: readonly string[], second: readonly string[]): string[] => {
  const rest = [...second]
  return first.filter((message) => {
    const at = rest.indexOf(message)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}
