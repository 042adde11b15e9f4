import { view } from '#lib/state/view.svelte.ts'

/** Opens a connection stored in this browser. Reloads the page, as cached data belongs to hosts with the same ids. */
export const openBrowserConnection = (id: string): void =>
  location.assign(view.link('/overview', { host: '0', connection: id }))
