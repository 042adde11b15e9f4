import { acquireRenewedLease, type RenewedLease } from '#shared/store/renewed-lease.ts'
import type { Store } from '#shared/store/store.ts'

/** The lease that allows one dispatcher at a time to sweep and tick. */
export type SweepLease = RenewedLease

/** Acquires the lease and renews it until disposed; undefined while another process holds it. */
export const acquireSweepLease = (store: Store, stop: AbortSignal): Promise<SweepLease | undefined> =>
  acquireRenewedLease(store, 'alerts:sweep', stop)
