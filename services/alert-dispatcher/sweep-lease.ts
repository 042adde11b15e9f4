import { ServiceError } from '#proto/errors.ts'
import type { Fence, Store } from '#shared/store/store.ts'

const leaseName = 'alerts:sweep'
const leaseMs = 15_000
const renewEveryMs = 5_000

/** The right to sweep and to tick, of one dispatcher at a time. */
export interface Turn extends AsyncDisposable {
  /** Guards every write: those of a holder that hung and was replaced are refused. */
  readonly fence: Fence
  /** Aborts when the turn is lost, or `stop` is. */
  readonly signal: AbortSignal
}

/** Takes the turn and holds on to it until it is disposed; undefined while another has it. */
export const takeTurn = async (store: Store, stop: AbortSignal): Promise<Turn | undefined> => {
  const lease = await store.lease(leaseName, leaseMs)
  if (!lease) return undefined
  const lost = new AbortController()
  const lose = () => lost.abort(new ServiceError('unavailable', 'another dispatcher has taken over'))
  const timer = setInterval(() => {
    lease.renew(leaseMs).then((isHeld) => isHeld || lose(), lose)
  }, renewEveryMs)
  timer.unref()
  return {
    fence: lease.fence,
    signal: AbortSignal.any([lost.signal, stop]),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await lease[Symbol.asyncDispose]()
    },
  }
}
