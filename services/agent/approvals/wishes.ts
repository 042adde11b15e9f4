import type { ControlWish, agent } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { ownerOf, type Run } from '../runs/run.ts'

/** What came of a wish. `unknown` stands where whoever carried it out never said. */
export type Outcome =
  | { state: 'denied' | 'expired' | 'unknown' }
  | { state: 'done'; result: Record<string, unknown> }
  | { state: 'failed'; message: string }

/** A wish that somebody has to decide on. */
interface Pending {
  id: string
  outcome: Promise<Outcome>
}

/** What runs wish to have done to hosts. Nothing is done here: whoever takes a wish carries it out in their own name. */
export interface Wishes {
  make(run: Run, wish: ControlWish): Pending
  /** Hands a wish over, once; throws `gone` when it is settled, taken, too old or somebody else's. */
  take(id: string, identity: Identity): ControlWish
  /** Tells what came of a wish; a wish that nobody took can only be denied. */
  settle(id: string, identity: Identity, outcome: Outcome): void
}

interface Kept {
  owner: string
  wish: ControlWish
  isTaken: boolean
  /** When nothing more is waited for, and what it counts as then. */
  wait(forMs: number, otherwise: Outcome): void
  settle(outcome: Outcome): void
}

/** Times of wishes; tests shorten them. */
export const wishLimits = {
  /** How long a wish may be decided on. */
  openMs: 5 * 60_000,
  /** How long whoever took it may take to carry it out: longer than a statement may run. */
  takenMs: 120_000,
} as const

export const openWishes = (limits: { readonly [N in keyof typeof wishLimits]: number } = wishLimits): Wishes => {
  const kept = new Map<string, Kept>()
  let made = 0

  const find = (id: string, identity: Identity): Kept => {
    const found = kept.get(id)
    if (found && found.owner === ownerOf(identity)) return found
    throw gone('nothing waits for this decision any more')
  }

  return {
    make(run, wish) {
      made = (made % mostNumber) + 1
      const id = `${run.id}.${made}`
      // A signal that is aborted already never says so again.
      if (run.signal.aborted) return { id, outcome: Promise.resolve({ state: 'expired' }) }
      const { promise, resolve } = Promise.withResolvers<Outcome>()
      const settle = (outcome: Outcome): void => {
        clearTimeout(timer)
        run.signal.removeEventListener('abort', leave)
        kept.delete(id)
        resolve(outcome)
      }
      const leave = () => settle({ state: 'expired' })
      let timer = setTimeout(leave, limits.openMs)
      const wait = (forMs: number, otherwise: Outcome): void => {
        clearTimeout(timer)
        timer = setTimeout(() => settle(otherwise), forMs)
      }
      run.signal.addEventListener('abort', leave, { once: true })
      kept.set(id, { owner: run.owner, wish, isTaken: false, wait, settle })
      return { id, outcome: promise }
    },
    take(id, identity) {
      const found = find(id, identity)
      if (found.isTaken) throw gone('somebody has decided on this already')
      found.isTaken = true
      found.wait(limits.takenMs, { state: 'unknown' })
      return found.wish
    },
    settle(id, identity, outcome) {
      const found = find(id, identity)
      if (found.isTaken === (outcome.state === 'denied')) throw gone('somebody has decided on this already')
      found.settle(outcome)
    },
  }
}

const mostNumber = 9_999

const gone = (sentence: string): ServiceError => new ServiceError('gone', sentence)

export const takeApproval =
  ({ wishes }: { wishes: Wishes }): Handlers<typeof agent>['takeApproval'] =>
  async ({ approvalId }, { identity }) =>
    wishes.take(approvalId, identity)

export const settleApproval =
  ({ wishes }: { wishes: Wishes }): Handlers<typeof agent>['settleApproval'] =>
  async ({ approvalId, outcome }, { identity }) => {
    wishes.settle(approvalId, identity, outcome)
    return {}
  }
