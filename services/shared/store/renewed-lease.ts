import { ServiceError } from '#proto/errors.ts'
import type { Fence, Store } from './store.ts'

const leaseTtlMs = 15_000
const renewIntervalMs = 5_000

/** A lease that is renewed until it is disposed, and that is free soon after its process was killed. */
export interface RenewedLease extends AsyncDisposable {
  /** Guards writes, so that a holder that hung and was replaced cannot write. */
  readonly fence: Fence
  /** Aborts when the lease is lost or when `stop` aborts. */
  readonly signal: AbortSignal
}

/** Acquires the named lease and renews it until disposed; undefined while another process holds it. */
export const acquireRenewedLease = async (
  store: Pick<Store, 'lease'>,
  name: string,
  stop: AbortSignal,
): Promise<RenewedLease | undefined> => {
  const lease = await store.lease(name, leaseTtlMs)
  if (!lease) return undefined
  const lost = new AbortController()
  const lose = () => lost.abort(new ServiceError('unavailable', `lease "${name}" lost: another process took it over`))
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
