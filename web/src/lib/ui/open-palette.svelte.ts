import { dialogs } from '#lib/state/dialogs.svelte.ts'
import { captureTyping, type TypedText } from './capture-typing.ts'

const nothing: TypedText = { text: '', isSubmitted: false }
let typed = $state.raw(nothing)
let stop: (() => TypedText) | null = null

/** Opens the command palette. While its code is loading, captures what the user types. */
export const openPalette = (): void => {
  if (dialogs.shown === 'palette') return
  dialogs.show('palette')
  typed = nothing
  stop?.()
  stop = captureTyping({
    withEnter: true,
    onchange: (next) => (typed = next),
    oncancel: () => dialogs.close('palette'),
  })
}

/** What was typed since the palette was opened. */
export const getTypedBefore = (): TypedText => typed

/** Ends the capture and returns what was typed, for the field of the palette. */
export const takeTypedBefore = (): TypedText => {
  const before = stop?.() ?? nothing
  stop = null
  typed = nothing
  return before
}
