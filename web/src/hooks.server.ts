import type { Handle } from '@sveltejs/kit/hooks'

/**
 * Lowers the fetch priority of preloaded modules in the start page. Otherwise browsers load them with the same priority
 * as resources of the first paint. Runs only during the build.
 */
export const handle: Handle = ({ event, resolve }) =>
  resolve(event, {
    transformPageChunk: ({ html }) => html.replaceAll('rel="modulepreload"', 'rel="modulepreload" fetchpriority="low"'),
  })
