import type { Handle } from '@sveltejs/kit/hooks'

/**
 * Runs when the start page is built, never afterwards. Browsers ask for modules as urgently as for what a first paint waits for;
 * the start page needs none to be seen, so they come after it.
 */
export const handle: Handle = ({ event, resolve }) =>
  resolve(event, {
    transformPageChunk: ({ html }) => html.replaceAll('rel="modulepreload"', 'rel="modulepreload" fetchpriority="low"'),
  })
