import { ServiceError } from '#proto/errors.ts'
import type { Fence, Store } from '#shared/store/store.ts'

const leaseName = 'alerts:sweep'
const leaseTtlMs = 15_000
const renewIntervalMs = 5_000

/** The lease that allows one dispatcher at a time to sweep and tick. */
export interface SweepLease extends AsyncDisposable {
  /** Guards every write, so that a holder that hung and was replaced cannot write. */
  readonly fence: Fence
  /** Aborts when the lease is lost or when `stop` aborts. */
  readonly signal: AbortSignal
}

/** Acquires the lease and renews it until disposed; undefined while another process holds it. */
export const acquireSweepLease = async (store: Store, stop: AbortSignal): Promise<SweepLease | undefined> => {
  const lease = await store.lease(leaseName, leaseTtlMs)
  if (!lease) return undefined
  const lost = new AbortController()
  const lose = () => lost.abort(new ServiceError('unavailable', 'sweep lease lost: another dispatcher took it over'))
  const timer = setInterval(() => {
    lease.renew(leaseTtlMs).then((isHeld) => isHeld || lose(), lose)
  }, renewIntervalMs)
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
