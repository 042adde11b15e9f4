import { useIsFetching } from '@tanstack/svelte-query'

/** A page counts as loaded after `quietMs` without requests; after `maxWaitMs` in any case, because some pages poll. */
const quietMs = 2_000
const maxWaitMs = 20_000

/** Returns state that becomes true once the page has loaded and its tab is visible. Secondary requests wait for it. */
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
