import type { ReadableParameters } from './range.ts'

/** How often a page asks again, in seconds; 0 is only when told to. */
export const refreshChoices: readonly { seconds: number; text: string; label: string }[] = [
  { seconds: 0, text: 'off', label: 'Off' },
  { seconds: 15, text: '15s', label: 'Every 15 seconds' },
  { seconds: 30, text: '30s', label: 'Every 30 seconds' },
  { seconds: 60, text: '1m', label: 'Every minute' },
  { seconds: 120, text: '2m', label: 'Every 2 minutes' },
  { seconds: 300, text: '5m', label: 'Every 5 minutes' },
]

export const defaultRefreshSeconds = 60

/** Reads `refresh=30s`; anything else is the default. */
export const readRefresh = (parameters: ReadableParameters): number =>
  refreshChoices.find((choice) => choice.text === parameters.get('refresh'))?.seconds ?? defaultRefreshSeconds

/** The text of the `refresh` parameter; null, which removes it, for the default. */
export const writeRefresh = (seconds: number): string | null =>
  seconds === defaultRefreshSeconds
    ? null
    : (refreshChoices.find((choice) => choice.seconds === seconds)?.text ?? null)
