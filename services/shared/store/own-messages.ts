import type { MessageText } from './driver.ts'
import { messageOf } from './message-of.ts'
import type { Outbox, OwnTaker } from './store.ts'

/** Messages that the process which appends them takes itself. */
export interface OwnMessages {
  takeOwn: Outbox['takeOwn']
  /** For a write that is to append them: undefined while nobody takes them. */
  claimFor(messages: readonly MessageText[]): { claimMs: number; handOver(place: number): void } | undefined
}

/** Those of one store. */
export const ownMessages = (): OwnMessages => {
  let taker: OwnTaker | undefined
  return {
    takeOwn(given) {
      taker = given
      return {
        [Symbol.dispose]: () => {
          if (taker === given) taker = undefined
        },
      }
    },
    claimFor(messages) {
      const takes = taker
      if (messages.length === 0 || !takes?.hasRoom()) return undefined
      return {
        claimMs: takes.claimMs,
        handOver: (place) => takes.take(messages.map(({ id, text }) => messageOf({ id, text, place, attempt: 1 }))),
      }
    },
  }
}
