import type axe from 'axe-core'

declare global {
  interface Window {
    /** Put there by the accessibility tests. */
    axe: typeof axe
  }
}
