import type { ReadableParameters } from './range.ts'

/** Refresh intervals in seconds; 0 disables automatic refresh. */
export const refreshChoices: readonly { seconds: number; text: string; label: string }[] = [
  { seconds: 0, text: 'off', label: 'Off' },
  { seconds: 15, text: '15s', label: '15 s' },
  { seconds: 30, text: '30s', label: '30 s' },
  { seconds: 60, text: '1m', label: '1 min' },
  { seconds: 120, text: '2m', label: '2 min' },
  { seconds: 300, text: '5m', label: '5 min' },
]

export const defaultRefreshSeconds = 60

/** Parses `refresh=30s`; returns the default for anything else. */
export const readRefresh = (parameters: ReadableParameters): number =>
  refreshChoices.find((choice) => choice.text === parameters.get('refresh'))?.seconds ?? defaultRefreshSeconds

/** Returns the `refresh` parameter. For the default, returns null, which removes the parameter from the URL. */
export const writeRefresh = (seconds: number): string | null =>
  seconds === defaultRefreshSeconds ? null : (refreshChoices.find((choice) => choice.seconds === seconds)?.text ?? null)
