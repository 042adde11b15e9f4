import type { RecordedChange } from '#lib/api/changes.ts'

const maxCauses = 3
/** Alerts and the workload are rather effects than causes. */
const effects = new Set<string>(['alert', 'workload'])

/** Returns the changes to show before an alert, newest first. The alert itself is none. */
export const selectCauses = (changes: readonly RecordedChange[], episode: string): RecordedChange[] => {
  const others = changes.filter(({ href }) => href !== `/incidents/${encodeURIComponent(episode)}`)
  const isEffect = ({ kind }: RecordedChange): boolean => effects.has(kind)
  return [...others.filter((change) => !isEffect(change)), ...others.filter(isEffect)].slice(0, maxCauses)
}
