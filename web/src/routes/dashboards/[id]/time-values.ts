import type { TimeRange } from '#lib/state/range.ts'
import { view } from '#lib/state/view.svelte.ts'
import { toTimeValues } from './variables.ts'

/** Returns the values of `{from}`, `{to}` and `{interval}`. A relative range ends now, by the clock of the host. */
export const readTimeValues = (range: TimeRange) => toTimeValues(range, view.hostTime(Date.now()))
