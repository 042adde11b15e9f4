import type { ReadableParameters } from './range.ts'

/** How often a page asks again, in seconds; 0 is only when told to. */
export const refreshChoices: readonly { seconds: number; text: string; label: string }[] = [
  { seconds: 0, text: 'off', label: 'Off' },
  { seconds: 15, text: '15s', label: '15 s' },
  { seconds: 30, text: '30s', label: '30 s' },
  { seconds: 60, text: '1m', label: '1 min' },
  { seconds: 120, text: '2m', label: '2 min' },
  { seconds: 300, text: '5m', label: '5 min' },
]

export const defaultRefreshSeconds = 60

/** Reads `refresh=30s`; anything else is the default. */
export const readRefresh = (parameters: ReadableParameters): number =>
  refreshChoices.find((choice) => choice.text === parameters.get('refresh'))?.seconds ?? defaultRefreshSeconds

/** The text of the `refresh` parameter; null, which removes it, for the default. */
export const writeRefresh = (seconds: number): string | null =>
  seconds === defaultRefreshSeconds ? null : (refreshChoices.find((choice) => choice.seconds === seconds)?.text ?? null)
