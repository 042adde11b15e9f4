import { useIsFetching } from '@tanstack/svelte-query'

/** The page stands when nothing was asked for so long, and at the latest after this time: some pages ask all the time. */
const quietMs = 2_000
const latestMs = 20_000

/** What is not what a page is for is asked once the page stands, and never in a tab that nobody sees. */
export const createAfterPage = (): { readonly isDue: boolean } => {
  const fetching = useIsFetching()
  let isDue = $state(false)
  const ask = (): void => {
    if (document.visibilityState === 'visible') isDue = true
    else document.addEventListener('visibilitychange', ask, { once: true })
  }
  $effect(() => {
    const timer = setTimeout(ask, latestMs)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', ask)
    }
  })
  $effect(() => {
    if (fetching.current > 0) return
    const timer = setTimeout(ask, quietMs)
    return () => clearTimeout(timer)
  })
  return {
    get isDue() {
      return isDue
    },
  }
}
