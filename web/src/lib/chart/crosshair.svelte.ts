import { createContext } from 'svelte'

/** The instant that all charts of a page highlight, and the chart that set it. */
export interface Crosshair {
  timeMs: number | null
  owner: string | null
}

export const [getCrosshair, setCrosshair] = createContext<Crosshair>()

/** Creates the crosshair of a page; charts get it from the context. */
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
