import type { Logger } from 'pino'
import { openOutage } from '#shared/telemetry/outage.ts'
import type { ClaimedMessage, Outbox, Store } from '#shared/store/store.ts'
import { Notice, noticeTopic } from '../notice.ts'

/** Bounds of the pump; tests shorten the time. */
export interface PumpLimits {
  /** Messages handed on at once. */
  atOnce: number
  /** Who died with a message has it taken over after this long. */
  claimMs: number
}

const defaults: PumpLimits = { atOnce: 200, claimMs: 10_000 }

/** Hands on whatever the outbox holds until disposed: each notice at least once, acknowledged when it is safe elsewhere. */
export const startPump = (
  { store: { outbox }, log, limits = defaults }: { store: Store; log: Logger; limits?: PumpLimits | undefined },
  handOn: (notice: Notice) => Promise<void>,
): AsyncDisposable => {
  let running: Promise<void> | undefined
  const outage = openOutage(log, { begins: 'outbox cannot be read', ends: 'outbox is read again' })
  const run = async () => {
    try {
      for (let some = source.next(); some; some = source.next()) {
        await outbox.ack((await handedOn(await some, handOn, log)).map(({ id }) => id))
        outage.worked()
      }
    } catch (error) {
      // A store that is away is asked again at the next wake, which comes every second.
      outage.failed(error)
    } finally {
      // With the last look and not after it: what comes in between would lie there until the next wake.
      running = undefined
    }
  }
  const start = () => {
    running ??= run()
  }
  const source = openSource(outbox, limits, start)
  start()
  return {
    async [Symbol.asyncDispose]() {
      source[Symbol.dispose]()
      await running
    },
  }
}

/** Where notices come from; disposed, it gives only what it has claimed. */
interface Source extends Disposable {
  /** Undefined, and that at once, while there is nothing to look for. */
  next(): Promise<readonly ClaimedMessage[]> | undefined
}

/** First what is decided in this process, which the deciding write claims for it, then what lies in the outbox. `wake` tells of either. */
const openSource = (outbox: Outbox, { atOnce, claimMs }: PumpLimits, wake: () => void): Source => {
  const own: ClaimedMessage[] = []
  let isWanted = true
  let isOver = false
  const claim = async () => {
    const claimed = await outbox.claim(atOnce, claimMs)
    if (claimed.length === atOnce && !isOver) isWanted = true
    return claimed
  }
  const look = () => {
    isWanted = true
    wake()
  }
  const take = (messages: readonly ClaimedMessage[]) => {
    own.push(...messages)
    wake()
  }
  const taking = outbox.takeOwn({ claimMs, hasRoom: () => own.length < atOnce, take })
  const listening = outbox.onAppend(look)
  return {
    next() {
      if (own.length > 0) return Promise.resolve(own.splice(0, atOnce))
      if (!isWanted) return undefined
      isWanted = false
      return claim()
    },
    [Symbol.dispose]() {
      taking[Symbol.dispose]()
      listening[Symbol.dispose]()
      isWanted = false
      isOver = true
    },
  }
}

/** The messages that need not come again. */
const handedOn = async (
  claimed: readonly ClaimedMessage[],
  handOn: (notice: Notice) => Promise<void>,
  log: Logger,
): Promise<ClaimedMessage[]> => {
  const read = claimed.map((message) => ({ ...message, notice: noticeIn(message) }))
  const unknown = read.filter(({ notice }) => notice === undefined)
  for (const { id, topic } of unknown) log.error({ id, topic }, 'outbox held what nobody knows; it is dropped')
  // A recovery must not overtake its fire, so each episode goes in its order and only the episodes go side by side.
  const episodes = Map.groupBy(read, ({ notice }) => notice?.episode)
  episodes.delete(undefined)
  const ended = await Promise.all(
    [...episodes.values()].map((messages) => handEpisode(messages.toSorted(bySequence), handOn, log)),
  )
  return [...unknown, ...ended.flat()]
}

type Read = ClaimedMessage & { notice: Notice | undefined }

const noticeIn = ({ topic, payload }: ClaimedMessage): Notice | undefined =>
  topic === noticeTopic ? Notice.safeParse(payload).data : undefined

const bySequence = (one: Read, other: Read): number => (one.notice?.sequence ?? 0) - (other.notice?.sequence ?? 0)

/** Ends with the first that fails, for the others are about what follows it. */
const handEpisode = async (
  messages: readonly Read[],
  handOn: (notice: Notice) => Promise<void>,
  log: Logger,
): Promise<Read[]> => {
  const ended: Read[] = []
  for (const message of messages) {
    const { id, attempt, notice } = message
    try {
      if (notice) await handOn(notice)
      ended.push(message)
    } catch (error) {
      log.warn({ err: error, id, attempt }, 'notice not handed on; it comes again')
      return ended
    }
  }
  return ended
}
