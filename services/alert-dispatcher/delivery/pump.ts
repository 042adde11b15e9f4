import type { Logger } from 'pino'
import type { Store, ClaimedMessage } from '#shared/store/store.ts'
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
  { store, log, limits = defaults }: { store: Store; log: Logger; limits?: PumpLimits | undefined },
  handOn: (notice: Notice) => Promise<void>,
): AsyncDisposable => {
  const stop = new AbortController()
  let isWanted = false
  let running: Promise<void> | undefined
  const run = async () => {
    while (isWanted && !stop.signal.aborted) {
      isWanted = false
      const claimed = await store.outbox.claim(limits.atOnce, limits.claimMs)
      if (claimed.length === limits.atOnce) isWanted = true
      await store.outbox.ack(await handedOn(claimed, handOn, log))
    }
  }
  const pump = () => {
    isWanted = true
    // A store that is away is asked again at the next wake, which comes every second.
    running ??= run()
      .catch((error: unknown) => log.warn({ err: error }, 'outbox cannot be read'))
      .finally(() => {
        running = undefined
      })
  }
  const listening = store.outbox.onAppend(pump)
  pump()
  return {
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]()
      stop.abort()
      await running
    },
  }
}

/** The ids of the messages that need not come again. */
const handedOn = async (
  claimed: readonly ClaimedMessage[],
  handOn: (notice: Notice) => Promise<void>,
  log: Logger,
): Promise<string[]> => {
  const read = claimed.map((message) => ({ ...message, notice: noticeIn(message) }))
  const unknown = read.filter(({ notice }) => notice === undefined)
  for (const { id, topic } of unknown) log.error({ id, topic }, 'outbox held what nobody knows; it is dropped')
  // A recovery must not overtake its fire, so each episode goes in its order and only the episodes go side by side.
  const episodes = Map.groupBy(read, ({ notice }) => notice?.episode)
  episodes.delete(undefined)
  const ended = await Promise.all(
    [...episodes.values()].map((messages) => handEpisode(messages.toSorted(bySequence), handOn, log)),
  )
  return [...unknown.map(({ id }) => id), ...ended.flat()]
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
): Promise<string[]> => {
  const ended: string[] = []
  for (const { id, attempt, notice } of messages) {
    try {
      if (notice) await handOn(notice)
      ended.push(id)
    } catch (error) {
      log.warn({ err: error, id, attempt }, 'notice not handed on; it comes again')
      return ended
    }
  }
  return ended
}
