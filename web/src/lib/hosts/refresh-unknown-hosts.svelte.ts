import { useQueryClient } from '@tanstack/svelte-query'
import { configQuery } from '#lib/api/queries.ts'

const refreshMs = 1_000

/** Reads the hosts every second while the status of one is unknown, which takes a few seconds after a change. */
export const refreshUnknownHosts = (isUnknown: () => boolean): void => {
  const client = useQueryClient()
  const refresh = () => void client.invalidateQueries({ queryKey: configQuery().queryKey })
  const isWaiting = $derived(isUnknown())
  $effect(() => {
    if (!isWaiting) return
    refresh()
    const timer = setInterval(refresh, refreshMs)
    return () => clearInterval(timer)
  })
}
