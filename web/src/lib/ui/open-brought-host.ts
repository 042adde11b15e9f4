import { view } from '#lib/state/view.svelte.ts'

/**
 * Shows a host that only this browser knows. The page is loaded anew: what was answered before is about hosts of the installation
 * with the same numbers.
 */
export const openBroughtHost = (id: string): void =>
  location.assign(view.link('/overview', { host: '0', connection: id }))
