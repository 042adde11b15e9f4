import type axe from 'axe-core'

declare global {
  interface Window {
    /** Set by the accessibility tests. */
    axe: typeof axe
  }
}
