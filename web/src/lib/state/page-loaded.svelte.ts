import { useIsFetching } from '@tanstack/svelte-query'

/** A page counts as loaded after this long without requests, and at the latest after `latestMs`, as some pages poll continuously. */
const quietMs = 2_000
const latestMs = 20_000

/** Delays secondary requests until the page has loaded and its tab is visible. */
export const createPageLoaded = (): { readonly isDue: boolean } => {
  const fetching = useIsFetching()
  let isDue = $state(false)
  const makeDue = (): void => {
    if (document.visibilityState === 'visible') isDue = true
    else document.addEventListener('visibilitychange', makeDue, { once: true })
  }
  $effect(() => {
    const timer = setTimeout(makeDue, latestMs)
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
