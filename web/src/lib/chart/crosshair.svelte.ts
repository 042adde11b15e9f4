import { createContext } from 'svelte'

/** The instant that all charts of a page point at, and the chart over which the pointer or the keyboard chose it. */
export interface Crosshair {
  timeMs: number | null
  owner: string | null
}

export const [getCrosshair, setCrosshair] = createContext<Crosshair>()

/** One for a page; charts reach it through the context. */
export const createCrosshair = (): Crosshair => {
  let timeMs = $state<number | null>(null)
  let owner = $state<string | null>(null)
  return {
    get timeMs() {
      return timeMs
    },
    set timeMs(next) {
      timeMs = next
    },
    get owner() {
      return owner
    },
    set owner(next) {
      owner = next
    },
  }
}
