import { useIsFetching } from '@tanstack/svelte-query'

/** A page counts as loaded after `quietMs` without requests, or after `maxWaitMs`, as some pages poll continuously. */
const quietMs = 2_000
const maxWaitMs = 20_000

/** Delays secondary requests until the page has loaded and its tab is visible. */
export const createPageLoadGate = (): { readonly isDue: boolean } => {
  const fetching = useIsFetching()
  let isDue = $state(false)
  const makeDue = (): void => {
    if (document.visibilityState === 'visible') isDue = true
    else document.addEventListener('visibilitychange', makeDue, { once: true })
  }
  $effect(() => {
    const timer = setTimeout(makeDue, maxWaitMs)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', makeDue)
    }
  })
  $effect(() => {
    if (fetching.current > 0) return
    const timer = setTimeout(makeDue, quietMs)
    return () => clearTimeout(timer)
  })
  return {
    get isDue() {
      return isDue
    },
  }
}
