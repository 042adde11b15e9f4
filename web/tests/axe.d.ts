import type axe from 'axe-core'

declare global {
  interface Window {
    /** The axe library, which accessibility tests inject into the page. */
    axe: typeof axe
  }
}
