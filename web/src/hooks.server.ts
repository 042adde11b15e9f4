import type { Handle } from '@sveltejs/kit/hooks'

/**
 * Runs only when the start page is built. Browsers give preloaded modules the same priority as resources of the first paint,
 * which the start page does not need.
 */
export const handle: Handle = ({ event, resolve }) =>
  resolve(event, {
    transformPageChunk: ({ html }) => html.replaceAll('rel="modulepreload"', 'rel="modulepreload" fetchpriority="low"'),
  })
